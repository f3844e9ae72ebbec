// Package hub is the conversation and every rule of it: who may see, say and
// change what, how a message reaches inboxes, how a wait is woken, how a
// follower stays complete. It is the only writer of the store.
//
//	h := hub.New(hub.Options{Store: store, Bus: localbus.New()})
//	if err := h.Start(ctx); err != nil { … }
//	defer h.Stop()
//	message, err := h.Messages.Post(ctx, who, "default", "shop", draft, "")
//	delivery, err := h.Inbox.Wait(ctx, who, &hub.WaitRequest{Session: "default", Kind: shoal.WaitMentions, Timeout: time.Minute})
//
// Guarantees:
//   - Every change is one transaction together with all that follows from it:
//     the message, its place in inboxes, the events. When a method returns nil,
//     that transaction is durable; when it returns an error of kind Internal or
//     Busy, the outcome is unknown, and the caller repeats the call with the
//     same idempotency key.
//   - seq of a space, places of an inbox and places of events are given inside
//     that transaction, so they have no gaps and are visible in their order.
//   - Notifications (hints, see [Note]) go out after the commit. They carry no
//     content; one for an inbox carries the position of its newest entry, so that a
//     reader that knows all entries up to there does not read again. A notified
//     reader takes the content from the store, and every reader subscribes before it
//     reads. A doubled notification changes nothing; a lost one delays its reader
//     until its next read, for a wait at the latest its time-out.
//   - Nothing is erased by reading. An inbox entry stays until it is
//     acknowledged, its reader leaves the space, or the reader is deleted.
//   - What passes by without being stored (deltas, reasoning, live states) may be
//     lost on its way to a follower; of a part that is stored, the follower makes it
//     good, and says each byte of it once.
//   - A part for one member is seen by that member, services and admins. Whatever
//     else is read shows others that it is there, and nothing of it.
//   - A right that is taken away ends at once what rests on it: the open waits
//     and followers of a revoked key, a deleted entity, a deleted session. What
//     another server takes away ends them within five seconds, and so does a store
//     that does not answer for as long.
//   - Which hosted agents act on a message is decided, and their runs are queued, in
//     the transaction that stores it. A run is executed under a lease, and every
//     write of it is refused once the lease is another's, or the run has ended. Each
//     time of a plan fires once, however many servers look.
//   - The hub knows no protocol, no SQL and no model, and calls nobody back.
//
// Every method takes the [shoal.Principal] that makes the call and checks its
// rights. A thing in another session, or in a space that the caller is not in,
// is NotFound, exactly as if it did not exist.
package hub
