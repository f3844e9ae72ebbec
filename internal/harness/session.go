package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Session is a conversation with one process. Its methods may be called from several goroutines,
// also while the events of a turn are read.
type Session interface {
	// Turn sends a prompt and returns the events of the turn that it starts. The caller must read
	// them to the end, and soon: a harness whose events nobody reads stops working.
	//
	// When ctx ends, the turn is interrupted and its remaining events follow; a harness that does
	// not end the turn within InterruptGrace is stopped. The errors are ErrBusy if a turn is under
	// way, and an *ExitError if the process has ended.
	Turn(ctx context.Context, prompt string) iter.Seq2[Event, error]
	// Steer adds a text to the turn that is under way: the model reads it at the next opportunity,
	// and then [Steered] with the id follows. A turn that ends without that may have left the text
	// in the process, which must be closed then. The error is ErrNoSteer if the harness cannot do
	// so, and ErrIdle if no turn is under way.
	Steer(ctx context.Context, id, text string) error
	// Answer answers the permission request of that call. The error is ErrNotAsked if no such
	// request is open: it was answered, or its turn has ended.
	Answer(ctx context.Context, callID string, v Verdict) error
	// Ref identifies the conversation for a later [Spec.Resume] on the same machine. It may be
	// empty until the first turn has started.
	Ref() string
	// Done is closed when the process has ended.
	Done() <-chan struct{}
	// Close ends the process, with all that it has started, and waits for its end.
	Close() error
}

// Verdict is the answer to a permission request. Reason is what the model reads if it was denied,
// where the harness can pass it on.
type Verdict struct {
	Approved bool
	Reason   string
}

// Mode is what a harness may do without a question.
type Mode string

// The modes. In every one of them the harness may ask for more, and the reader of its events decides.
const (
	// ModeRead lets it read, and nothing else: it is not offered tools that write or execute, or
	// its requests are denied.
	ModeRead Mode = "read"
	// ModeAsk has it ask before it writes or executes.
	ModeAsk Mode = "ask"
	// ModeEdit lets it change files in its directory.
	ModeEdit Mode = "edit"
)

// Spec is how a driver starts a harness.
type Spec struct {
	// Command is the program with the arguments that it needs apart from the driver's.
	Command []string
	// Dir is the directory in which it works.
	Dir string
	// Env is its whole environment; see [Environ].
	Env   []string
	Mode  Mode
	Model string // empty for the harness's own default
	// Resume is the Ref of an earlier session to continue; empty for a new one.
	Resume string
	// Servers are the MCP servers that it is given, and the only ones where the harness lets its
	// caller decide.
	Servers []Server
}

// Server is an MCP server over HTTP. The key is passed in a header or a variable, never on the
// command line.
type Server struct{ Name, URL, Key string }

// KeyVariable names the variable in which a process finds the key of the server number i, if its
// environment is that of [Spec.EnvironWithKeys].
func KeyVariable(i int) string { return fmt.Sprintf("SHOAL_MCP_KEY_%d", i) }

// EnvironWithKeys returns the environment with the keys of the servers.
func (s Spec) EnvironWithKeys() []string {
	env := slices.Clone(s.Env)
	for i, server := range s.Servers {
		env = append(env, KeyVariable(i)+"="+server.Key)
	}
	return env
}

// Errors of sessions.
var (
	ErrBusy     = errors.New("a turn is under way")
	ErrIdle     = errors.New("no turn is under way")
	ErrNoSteer  = errors.New("this coding agent takes no messages while it works")
	ErrNotAsked = errors.New("no such permission request is open")
	// ErrNoResume means that the harness does not know the session that it was to resume.
	ErrNoResume = errors.New("the coding agent cannot resume this session")
	// ErrClosed means that the harness takes or sends nothing any more: it is ending.
	ErrClosed = errors.New("the coding agent has closed its output")
	// ErrNoMode means that the harness has no mode that keeps what was demanded.
	ErrNoMode = errors.New("the coding agent does not have this mode")
)

// ExitError means that the process has ended. Reason is its exit status, and Stderr the end of
// what it printed.
type ExitError struct{ Reason, Stderr string }

func (e *ExitError) Error() string { return "the coding agent has ended: " + e.Reason }
