// Package aguiapi is the AG-UI transport of Shoal: a front end that speaks AG-UI (such
// as one of CopilotKit) talks to the hosted agent of a space.
//
//	api := aguiapi.New(chatapi.Options{Hub: h, Auth: a})
//	mux.Handle("/agui/", g.Wrap(api.Handler())) // g is a guard.Guard
//
// POST /agui/SESSION/SPACE takes a RunAgentInput and returns a stream of AG-UI events. A
// run of the protocol has these effects:
//
//	the newest message of the user    is posted into the space, once for its id
//	tool messages, resume entries     answer the caller's pending actions in the space
//	a run without any message         gets the space's newest messages
//
// POST /agui/SESSION/SPACE/connect takes the same and has no effect: it shows what goes on in
// the space for the caller, from where the messages of the client end.
//
// Then it shows the output of the agent runs that result from this:
//
//	text part             TEXT_MESSAGE_START/CONTENT/END, a message of its own
//	tool part             TOOL_CALL_START/ARGS/END with the text part before it as
//	                      parent, TOOL_CALL_RESULT; its id is RUN/CALL
//	reasoning             REASONING_*, where the space shows it
//	part.reset, .removed  MESSAGES_SNAPSHOT with what is left
//	end of the runs       RUN_FINISHED, or RUN_ERROR when one failed
//	a client tool waits   RUN_FINISHED with the calls that are pending, each of which
//	                      was shown, if not by the space
//	a permission or a     RUN_FINISHED with interrupts, whose id is that of the
//	question waits        pending action
//
// Guarantees:
//   - A key acts as its entity, which must be a member of the space: it sees and
//     may do the same as in the REST API. The history that the client sends is not
//     trusted.
//   - The tools and the context of an input belong to the runs of the message that it
//     posts: their agents may call the tools beside their own, only the sender answers
//     these calls, within 24 hours, and the context is in the prompt. Runs that these
//     runs start do not get them.
//   - Input without effect is reported by an event CUSTOM "ignored" with what and why: state,
//     forwarded properties other than mentions, a tool whose name the agent uses
//     itself, tools and context that differ from those that a run began with.
//   - A message of the user is posted once for its id in that space and thread. The
//     same run again shows the same answer.
//   - Every stream passes the sequence check of the official client: it opens with
//     RUN_STARTED, what is opened is closed, and RUN_FINISHED or RUN_ERROR comes
//     last and once.
//   - Runs of agents do not end with the connection. While what they wait for is
//     elsewhere, such as an approval in another space, the stream stays open.
//   - A history that is larger than a body may be is shortened as it arrives; see [Shorten].
//   - Errors before the stream begins are problem documents as in the REST API.
//
// The package requires a guard.Guard around its handler, which reads the bodies.
package aguiapi
