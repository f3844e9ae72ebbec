// Package mcpapi is the MCP transport of Shoal: it offers the conversation to agents
// as tools and resources, over streamable HTTP in both eras of the protocol and
// over the older HTTP+SSE transport. It contains no rules of the conversation.
//
//	api := mcpapi.New(mcpapi.Options{Hub: h, Auth: a, Version: "1.0.0"})
//	server := &http.Server{Handler: g.Wrap(api.Handler())} // g is a guard.Guard
//	defer api.Stop()
//
// How a request goes: the guard lets it pass → its key proves a principal → a
// well-formed tools/call is answered here, from the table of tools; everything
// else is answered by the MCP SDK, where the same table is registered. The SDK
// also answers what is not well-formed, so its errors are the only ones; those
// that it writes in plain text become JSON-RPC errors on their way out.
//
// Guarantees:
//   - The key of each request identifies the caller; an MCP session proves
//     nothing. A session belongs to the principal that opened it and does not
//     exist for anybody else.
//   - No call depends on a session: a POST whose session this process does not
//     know, such as one from before a restart or of another server, is served as
//     usual. Only a session that its client has ended is rejected.
//   - A wait ends with the HTTP request or stream that would carry its answer,
//     in every era, and counts as delivered only when that answer was written
//     and flushed on a connection that was still open. A long wait leaves its
//     handler and holds a small goroutine and its connection (see internal/detach).
//   - A caller whose key has become invalid receives nothing more: the hub ends
//     its waits, followers and streams, those of other servers within five seconds.
//   - Sessions, streams and subscriptions are bounded, for each principal and in
//     total. A reader that stops reading is disconnected and does not delay others.
//   - Every text of a participant is escaped in results.
//
// The package requires a guard.Guard around its handler: the guard reads each body whole
// and validates it.
package mcpapi
