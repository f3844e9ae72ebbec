// Package load puts load on a running server, like its callers do, and measures the duration
// of each operation.
//
//	w, err := load.NewWorld(ctx, admin, "bench", 64)
//	pairs := &load.REST{Wire: load.NewWire(url), World: w}
//	took, err := load.Post(ctx, pairs, 64, 3*time.Second, 0) // µs of each post
//
// `shoal bench` loads the caller's server; the command in bench/ loads servers that it starts
// itself, Shoal and others.
//
// Guarantees:
//   - The measured time is the caller's: from before the call to after the response. Nothing is
//     left out: an unsuccessful response ends the round with its error.
//   - Requests are written and responses are searched by hand, without decoding, because the
//     driver usually shares the machine with the server.
//   - Everything that a function starts has ended when it returns, except [Readers], which end
//     with Close.
package load
