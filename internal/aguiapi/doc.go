// Package aguiapi is the AG-UI face of Shoal: a front end that speaks AG-UI (such
// as one of CopilotKit) talks to the hosted agent of a space.
//
//	api := aguiapi.New(aguiapi.Options{Hub: h, Auth: a})
//	mux.Handle("/agui/", g.Wrap(api.Handler())) // g is a guard.Guard
//
// POST /agui/SESSION/SPACE takes a RunAgentInput and answers with a stream of
// AG-UI events. What one run of the protocol does:
//
//	the newest message of the user    is posted into the space, once for its id
//	tool messages, resume entries     answer what waits in the space for the caller
//	a run without any message         gets the space's newest messages
//
// and then it shows what the runs of agents that follow from that write into the
// space:
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
//     may do what it sees and may do at the REST face. What the client tells of the
//     past is not believed.
//   - The tools and the context of an input belong to the runs of the message that it
//     posts: their agents may call the tools beside their own, only the sender answers
//     these calls, within 24 hours, and the context is in the prompt. Runs that these
//     runs start do not get them.
//   - What has no effect is named by an event CUSTOM "ignored" with what and why: state,
//     forwarded properties other than mentions, a tool whose name the agent uses
//     itself, tools and context that differ from those that a run began with.
//   - A message of the user is posted once for its id in that space and thread. The
//     same run again shows the same answer.
//   - Every stream passes the sequence check of the official client: it opens with
//     RUN_STARTED, what is opened is closed, and RUN_FINISHED or RUN_ERROR comes
//     last and once.
//   - Runs of agents do not end with the connection. While what they wait for is
//     elsewhere, such as an approval in another space, the stream stays open.
//   - What is wrong before the stream begins is a problem document as at the REST
//     face.
//
// The package needs a guard.Guard in front: bodies are taken from it.
package aguiapi
