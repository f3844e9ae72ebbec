// Package agent turns a model into an agent: the loop around a model, its
// tools, a stream of events, a conversation that survives the process, and
// people who are asked before something happens.
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
// A turn is one input taken to its end. It consists of steps; a step is one
// model call (and its retries) together with the tool calls that it asked for.
// [Agent.Stream] yields the events of a turn while it happens, [Agent.Run]
// collects them.
//
// What is promised:
//   - A turn makes at most Options.MaxSteps model calls (retries not counted),
//     and ends with exactly one [TurnFinished] that names the outcome and the
//     reason.
//   - Every tool call gets exactly one result, in the order of the calls, on
//     every path: run, refused, failed, timed out, canceled, never started.
//   - What a start event opened an end event closes, and nothing follows it.
//   - The input is stored before the first model call. The model's answer is
//     stored before the first tool that it asks for starts, and together with
//     the results when the step ends. A turn that cannot store ends as failed
//     ([ReasonStorage]). Streaming never waits for the store; tools and the last
//     event do.
//   - A tool call that had finished is never executed again: not after a crash,
//     not after a person's answer that came days later.
//   - What waits for a person is stored as a [Pending] request. The turn ends as
//     waiting, holds nothing, and goes on where it was when [Agent.Run] is
//     called without an input after [Conversation.Answer].
//
// An [Agent] holds no state of a turn: any number of turns run at once, each on
// a conversation of its own.
package agent
