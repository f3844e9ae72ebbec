// Package spacetool contains what every hosted agent gets to work in spaces: the built-in
// tools, the prompt that describes its spaces, and the input that a trigger makes.
//
//	run := &spacetool.Run{Hub: h, Lease: lease, Run: stored, Config: config, Delegated: cancel}
//	tools, err := spacetool.Tools(ctx, run)   // with sendSpaceMessage, which the executor performs
//	prompt, err := spacetool.NewPrompt(ctx, run, missing) // agent.Options.Instructions, and the order of messages
//	input, err := spacetool.Input(ctx, run)   // of a run that begins
//
// What is promised:
//   - Reading asks whether the agent is in the space, each time, and whether those that
//     the run acts for may read it; what is private to another member is left out.
//   - Every change goes through [Run.Write] and so is refused once the lease is lost.
//     What a tool says it did is durable when it says so, and a call that it refuses
//     changed nothing.
//   - What people and other agents wrote is put between tags whose characters it
//     cannot hold: it forges no member, no message and no rule.
//   - Requests begin with what stays: the system text and the conversation, or the history
//     that all agents of the space are sent alike. What belongs to one run comes just before
//     what started it.
package spacetool

import (
	"context"
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Run is the run that the tools and the prompt are for. Hub, Lease, Run and Config
// are required.
type Run struct {
	Hub   *hub.Hub
	Lease runs.Lease
	// Run is the run as it was claimed. For [Input], Began has to be set.
	Run storage.Run
	// After is the place in the space of the trigger up to which the model has the messages
	// already, without those of the agent; with 0, [Input] finds out what the conversation holds.
	After  int64
	Config *agentconfig.Config
	// Client is what a front end sent for the run, nil for nothing.
	Client *storage.ClientInput
	// Write changes what is stored; nil is Hub.Work.Write with Lease.
	Write func(ctx context.Context, fn func(*runs.RunChange) error) error
	// Read reads what is stored; nil is Hub.Work.Read.
	Read func(ctx context.Context, fn func(storage.Tx) error) error
	// Delegated is called when delegateToAgent has queued a run of another agent:
	// this run has to be canceled. It may be nil.
	Delegated func(shoal.RunID)
	// Now is the clock; nil is [shoal.Now].
	Now func() shoal.Time

	listed map[shoal.EntityID]bool // entities whose names and kinds the system text has; nil if it has not even the space
}

func (r *Run) session() shoal.SessionID { return r.Run.SessionID }

func (r *Run) agent() shoal.EntityID { return r.Run.AgentID }

// onBehalf is the run as the rules of reading and writing see it.
func (r *Run) onBehalf() behalf.Run {
	var access behalf.Access
	if r.Config != nil {
		access.Read, access.Write = behalf.Scope(r.Config.Access.Read), behalf.Scope(r.Config.Access.Write)
	}
	return r.Run.OnBehalf(access)
}

// mayRead reports whether the run may read a space, for those that it acts for; that
// its agent is in it is another question.
func (r *Run) mayRead(tx pending.EntityReader, space shoal.SpaceID) (bool, error) {
	return r.onBehalf().MayRead(space, pending.Reads(tx, r.session()))
}

func (r *Run) now() shoal.Time {
	if r.Now != nil {
		return r.Now()
	}
	return shoal.Now()
}

func (r *Run) write(ctx context.Context, fn func(*runs.RunChange) error) error {
	if r.Write != nil {
		return r.Write(ctx, fn)
	}
	return r.Hub.Work.Write(ctx, r.Lease, fn)
}

func (r *Run) read(ctx context.Context, fn func(storage.Tx) error) error {
	if r.Read != nil {
		return r.Read(ctx, fn)
	}
	return r.Hub.Work.Read(ctx, fn)
}

// Tools returns the tools that the agent has in this run, always in the same order:
// sendSpaceMessage (external: the executor performs it), readSpaceMessages,
// getMyRuns, those for goals, memories and plans, ask_user unless the configuration
// has a tool of that name, and delegateToAgent only for the admin agent of a
// trigger's space that has other hosted agents. The error is that of reading.
func Tools(ctx context.Context, r *Run) ([]agent.Tool, error) {
	tools := slices.Concat(
		[]agent.Tool{agent.External(SendSpec()), readTool(r), runsTool(r)},
		goalTools(r), memoryTools(r), planTools(r),
	)
	ask := agent.AskUser()
	if !slices.ContainsFunc(r.Config.Tools, func(t agentconfig.Tool) bool { return t.Name == ask.Spec().Name }) {
		tools = append(tools, ask)
	}
	var others []shoal.EntityID
	err := r.read(ctx, func(tx storage.Tx) (err error) {
		others, err = r.delegates(tx)
		return err
	})
	if err == nil && len(others) > 0 {
		tools = append(tools, delegateTool(r, others))
	}
	return tools, err
}

// tool makes a tool whose mistakes of a model are results that say what to do, and
// whose other errors are the call's.
func tool[In any](name, description string, f func(ctx context.Context, in In) (any, error)) agent.Tool {
	return agent.Func(name, description, func(ctx context.Context, in In) (agent.Output, error) {
		out, err := f(ctx, in)
		if text, ok := forModel(err); ok {
			return agent.Output{Text: text, Failed: true}, nil
		}
		if err != nil {
			return agent.Output{}, err
		}
		text, err := encode(out)
		return agent.Output{Text: text}, err
	})
}

// reading marks a tool that may be called again after a crash.
func reading(t agent.Tool) agent.Tool {
	return agent.Configure(t, func(s *agent.ToolSpec) { s.Idempotent = true })
}

// mistakes are the kinds of errors that a model can do something about.
var mistakes = []shoal.Kind{
	shoal.InvalidArgument, shoal.NotFound, shoal.Forbidden, shoal.TooLarge, shoal.SpaceClosed, shoal.SessionClosed, shoal.AdminRequired, shoal.AlreadyExists,
}

// forModel returns the text of an error for a model, if the model caused the error.
func forModel(err error) (string, bool) {
	var e *shoal.Error
	if !errors.As(err, &e) || e.Msg == "" || !slices.Contains(mistakes, e.Kind) {
		return "", false
	}
	return "Error: " + e.Msg, true
}

// encode writes a result.
func encode(v any) (string, error) {
	text, err := shoal.EncodeJSON(v)
	if err != nil {
		return "", shoal.E("spacetool", shoal.Internal, "a result cannot be written: "+err.Error())
	}
	return string(text), nil
}
