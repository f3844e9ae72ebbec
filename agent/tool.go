package agent

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// Tool is something that a model can call.
//
// Spec is asked once, when the agent is made. Call gets a call
// whose arguments are a JSON object that fits Spec().Schema. It honours ctx,
// which ends with the tool's time-out or with the turn; a Call that goes on for
// all that is left behind, its result dropped, and the turn waits for it no
// longer than Options.Grace. An error is a failed result: its text reaches the
// model only with Options.DetailedErrors. A panic is an error too.
//
// A Tool is safe for concurrent use: parallel calls of one step run at once.
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
	// Idempotent says that a call that was cut off by a crash may be made again.
	// Without it the model is told that the effect is unknown.
	Idempotent bool
	// Repeatable says that it makes sense to call the tool again with the same arguments
	// although its result stays the same, to wait for a change: such calls do not count
	// towards Options.MaxIdenticalCalls.
	Repeatable bool
	// External marks a tool that somebody else executes: the call becomes a
	// [Pending] request of kind [ClientCall] and Call is never called.
	External bool
	// Question marks an External tool whose call is a question to a person: the
	// request is of kind [Clarification] and takes question and options from the
	// arguments. See [AskUser].
	Question bool
	// ExpiresIn is how long a request about a call waits for its answer; then it
	// counts as denied, or as a failed call. 0 waits for ever.
	ExpiresIn time.Duration
	// Timeout bounds one call. 0 takes Options.ToolTimeout, negative is none.
	Timeout time.Duration
}

// Output is what a tool answers: Text for the model, and files that it may look
// at. Failed marks a failure that the tool describes itself in Text.
type Output struct {
	Text   string
	Files  []File
	Failed bool
}

// CallKey names the call that a tool is asked for, for whoever does the work: TURN,
// step and call, which is the same when a call that was cut off is made again, and
// another one for every other call. It has nothing but visible ASCII characters. ctx
// is the one that [Tool.Call] got; with any other it is empty.
func CallKey(ctx context.Context) string {
	t, ok := ctx.Value(toolContextKey{}).(*toolContext)
	if !ok {
		return ""
	}
	return url.PathEscape(t.turnID) + "/" + strconv.Itoa(t.step) + "/" + url.PathEscape(t.callID)
}

// Progress tells the turn's events how far a tool is. ctx is the one that
// [Tool.Call] got; with any other it does nothing. percent is negative when
// unknown. It may block until the consumer of the events has caught up.
func Progress(ctx context.Context, message string, percent float64) {
	if t, ok := ctx.Value(toolContextKey{}).(*toolContext); ok {
		t.emit(ctx, ToolProgress{CallID: t.callID, Message: message, Percent: percent})
	}
}
