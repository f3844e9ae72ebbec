// Package push notifies people of what needs them while they have no page open: it knows in which
// browsers, and of what.
//
//	page, err := h.Push.Subscribe(ctx, caller, "default", push.NewSubscription{Endpoint: …, P256dh: …, Auth: …})
//	notices, err := h.Push.Claim(ctx, node) // by one server at a time, which sends them
//
// Guarantees:
//   - A person is notified of a message that mentions them, and of a pending action that they may
//     answer, once in each browser, and [Grace] after it at the earliest: not if they have read the
//     message or somebody has answered by then, and not from a space that they have muted.
//   - What was claimed is not claimed again, by any server. A server that ends before it has sent a
//     notice has lost it; the message is in the inbox all the same.
//   - A notice has names and positions, never the text of a message.
//   - A subscription ends with the sign-in that made it, with its key, with the person, and 30 days
//     after the console was opened in the browser last.
package push
