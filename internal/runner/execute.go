package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/harness"
)

// Agent is a coding agent that a runner runs.
type Agent struct {
	ID shoal.EntityID
	AgentConfig
	// Servers are the MCP servers that the agent is given.
	Servers []harness.Server
}

// Job is a turn to run: a prompt in a conversation.
type Job struct {
	// Run identifies the turn among those of the conversation.
	Run          string
	Conversation string
	Prompt       string
	// Steers are messages that arrive during the turn; nil if none can. One that the model does
	// not get in this turn is another job.
	Steers <-chan Steer
	// Calls are the tool calls that the turn has made before it was interrupted. All have ended.
	Calls map[string]harness.Tool
	// CatchUp returns what a new conversation learns of the one that it replaces, and how many
	// messages that is; nil for nothing.
	CatchUp func(context.Context) (text string, messages int, err error)
	// Begun means that the model may have read the prompt before: the turn only continues.
	Begun bool
}

// Steer is a message that arrives during a turn: the prompt of the run that it starts if this turn
// does not take it in.
type Steer struct{ Run, Prompt string }

// Options are how a runner treats its agents.
type Options struct {
	// State is the file in which the conversations are remembered.
	State string
	// MaxProcesses is how many coding agents run at once, and Idle how long an unused one stays.
	MaxProcesses int
	Idle         time.Duration
	// Environ is the environment of the runner, of which the agents see a part.
	Environ []string
}

// Runner owns the processes of coding agents.
type Runner struct {
	options Options
	kinds   map[string]kind
	pool    *pool
	refs    *refs
	trees   worktrees
	asks    sync.WaitGroup // goroutines that wait for a verdict; each ends with its run
}

// New returns a runner. The caller must Stop it.
func New(o Options) (*Runner, error) {
	found, err := openRefs(o.State)
	if err != nil {
		return nil, err
	}
	return &Runner{options: o, kinds: kinds, pool: newPool(o.MaxProcesses, o.Idle), refs: found}, nil
}

// Stop ends all coding agents and waits for their ends. Every Serve must have returned, or return
// soon.
func (r *Runner) Stop() {
	r.pool.stop()
	r.asks.Wait()
}

// Execute runs a turn of an agent to its end, with the conversation that it continues. The error is a *Failure if the run is to fail,
// the cause of ctx if that ended, and what the reporter returned.
//
// If the program ends before its model has read the prompt, the turn begins again, and the model reads
// that it may have the prompt already; afterwards it continues with another prompt, once, unless a tool
// was at work.
func (r *Runner) Execute(ctx context.Context, a Agent, j Job, out Reporter) error {
	c, title := conversation{string(a.ID), j.Conversation}, r.kinds[a.Kind].title
	if a.Worktree {
		dir, err := r.trees.dir(ctx, a.Dir, c)
		if err != nil {
			return &Failure{CodeAgentFailed, fmt.Sprintf("%s has no working tree of its own: %v.", title, err)}
		}
		a.Dir = dir
	}
	t := &turn{out: out, onlySay: a.Mode == harness.ModeRead, started: j.Begun, tools: map[string]harness.Tool{}}
	maps.Copy(t.tools, j.Calls)
	if r.kinds[a.Kind].steers {
		t.steers = j.Steers
	}
	for attempt := 1; ; attempt++ {
		session, lost, err := r.session(ctx, a, c, t.started)
		if err != nil {
			return describe(title, err)
		}
		catchUp := ""
		if t.anew = lost; lost && j.CatchUp != nil {
			catchUp, t.known, _ = j.CatchUp(ctx) // without it the model knows less, and says so
		}
		t.session, t.unread = session, map[string]bool{}
		t.remember = func(run string) { _ = r.refs.put(c, a.Kind, a.Dir, session.Ref(), run) } // without it a crash costs the conversation
		prompt := catchUp + t.prompt(j, r.refs.has(c, a.Kind, a.Dir, j.Run))
		t.remember(j.Run)
		end, err := t.run(ctx, prompt)
		exit := (*harness.ExitError)(nil)
		r.release(c, a, session, !errors.As(err, &exit) && len(t.unread) == 0)
		switch {
		case err == nil:
			return outcome(title, end)
		case exit == nil || ctx.Err() != nil:
			return err
		case len(t.atWork()) > 0:
			return &Failure{CodeOutcomeUnknown, fmt.Sprintf("%s ended while it executed %q: what came of it is unknown. Check before you ask again.", title, t.atWork()[0])}
		case attempt == 2:
			return describe(title, exit)
		}
	}
}

// session returns the session of a conversation: the one that is open, the one that the agent
// finds again, or a new one; lost means that the new one replaces one that the agent has lost. A turn
// that had started is only continued where it was.
func (r *Runner) session(ctx context.Context, a Agent, c conversation, again bool) (s harness.Session, lost bool, err error) {
	s, err = r.pool.acquire(ctx, c, func(ctx context.Context) (harness.Session, error) {
		known := r.refs.get(c, a.Kind, a.Dir)
		s, err := r.start(ctx, a, known)
		if known != "" && errors.Is(err, harness.ErrNoResume) && !again {
			_ = r.refs.forget(c) // the new one replaces it
			lost = true
			return r.start(ctx, a, "")
		}
		return s, err
	})
	return s, lost, err
}

// start starts the program of an agent.
func (r *Runner) start(ctx context.Context, a Agent, resume string) (harness.Session, error) {
	k, ok := r.kinds[a.Kind]
	if !ok {
		return nil, fmt.Errorf("%q is not a kind of coding agent", a.Kind)
	}
	command := a.Command
	if len(command) == 0 {
		command = k.command
	}
	return k.start(ctx, harness.Spec{
		Command: command, Dir: a.Dir, Env: harness.Environ(r.options.Environ, append(k.environ, a.Environ...)...),
		Mode: a.Mode, Model: a.Model, Resume: resume, Servers: a.Servers,
	})
}

// release gives a session back and remembers its conversation.
func (r *Runner) release(c conversation, a Agent, s harness.Session, keep bool) {
	// Without it the next turn begins a new conversation: worse, and no reason to fail this one.
	_ = r.refs.put(c, a.Kind, a.Dir, s.Ref(), "")
	r.pool.release(c, keep)
}

// outcome is what the end of a turn means for its run.
func outcome(title string, end harness.Ended) error {
	switch end.Stop {
	case harness.StopFailed:
		return &Failure{CodeAgentFailed, fmt.Sprintf("%s reports: %s", title, end.Text)}
	case harness.StopRefused:
		return &Failure{CodeAgentFailed, title + " refused to answer."}
	case harness.StopLimit:
		return &Failure{CodeAgentFailed, title + " reached a limit of its own: " + end.Text}
	case harness.StopCompleted, harness.StopCanceled:
	}
	return nil
}

// describe makes an error of a session readable for the people in a space.
func describe(title string, err error) error {
	exit := (*harness.ExitError)(nil)
	switch {
	case errors.As(err, &exit):
		text := fmt.Sprintf("%s ended: %s.", title, exit.Reason)
		if exit.Stderr != "" {
			text += " It printed: " + last(exit.Stderr)
		}
		return &Failure{CodeAgentFailed, text}
	case errors.Is(err, harness.ErrNoResume):
		return &Failure{CodeOutcomeUnknown, title + " was restarted and cannot continue its turn. Check what it has done before you ask again."}
	case errors.Is(err, context.Canceled), errors.Is(err, errStopped):
		return err
	}
	return &Failure{CodeAgentFailed, fmt.Sprintf("%s cannot be started: %v.", title, err)}
}

// maxPrinted bounds what is shown of a program's error output, in bytes.
const maxPrinted = 500

// last is the end of a text.
func last(text string) string {
	over := len(text) - maxPrinted
	if over <= 0 {
		return text
	}
	for over < len(text) && !utf8.RuneStart(text[over]) {
		over++
	}
	return "…" + text[over:]
}
