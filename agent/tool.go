package agent

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// Tool is an operation that a model can call.
//
// Spec is called once, when the agent is created. Call receives a call
// whose arguments are a JSON object that conforms to Spec().Schema. It must return
// when ctx ends, which happens at the tool's time-out or at the end of the turn. The
// turn waits at most Options.Grace for a Call that does not return; then it abandons
// the call and discards its result. An error is a failed result: its text reaches the
// model only with Options.DetailedErrors. A panic counts as an error.
//
// A Tool is safe for concurrent use: the calls of one step run in parallel.
type Tool interface {
	Spec() ToolSpec
	Call(ctx context.Context, call ToolCall) (Output, error)
}

// ToolSpec describes a tool to the model and to the loop.
type ToolSpec struct {
	// Name has 1 to 64 characters from [A-Za-z0-9_-], unique in an agent.
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments, an object schema. Empty means
	// an object without properties.
	Schema json.RawMessage
	// RequiresPermission asks a person before every call; see [Permission].
	RequiresPermission bool
	// Idempotent allows a call that a crash interrupted to be repeated. Without it,
	// the result of such a call says that the effect is unknown.
	Idempotent bool
	// Repeatable marks a tool that it makes sense to call repeatedly with the same
	// arguments although its result stays the same, to wait for a change. Its calls do
	// not count towards Options.MaxIdenticalCalls.
	Repeatable bool
	// External marks a tool that is executed outside of the turn: the call becomes a
	// [Pending] request of kind [ClientCall], and Call is never called.
	External bool
	// Question marks an External tool whose call is a question to a person: the
	// request is of kind [Clarification] and takes question and options from the
	// arguments. See [AskUser].
	Question bool
	// ExpiresIn is how long a request about a call waits for its answer. When it
	// expires, it counts as denied, or as a failed call. 0 means that it never expires.
	ExpiresIn time.Duration
	// Timeout limits one call. 0 means Options.ToolTimeout; negative means no limit.
	Timeout time.Duration
}

// Output is the result of a tool: Text for the model, and files that it can read.
// Failed marks a failure that the tool describes itself in Text.
type Output struct {
	Text   string
	Files  []File
	Failed bool
}

// CallKey returns an idempotency key for the present call, which the tool can pass to
// the service that does the work. It consists of turn, step and call: it is the same
// when an interrupted call is repeated, and differs from that of every other call. It
// contains only visible ASCII characters. ctx is the context that [Tool.Call] received;
// with any other context the key is empty.
func CallKey(ctx context.Context) string {
	t, ok := ctx.Value(toolContextKey{}).(*toolContext)
	if !ok {
		return ""
	}
	return url.PathEscape(t.turnID) + "/" + strconv.Itoa(t.step) + "/" + url.PathEscape(t.callID)
}

// Progress reports the progress of a tool as an event of the turn. ctx is the context
// that [Tool.Call] received; with any other context Progress does nothing. percent is
// negative if unknown. Progress may block until the consumer of the events has caught
// up.
func Progress(ctx context.Context, message string, percent float64) {
	if t, ok := ctx.Value(toolContextKey{}).(*toolContext); ok {
		t.emit(ctx, ToolProgress{CallID: t.callID, Message: message, Percent: percent})
	}
}
