// Package httpapi is the REST and SSE face of Shoal: it decodes a request,
// calls the hub, and encodes what the hub answers. It holds no rule of the
// conversation.
//
//	api := httpapi.New(httpapi.Options{Hub: h, Auth: a, Version: "1.0.0"})
//	server := &http.Server{Handler: g.Wrap(api.Handler())} // g is a guard.Guard
//
// How a request goes: the guard lets it pass → its path chooses a [Route], its
// key, in a header or the cookie of a browser, a principal → the body becomes one of the types that the OpenAPI document
// shows → the hub does it → the answer is written whole, in one Write. Every
// route is a row of a table that the mux, the document, the reference page and
// the matrix test are made from.
//
// Guarantees:
//   - Every failure is a problem document (RFC 9457) with the contract's code. A
//     body that is JSON of a wrong shape is 422 and names every place where it is
//     wrong. Nothing internal is told; it is logged once, with the request's id.
//   - A wait counts as answered only when its answer was written and flushed on a
//     connection that still stood. Until it is answered it holds one goroutine,
//     and nothing of its body.
//   - A stream has one goroutine and no buffer while it is idle. A reader that
//     takes nothing for a while is cut off and harms nobody. At every heartbeat
//     the key is looked at again.
//   - Handlers start no goroutine. They end when their request does, or when the
//     hub stops.
//   - A file is read only once its sender is known. It is served so that a browser
//     runs nothing of it; a renderer so that a browser runs it without an origin.
//
// The package needs a guard.Guard in front, with [BodyTypes] and [UploadLimit]:
// bodies are taken from it, read whole and scanned, but for uploads.
package httpapi

//go:generate go test -count=1 -run ^TestOpenAPIDocumentIsFresh$ . -update
