// Package client talks to a Shoal server over its REST and server-sent event
// face. It speaks in the types of package shoal.
//
//	c, err := client.New(client.Options{URL: "http://127.0.0.1:7462", Key: key})
//	if err != nil {
//		return err
//	}
//	session := c.Session(shoal.DefaultSession)
//	message, err := session.Post(ctx, "shop", shoal.Draft{
//		Parts:    []shoal.Part{shoal.Text("Two laptops, please.")},
//		Mentions: []shoal.EntityID{"shop-agent"},
//	})
//	for event, err := range session.Follow(ctx, client.FollowOptions{Space: "shop"}) {
//		…
//	}
//
// Hosted agents are made with [Session.PutAgent], and act when somebody posts or
// with [Session.TriggerAgent]; [Session.Follow] shows what a run does, in a space
// or alone, and [Session.PendingActions] what it waits for.
//
// The package promises:
//   - A call that creates something carries an idempotency key, so it is
//     repeated when the connection breaks and still done once.
//   - Calls are repeated, at least five times and until [Options].Patience is over:
//     after a broken or silent connection and an answer 503 if doing them twice does
//     no harm, after an answer 429 always, each time later, and not before the
//     server's Retry-After. So they outlive a restart of the server.
//   - A refusal is a *shoal.Error whose kind is the contract's code. A server
//     that does not answer is one of kind [ErrUnreachable]. When the context
//     ends, the error wraps its cause.
//   - A wait and a follower that have reached the server once outlive its
//     restart; nothing is lost and nothing acknowledged unseen.
//   - Clients, sessions and their methods are safe for concurrent use, an
//     [Inbox] is not. No goroutine outlives the call that started it, but for
//     those that keep idle connections of the http.Client.
package client
