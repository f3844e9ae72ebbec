// Package compose turns the events of a hosted agent's run into composite messages: one
// message per run and space, with parts in the order of the model's output. Readers of the
// space see the message grow while the model writes.
//
//	c := compose.New(compose.Options{Run: "run_1", Trigger: "shop", Tools: tools})
//	for event, err := range agent.Stream(ctx, conversation, input) {
//		effects := c.Apply(event)
//		… perform them in one transaction and publish them …
//		for each AskSpace among them: effects = c.SetMembership(space, target, compose.Member), and so on
//	}
//
// The composer shows the text of sendSpaceMessage and the calls of display tools that
// name a space. Other text of the model is not shown unless [Options.Stream] is set or the
// run calls [Composer.Say]. An effect is either one line of the contract's table of
// server-sent events or something that the caller stores; [Effect] lists them.
//
// The package is pure. It imports no server code, has no clock, does no I/O and
// starts no goroutine; the same inputs give the same effects. A [Composer] serves
// one run and one goroutine. Memory is bounded by the texts in progress.
//
// Guarantees:
//
//   - Nothing of a call is shown before its space (for a targeted tool: also the member)
//     is completely known and the caller has confirmed the membership. A refused call is
//     never shown; [Composer.Route] reports the reason.
//
//   - A call opens its part when all calls before it in the model's output are settled.
//     Parts are therefore in that order, although the model may write calls concurrently.
//
//   - The deltas of a part since its last reset are exactly its stored text, or
//     the JSON of its stored arguments. Offsets count bytes of UTF-8; no delta
//     splits a character. Deltas never contain routing fields.
//
//   - The cost of a delta depends on its own length, not on what came before it.
//
//   - In each space at most one message accepts parts. A mention or a wait seals it. A
//     sealed message is completed when all its parts are complete. Only then, and only if
//     the sealing call was executed, does the mention start, exactly once.
//
//   - When an attempt of the model is discarded, everything that it has shown is withdrawn,
//     and the messages that it sealed are open again.
//
//   - The text of a refused call is withdrawn. Text that ends early stays and is marked as
//     interrupted. Parts of display tools stay and show how the call ended.
//
//   - However the run ends, every message is closed, and no effect follows.
//
//   - The state that is stored with the effects is enough to continue in another process:
//
//     [Restore].
//
// Obligations of the caller: perform effects in their order, and perform all effects of
// one call before the next input (an answer to AskSpace is the next input). Store the
// messages of [OpenMessage], [SaveMessage] and [CloseMessage] before taking the turn's
// next event. Deltas and [Composer.Drafts] can be stored at any time.
package compose
