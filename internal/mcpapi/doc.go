// Package mcpapi is the MCP face of Shoal: it offers the conversation to agents
// as tools and resources, over streamable HTTP in both eras of the protocol and
// over the older HTTP+SSE transport. It holds no rule of the conversation.
//
//	api := mcpapi.New(mcpapi.Options{Hub: h, Auth: a, Version: "1.0.0"})
//	server := &http.Server{Handler: g.Wrap(api.Handler())} // g is a guard.Guard
//	defer api.Stop()
//
// How a request goes: the guard lets it pass → its key proves a principal → a
// well-formed tools/call is answered here, from the table of tools; everything
// else is answered by the MCP SDK, where the same table is registered. The SDK
// also answers what is not well-formed, so its errors are the only ones; those
// that it tells in plain text become JSON-RPC errors on their way out.
//
// Guarantees:
//   - The key of each single request decides who calls; an MCP session proves
//     nothing. A session belongs to the principal that opened it and does not
//     exist for anybody else.
//   - No call depends on a session: a POST whose session this process does not
//     know, of before a restart or of another node, is served as if it stood. Only
//     one that its client has ended is refused.
//   - A wait ends with the HTTP request or stream that would carry its answer,
//     in every era, and counts as delivered only when that answer was written
//     and flushed on a connection that still stood. Until it is answered it
//     holds one goroutine, that of its request.
//   - A caller that is not recognised any more receives nothing more: the hub ends
//     its waits, followers and streams, those of other servers within five seconds.
//   - Sessions, streams and subscriptions are bounded, for each principal and in
//     total. A reader that takes nothing for a while is cut off and harms nobody.
//   - Every text that others wrote is escaped where it stands in a result.
//
// The package needs a guard.Guard in front: bodies are taken from it, read whole
// and scanned.
package mcpapi
