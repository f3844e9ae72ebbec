// Package agent runs the loop around a language model: it calls the model, runs
// the tools that the model requests, streams events, stores the conversation so
// that it survives the process, and asks people for permission.
//
//	weather := agent.Func("weather", "Returns the weather of a city.",
//		func(ctx context.Context, in struct{ City string }) (string, error) {
//			return "sunny in " + in.City, nil
//		})
//	a, err := agent.New(openai.Chat("gpt-5-mini"), agent.Options{
//		Instructions: "Answer in one sentence.",
//		Tools:        []agent.Tool{weather},
//	})
//	…
//	result, err := a.Run(ctx, agent.NewConversation(), agent.Say("Do I need an umbrella in Kiel?"))
//	fmt.Println(result.Text())
//
// A turn processes one input until it ends. It consists of steps; a step is one
// model call (with its retries) together with the tool calls that it requested.
// [Agent.Stream] yields the events of a turn as they happen, [Agent.Run]
// collects them.
//
// The package guarantees:
//   - A turn makes at most Options.MaxSteps model calls (retries not counted),
//     and ends with exactly one [TurnFinished] that names the outcome and the
//     reason.
//   - Every tool call gets exactly one result, in the order of the calls, on
//     every path: executed, refused, failed, timed out, canceled, never started.
//   - Every start event is followed by its end event, after which nothing more is
//     emitted for what it closed.
//   - The input is stored before the first model call. The model's answer is
//     stored before the first tool that it requests starts, and together with
//     the results when the step ends. If a write fails, the turn ends as failed
//     ([ReasonStorage]). Streaming never waits for the store; tools and the last
//     event do.
//   - A tool call that has finished is never executed again: not after a crash,
//     and not after a person's answer that arrives days later.
//   - A request to a person is stored as a [Pending] request. The turn ends as
//     waiting, holds no resources, and resumes when [Agent.Run] is called without
//     an input after [Conversation.Answer].
//
// An [Agent] holds no state of a turn: any number of turns can run concurrently,
// each on a conversation of its own.
package agent
