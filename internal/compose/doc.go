// Package compose turns the events of a hosted agent's run into composite
// messages: one message per run and space, with parts in the order of the model's
// output, that a reader of the space sees grow while the model writes.
//
//	c := compose.New(compose.Options{Run: "run_1", Trigger: "shop", Tools: tools})
//	for event, err := range agent.Stream(ctx, conversation, input) {
//		effects := c.Apply(event)
//		… perform them in one transaction and publish them …
//		for each AskSpace among them: effects = c.Standing(space, target, compose.Member), and so on
//	}
//
// What tools do is shown: the text of sendSpaceMessage, and calls of display tools that
// name a space. What the model says besides is the run's own, unless [Options.Stream]
// shows it or the run says it with [Composer.Say]. An
// effect is one line of the contract's table of server-sent events, or something
// that has to be stored; [Effect] lists them.
//
// The package is pure. It imports no server code, has no clock, does no I/O and
// starts no goroutine; the same inputs give the same effects. A [Composer] serves
// one run and one goroutine. Memory is bounded by the texts in progress.
//
// Guarantees:
//   - Nothing of a call is shown before the space (of a targeted tool: also the
//     member) that it is for is known whole and the standing there was answered.
//     Who the answer refuses is never shown; [Composer.Route] says why.
//   - A call opens its part when all calls before it in the model's output are
//     settled, so parts are in that order although calls may grow side by side.
//   - The deltas of a part since its last reset are exactly its stored text, or
//     the JSON of its stored arguments. Offsets count bytes of UTF-8; no delta
//     splits a character. Routing fields are in none of them.
//   - A delta costs what it is long, however much came before it.
//   - In each space at most one message takes parts. A mention or a wait seals it;
//     it is completed when all its parts are whole, and only then, and only if its
//     call happened, the mention starts, once.
//   - An attempt of the model that is discarded withdraws all that it has shown,
//     and what it sealed is open again.
//   - Text of a call that is refused is withdrawn; text that is cut short stays and
//     says so. Parts of display tools stay and show how the call ended.
//   - Every end of the run closes every message, and nothing happens after it.
//   - What was stored with the effects is enough to go on in another process:
//     [Restore].
//
// What a caller owes: effects in their order, all effects of one call before the
// next input (an answer to AskSpace is the next input); the messages of
// [OpenMessage], [SaveMessage] and [CloseMessage] stored before the turn's next
// event is taken; deltas and [Composer.Drafts] whenever it likes.
package compose
