// Package client is a Go client for a Shoal server. It uses the server's REST API and
// event streams, and the types of package shoal.
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
// [Session.PutAgent] creates hosted agents. A post or [Session.TriggerAgent] starts a
// run; [Session.Follow] yields the events of a space or of a single run, and
// [Session.PendingActions] the actions that runs wait for.
//
// Guarantees:
//   - Calls that create something carry an idempotency key. They are repeated when
//     the connection breaks, and take effect once.
//   - Calls are repeated at least five times and until [Options].RetryFor has
//     passed, with increasing delays and not before the server's Retry-After. After
//     a broken or silent connection or a 503, only calls that are safe to repeat
//     are repeated; after a 429, all calls. So calls survive a restart of the server.
//   - A refusal is a *shoal.Error whose kind is the error code of the API. For an
//     unreachable server the kind is [ErrUnreachable]. When the context ends, the
//     error wraps its cause.
//   - Waits and followers that have reached the server once survive its restart.
//     They lose no message and acknowledge none that was not returned.
//   - Clients, sessions and their methods are safe for concurrent use; an [Inbox] is
//     not. No goroutine outlives the call that started it, except those that serve
//     idle connections of the http.Client.
package client
