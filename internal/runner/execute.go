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
	"github.com/shoal-dev/shoal/internal/safetext"
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
	// Calls are the tool calls that the turn has made before it was interrupted, and that have ended.
	// Open are those of which the server does not know how they ended.
	Calls map[string]harness.Tool
	Open  []harness.Tool
	// Written is what others have read of the turn.
	Written string
	// Generation differs in each claim of the run.
	Generation int64
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
	// MaxProcessMemory and MaxMemory are those of the [Config].
	MaxProcessMemory, MaxMemory Memory
	// Log receives what the runner does by itself with the programs; nil for nothing.
	Log func(text string)
	// Environ is the environment of the runner, of which the agents see a part.
	Environ []string
	// Machine is what the server calls this machine; if it is empty, nothing is reported. Version is
	// that of this program.
	Machine shoal.RunnerID
	Version string
}

// Runner owns the processes of coding agents.
type Runner struct {
	options Options
	kinds   map[string]kind
	pool    *pool
	refs    *refs
	trees   worktrees
	asks    sync.WaitGroup // goroutines that wait for a verdict; each ends with its run
	stop    context.CancelFunc
	watch   sync.WaitGroup // the goroutine that limits the memory
}

// New returns a runner. The caller must Stop it.
func New(o Options) (*Runner, error) {
	found, err := openRefs(o.State)
	if err != nil {
		return nil, err
	}
	r := &Runner{options: o, kinds: kinds, pool: newPool(o.MaxProcesses, o.Idle), refs: found}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	if limits := (memoryLimits{o.MaxProcessMemory, o.MaxMemory}); limits.any() {
		r.watch.Go(func() { r.pool.watchMemory(ctx, limits, r.memoryFreed) })
	}
	return r, nil
}

// memoryFreed reports that a program was closed because of its memory.
func (r *Runner) memoryFreed(c conversation, used Memory, why string) {
	if r.options.Log != nil {
		r.options.Log(fmt.Sprintf("%s is closed in %s: its program used %d MiB, and %s; the next mention resumes it", c.agent, c.name, used>>20, why))
	}
}

// Stop ends all coding agents and waits for their ends. Every Serve must have returned, or return
// soon.
func (r *Runner) Stop() {
	r.stop()
	r.watch.Wait()
	r.pool.stop()
	r.asks.Wait()
}

// execution is a turn that is executed, with what is needed for another attempt.
type execution struct {
	runner       *Runner
	agent        Agent
	conversation conversation
	title        string
	job          Job
	turn         *turn
	session      harness.Session // of the present attempt
	given        bool            // the conversation may hold the prompt
	questions    int
}

// Execute runs a turn of an agent to its end, with the conversation that it continues. The error is a *Failure if the run is to fail,
// the cause of ctx if that ended, and what the reporter returned.
//
// If the program ends before its model has read the prompt, the turn begins again, and the model reads
// that it may have the prompt already; afterwards it continues with another prompt, once. If a tool was
// at work, or nobody knows whether the turn has begun, people decide.
func (r *Runner) Execute(ctx context.Context, a Agent, j Job, out Reporter) error {
	c, title := conversation{string(a.ID), j.Conversation}, r.kinds[a.Kind].title
	if a.Worktree {
		dir, err := r.trees.dir(ctx, a.Dir, c)
		if err != nil {
			return &Failure{CodeAgentFailed, fmt.Sprintf("%s has no working tree of its own: %v.", title, err)}
		}
		a.Dir = dir
	}
	x := &execution{runner: r, agent: a, conversation: c, title: title, job: j}
	x.turn = &turn{out: out, run: j.Run, onlySay: a.Mode == harness.ModeRead, tools: map[string]harness.Tool{}, waiting: map[string]bool{}, said: last(j.Written)}
	maps.Copy(x.turn.tools, j.Calls)
	x.turn.remember = func(m mark) error {
		ref := ""
		if x.session != nil {
			ref = x.session.Ref()
		}
		return r.refs.put(c, a.Kind, a.Dir, ref, m)
	}
	x.turn.has = func(run string) bool {
		_, found := r.refs.mark(c, a.Kind, a.Dir, run)
		return found
	}
	if r.kinds[a.Kind].steers {
		x.turn.steers = j.Steers
	}
	anew, err := x.recall(ctx)
	for tries := 1; err == nil; tries++ {
		var end harness.Ended
		end, err = x.attempt(ctx, anew)
		exit := (*harness.ExitError)(nil)
		switch {
		case err == nil:
			return outcome(title, end)
		case !errors.As(err, &exit) || ctx.Err() != nil:
			return err
		}
		var unknown []string
		if unknown, err = x.turn.cutOff(ctx); err != nil {
			return err
		}
		switch {
		case len(unknown) > 0:
			if anew, err = x.decide(ctx, wasAtWork(title, unknown[0])); err == nil {
				err, tries = x.turn.endAll(ctx), 0
			}
		case tries == 2:
			return describe(title, exit)
		default:
			anew = false
		}
	}
	return err
}

// attempt runs the turn until it or the program ends. anew means that it begins a new conversation in
// place of another.
func (x *execution) attempt(ctx context.Context, anew bool) (harness.Ended, error) {
	r, t := x.runner, x.turn
	session, lost, err := r.session(ctx, x.agent, x.conversation, t.started)
	if err != nil {
		return harness.Ended{}, describe(x.title, err)
	}
	x.session = session
	catchUp := ""
	if t.anew = lost || anew; t.anew && x.job.CatchUp != nil {
		catchUp, t.known, _ = x.job.CatchUp(ctx) // without it the model knows less, and says so
	}
	t.session, t.unread = session, map[string]bool{}
	prompt := safetext.Clean(catchUp + t.prompt(x.job, x.given && !lost && r.refs.get(x.conversation, x.agent.Kind, x.agent.Dir) != ""))
	state := stageGiven
	if t.started {
		state = stageBegun
	}
	var end harness.Ended
	if err = t.enter(state); err == nil {
		x.given = true
		end, err = t.take(ctx, prompt)
		if !t.started {
			err = errors.Join(err, t.enter(stageUnread))
		}
	}
	exit := (*harness.ExitError)(nil)
	r.release(x.conversation, x.agent, session, !errors.As(err, &exit) && len(t.unread) == 0)
	return end, err
}

// mark returns what an earlier runner has noted of the run.
func (x *execution) mark() (mark, bool) {
	return x.runner.refs.mark(x.conversation, x.agent.Kind, x.agent.Dir, x.job.Run)
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
	_ = r.refs.put(c, a.Kind, a.Dir, s.Ref(), mark{})
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
