// Package openaiapi is the transport for programs that speak OpenAI's API: a model is an agent of
// Shoal, and a chat completion or a response is what it writes in answer to a message in a space.
//
//	api := openaiapi.New(chatapi.Options{Hub: h, Auth: a})
//	mux.Handle(openaiapi.Path, g.Wrap(api.Handler())) // g is a guard.Guard with OpenAIPath: openaiapi.Path
//
// It serves GET models, GET models/{model}, POST chat/completions and POST responses, the last two with and
// without stream. A [turn] is what they have in common: the client says something, and a [projection] finds out
// what the agent then writes, in one of two forms. A chat completion has these effects:
//
//	what follows the last assistant   is posted into the space and mentions the agent, or
//	message                           answers the agent's open question
//	tool messages                     answer the calls of the client's tools
//	system and developer messages     are context of the runs that the message starts
//	tools                             may be called by these runs
//
// Then it shows what the agent writes into the space:
//
//	text parts            content, parts separated by an empty line
//	reasoning             reasoning_content, where the space shows it
//	a client tool waits   tool_calls, whose ids are RUN/CALL
//	a question waits      content, with its options
//	another thing waits   reasoning_content names it, and the completion goes on afterwards
//	end of the runs       finish_reason stop, or an error when a run failed
//
// In a response, which says the same in items, each text is an item of its own, reasoning is an item reasoning,
// and a client tool that waits is an item function_call. Its id is that of the run, and its conversation is the
// space. GET responses/{id} shows the same of the run as it is stored, and POST responses/{id}/cancel cancels it.
//
// Guarantees:
//   - A key acts as its entity: it sees and may do the same as in the REST API. The space is that
//     of the header X-Shoal-Space, or the caller's own space with the agent, which is created.
//   - The history that the client sends is not trusted; the agent knows that of the space.
//   - A client that disconnects cancels the runs that its message has started and that are
//     running, as OpenAI's API does. Runs that wait for somebody go on waiting.
//   - Errors have the form of OpenAI's. After a message was posted they say that the official
//     clients should not repeat the request, which would post it again.
//   - Settings of the model, such as temperature, have no effect: they are the agent's own. What
//     would change the form of the answer (n, response_format, text.format, modalities) is refused.
//
// The package requires a guard.Guard around its handler, which reads the bodies.
package openaiapi
