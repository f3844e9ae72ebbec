// Package load puts load on a running server, the way its callers do, and tells what
// each operation took.
//
//	w, err := load.NewWorld(ctx, admin, "bench", 64)
//	pairs := &load.REST{Wire: load.NewWire(url), World: w}
//	took, err := load.Post(ctx, pairs, 64, 3*time.Second, 0) // µs of each post
//
// `shoal bench` loads the server of whoever calls it, the command in bench/ loads
// servers of its own, Shoal's and others.
//
// Guarantees:
//   - What is measured is what a caller sees, from before its call to behind the
//     answer. Nothing is left out: an answer that is no success ends the round with
//     its error.
//   - Requests are written and answers searched by hand, without decoding, as the
//     driver mostly shares the machine with the server.
//   - Everything a function starts has ended when it returns, [Readers] excepted,
//     which end with Close.
package load
