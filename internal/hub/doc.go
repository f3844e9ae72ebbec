// Package hub implements the conversation and all of its rules: which callers may read,
// post and change what, how a message reaches inboxes, how a wait wakes, and how a
// follower receives every event. It is the only writer of the store.
//
// The parts are packages of their own, each of which imports only those before it:
// storage (what a database has to do), core (transactions, rights, events), pending, notices, runs,
// agents, inbox, spaces, access, feed and archive. This package assembles them. Its tests
// are those of the whole.
//
//	h := hub.New(hub.Options{Store: store, Bus: localbus.New()})
//	if err := h.Start(ctx); err != nil { … }
//	defer h.Stop()
//	message, err := h.Messages.Post(ctx, who, "default", "shop", draft, "")
//	delivery, err := h.Inbox.Wait(ctx, who, &inbox.WaitRequest{Session: "default", Kind: shoal.WaitMentions, Timeout: time.Minute})
//
// Guarantees:
//   - Every change is one transaction together with everything that follows from it:
//     the message, its inbox entries, the events. When a method returns nil, that
//     transaction is durable. When it returns an error of kind Internal or Busy, the
//     outcome is unknown, and the caller repeats the call with the same idempotency
//     key.
//   - The seq of a message, its place in the inboxes of its session and the position of
//     an event are assigned inside that transaction. They have no gaps and become visible
//     in order.
//   - Notifications (see [core.Notification]) are sent after the commit. They carry no content; a
//     notification about an inbox carries the place of its newest message, so that a
//     reader that already knows all messages up to there does not read again. A notified
//     reader reads the content from the store, and every reader subscribes before it
//     reads. A duplicate notification changes nothing. A lost one delays its reader
//     until its next read; a wait reads at its time-out at the latest.
//   - Reading removes nothing. An inbox entry stays until it is acknowledged, its
//     reader leaves the space, or the reader is deleted.
//   - Ephemeral events (deltas, reasoning, live states) may be lost on their way to a
//     follower. For a part that is stored, the follower recovers what was lost and
//     returns each byte once.
//   - A part for one member is visible to that member, services and admins. Other
//     readers see that the part exists, but none of its content.
//   - When a right is withdrawn, everything that depends on it ends: the open waits
//     and followers of a revoked key, a deleted entity or a deleted session. This
//     happens at once on the server that withdraws the right, and within five seconds
//     on other servers. They also end when the store has not answered for five seconds.
//   - The transaction that stores a message decides which hosted agents act on it and
//     queues their runs. A run is executed under a lease; its writes are rejected once
//     another server holds the lease or the run has ended. Each time of a schedule
//     fires once, however many servers check it.
//   - The hub knows no protocol, no SQL and no model, and calls none of its callers.
//
// Every method takes the [shoal.Principal] that makes the call and checks its rights.
// For an object in another session, or in a space that the caller is not in, the error
// is NotFound, exactly as if the object did not exist.
package hub
