// Package agui lets AG-UI clients talk to agents: [Handler] serves runs over
// HTTP and server-sent events, [Projection] maps the events of package agent to
// those of the protocol. It speaks AG-UI 1.0.
//
//	http.Handle("/agent", agui.Handler(agent.NewMemory(),
//		func(r *http.Request, in *agui.Input) (agent.Model, agent.Options, error) {
//			return model, agent.Options{Instructions: "Answer briefly."}, nil
//		}))
//
// How events are mapped:
//
//	TurnStarted                  RUN_STARTED
//	StepStarted, StepFinished    STEP_STARTED, STEP_FINISHED
//	ReasoningStarted … Ended     REASONING_START, REASONING_MESSAGE_START/CONTENT/END, REASONING_END
//	TextStarted … Ended          TEXT_MESSAGE_START/CONTENT/END
//	ToolCallStarted … Ended      TOOL_CALL_START/ARGS/END
//	MessageEnded{Discarded}      MESSAGES_SNAPSHOT without the message
//	ToolFinished                 TOOL_CALL_RESULT
//	Nested                       SUBAGENT_STARTED/FINISHED/ERROR around the same with subagentRunId
//	TurnFinished                 RUN_FINISHED (success, interrupt, cancelled) or RUN_ERROR
//	ModelCallStarted,            nothing
//	MessageStarted, MessageEnded
//	all others                   CUSTOM: RequestOpened is "requested", RequestAnswered is "answered"
//
// The package guarantees:
//   - Every stream passes the sequence check of the official client: it opens
//     with RUN_STARTED, what is opened is closed, no delta is empty, and
//     RUN_FINISHED or RUN_ERROR comes last and once.
//   - One assistant message of the agent is one message of the client, with the
//     same id. Its texts are joined without a separator, as agent.Message.Text
//     does; a second text opens the same message again. Its tool calls name it as
//     their parent. Thoughts are messages of their own, as the protocol has it.
//   - When a model call is made again, what the dead attempt has shown disappears
//     from the client. See [Projection].
//   - A request that a turn waits for is an interrupt, which the client answers
//     with resume entries in its next run. A call of a tool of the client is left
//     unanswered in a run that succeeds, and the client answers it with a tool
//     message in its next run.
//   - Causes of failures stay on the server; the client receives a sentence and
//     the reason's code.
//
// The package keeps nothing: conversations live in the agent.Store of the
// caller, and everything else in the run.
package agui
