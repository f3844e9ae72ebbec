// Package webpush sends notifications to the push services of browsers: encrypted for the browser
// (RFC 8291 and 8188) and signed by the server (RFC 8292).
//
//	s, err := webpush.New(webpush.Options{Hub: h, Client: network.Client(), Contact: "https://chat.example"})
//	s.Start()
//	defer s.Stop()
//
// Guarantees:
//   - A push service sees the address of the server, the size of a notification, and when it was
//     sent, nothing of what it says.
//   - Of the servers on a database one sends; another one continues within a minute after its end.
//   - A subscription that its push service does not know any more is deleted. A notification that
//     the service does not accept otherwise is not sent again: the message is unread all the same.
//   - A service that is slow delays the notifications of one round, ten seconds at most for each of
//     eight at a time.
package webpush
