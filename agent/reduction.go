package agent

// ReductionStrategy says how a long history is made shorter.
type ReductionStrategy string

// The strategies. The zero value is [ReduceNone].
const (
	ReduceNone    ReductionStrategy = "none"
	ReduceCount   ReductionStrategy = "count"   // the last Target messages
	ReduceSummary ReductionStrategy = "summary" // a summary and the last Target messages
)

// Reduction makes the history that the model sees shorter. It is looked at
// before every model call. System messages always stay; a tool call and its
// result are never separated, so more than Target messages may stay. Between two
// reductions the model sees an append-only history, which is what lets a
// provider's prompt cache hit.
type Reduction struct {
	Strategy ReductionStrategy
	// Target messages stay when more than Target+Threshold are there that no
	// summary covers. Defaults 20 and 5.
	Target    int
	Threshold int
	// MaxTokens and Share (of the model's window, 0 to 1) reduce, whichever is
	// reached first, also before Target+Threshold; then Target shrinks as far as
	// needed. 0 is none. Tokens are estimated from what the provider counted last.
	MaxTokens int
	Share     float64
	// Hard rewrites the stored conversation at the start of a turn. Without it
	// (soft) only the model's view is shorter, and the store keeps all.
	Hard bool
	// Summarizer writes the summaries, with Prompt. Defaults: the agent's model, and
	// a prompt that asks for facts, decisions and open questions.
	Summarizer Model
	Prompt     string
}
