package agent

// ReductionStrategy is how a long history is shortened.
type ReductionStrategy string

// The strategies. The zero value is [ReduceNone].
const (
	ReduceNone    ReductionStrategy = "none"
	ReduceCount   ReductionStrategy = "count"   // the last Target messages
	ReduceSummary ReductionStrategy = "summary" // a summary and the last Target messages
)

// Reduction shortens the history that the model sees. Its conditions are checked
// before every model call. System messages always remain; a tool call and its
// result are never separated, so more than Target messages may remain. Between two
// reductions messages are only appended to what the model sees, so that the
// provider's prompt cache stays valid.
type Reduction struct {
	Strategy ReductionStrategy
	// Target is the number of messages that remain when more than Target+Threshold
	// messages are not covered by a summary. Defaults 20 and 5.
	Target    int
	Threshold int
	// MaxTokens and Share (of the model's window, 0 to 1) trigger a reduction when the
	// first of them is reached, also before Target+Threshold; fewer than Target messages
	// then remain if necessary. 0 means no limit. Tokens are estimated from the
	// provider's last count.
	MaxTokens int
	Share     float64
	// Hard rewrites the stored conversation at the start of a turn. Without it
	// (soft), only the model's view is shortened, and the store keeps everything.
	Hard bool
	// Summarizer is the model that writes the summaries, with Prompt as its
	// instructions. Defaults: the agent's model, and a prompt that asks for facts,
	// decisions and open questions.
	Summarizer Model
	Prompt     string
}
