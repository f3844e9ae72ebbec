// Package httpapi serves the REST API of Shoal and its streams of server-sent events. It decodes a
// request, calls the hub, and encodes the result. Every rule of the conversation is in the hub.
//
//	api := httpapi.New(httpapi.Options{Hub: h, Auth: a, Version: "1.0.0"})
//	server := &http.Server{Handler: g.Wrap(api.Handler())} // g is a guard.Guard
//
// A request passes these steps: the guard admits it; its path selects a [Route]; its key, in a
// header or in the cookie of a browser, proves a principal; the body is decoded into one of the
// types of the OpenAPI document; the hub executes the call; the response is written in one
// Write. Every route is a row of one table, from which the mux, the document, the reference page
// and the matrix test are made.
//
// Guarantees:
//   - Every failure is a problem document (RFC 9457) with a documented code. A JSON body of the
//     wrong shape is answered with 422 and a list of every wrong place. Internal errors are
//     logged once with the id of the request; clients do not see them.
//   - A wait counts as delivered only when its response was written and flushed on a connection
//     that was still open. A blocked wait holds one goroutine and no part of its body; with
//     [Options.Pool], a long one is detached from its HTTP handler.
//   - An idle stream holds one goroutine and no buffer. A reader that accepts no data for
//     [Options.WriteTimeout] is disconnected and does not slow down others. The key is checked again at every
//     heartbeat.
//   - Handlers start no goroutine, except for detached waits, which belong to the pool. They
//     end when their request ends or when the hub stops.
//   - An upload is read only after its sender is authenticated. Files are served such that a
//     browser executes nothing in them, renderers such that a browser executes them without an
//     origin.
//
// The handler must be wrapped by a guard.Guard with [bodies.Types] and [bodies.UploadLimit]: the package
// takes bodies from it, read and scanned completely, except for uploads.
package httpapi

//go:generate go test -count=1 -run ^TestOpenAPIDocumentIsFresh$ . -update
