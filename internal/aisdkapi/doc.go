// Package aisdkapi is the transport for front ends made with the AI SDK: a chat of useChat is a space of
// Shoal, and the message of the assistant is what agents write there in answer.
//
//	api := aisdkapi.New(chatapi.Options{Hub: h, Auth: a})
//	mux.Handle(aisdkapi.Path, g.Wrap(api.Handler())) // g is a guard.Guard with TextPath: aisdkapi.Path
//
// It serves, below /ai-sdk/SESSION/SPACE:
//
//	POST                  says something, and streams what follows
//	GET …/CHAT/stream     streams the answer in progress from its beginning; 204 without one
//	POST …/CHAT/stop      cancels it
//	GET                   the newest messages, as the client stores them
//
// What a client sends has these effects:
//
//	messages of the user after the     are posted as one message, once for their ids and content, or
//	last one of the assistant          answer the open question of an agent
//	outputs and approvals in the last  answer the caller's pending actions
//	message of the assistant
//	tools, system                      belong to the runs that the message starts
//
// Then it shows what the runs write into the space, as parts of one message of the assistant:
//
//	text, reasoning, file, data        text, reasoning, file and data-NAME
//	a display tool                     tool-NAME, with its input while it is written, executed by the server
//	a client tool, a question          tool-NAME without output, which the client has to provide
//	a permission                       an approval request, whose id is that of the pending action
//	part.reset, part.removed           reset-step, and again what is left
//	end of the runs                    finish, abort if all were canceled, or error if one has failed
//
// Guarantees:
//   - A key acts as its entity: it sees and may do the same as in the REST API. The history that
//     the client sends is not trusted; it only says which parts the client has.
//   - Parts carry in providerMetadata.shoal where they come from. With it a stream continues a message
//     without a part that the client has.
//   - A client that disconnects cancels the runs that it has started and that are running, because that is
//     what a stop button does; unless its request says resume. Then only …/stop cancels.
//   - Every stream is one that the official client accepts: what is opened is closed, and nothing is about
//     a call that the client does not know.
//   - Errors before the stream begins are sentences, because the client shows their body to its user.
//   - Input without effect is reported by a transient part data-ignored with what and why, and runs that
//     wait for somebody else by one data-waiting.
//
// The package requires a guard.Guard around its handler, which reads the bodies.
package aisdkapi
