package remoterun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/perform"
)

// state is the JSON in storage.Run.Turn of a remote run: the turn as later runs read it, and
// the claim that executes the run. N is set when the run has ended.
type state struct {
	history.Turn
	Remote struct {
		Claim   int64 `json:"claim"`
		N       int64 `json:"n,omitempty"`
		ByCalls bool  `json:"byCalls,omitempty"` // as [Demand] says
	} `json:"remote"`
}

// stateOf returns the state of a remote run, the zero value for one that was never claimed.
func stateOf(r storage.Run) (s state, err error) {
	if len(r.Turn) > 0 {
		err = json.Unmarshal(r.Turn, &s)
	}
	return s, err
}

func (s state) put(r *storage.Run) error {
	turn, err := json.Marshal(s)
	r.Turn = turn
	return err
}

// batch is what is stored of one report.
type batch struct {
	At      shoal.Time `json:"at"`
	Entries []entry    `json:"entries"`
}

// running is a run that this server writes, for the claim of a program. Its machine is that
// of what is stored: after an error it is dropped, and read again.
type running struct {
	s      *Server
	lease  runs.Lease // of this server
	claim  int64      // the generation that the program states
	owner  string
	run    storage.Run
	config *agentconfig.Config

	mu       sync.Mutex
	gone     bool // it must be read again
	released bool // its program has given it back
	n        int64
	place    int64
	status   shoal.RunStatus
	machine  *machine
	output   *perform.Run
	leaseFor time.Duration
	until    time.Time // when the lease ends, at the earliest
	drafts   time.Time // when drafts were stored last
	late     *time.Timer
	active   shoal.RunActivity
	used     time.Time
	silent   bool // it is marked as stalled
	show     bool // the trigger's space shows reasoning
	thought  thought
}

// perform performs effects in a transaction.
func (x *running) perform(c *runs.RunChange, effects []compose.Effect) (*perform.Attempt, error) {
	attempt := x.output.Begin(c, effects)
	for _, e := range effects {
		if _, asks := e.(compose.AskSpace); asks {
			continue // it was answered before the transaction
		}
		if err := attempt.Perform(e); err != nil {
			return attempt, err
		}
	}
	return attempt, nil
}

// accept stores the lines of a report that it does not have yet.
func (x *running) accept(ctx context.Context, lines []shoal.WorkLine) error {
	lines = slices.DeleteFunc(lines, func(l shoal.WorkLine) bool { return l.N <= x.n })
	if len(lines) == 0 {
		return nil
	}
	if i := slices.IndexFunc(lines, func(l shoal.WorkLine) bool { return l.Type == shoal.WorkReleased }); i >= 0 && i < len(lines)-1 {
		return lineError(lines[i+1].N, "comes after the line that releases the run")
	}
	if next := x.n + 1; lines[0].N != next {
		return shoal.E("", shoal.Conflict, fmt.Sprintf("Line %d cannot be accepted, because the last line that is stored is %d: send the lines from %d on.", lines[0].N, x.n, next))
	}
	return x.input(ctx, entriesOf(lines), lines[len(lines)-1].N)
}

func entriesOf(lines []shoal.WorkLine) []entry {
	in := make([]entry, len(lines))
	for i := range lines {
		in[i] = entry{Line: &lines[i]}
	}
	return in
}

// input applies entries and stores them with their effects, in one transaction. Afterwards
// followers receive the deltas. After an error the run must be read again.
func (x *running) input(ctx context.Context, in []entry, n int64) (err error) {
	at := shoal.Now()
	var done []entry
	var effects []compose.Effect
	var thoughts []string
	apply := func(e entry) error {
		for next := []entry{e}; len(next) > 0; next = next[1:] {
			more, err := x.machine.apply(next[0], at)
			if err != nil {
				return err
			}
			done, thoughts = merge(done, next[0]), append(thoughts, x.machine.thought...)
			effects = append(effects, more...)
			answers, err := x.askSpaces(ctx, more, e)
			if err != nil {
				return err
			}
			for _, a := range answers {
				next = append(next, entry{Space: &a})
			}
		}
		return nil
	}
	for _, e := range in {
		if err := x.checkMention(ctx, e); err != nil {
			return err
		}
		if first := x.machine.announces(e); first != nil {
			if err := apply(*first); err != nil {
				return err
			}
			again := *e.Line
			again.Args = nil // they are stored once
			e.Line = &again
		}
		if err := apply(e); err != nil {
			return err
		}
	}
	left, err := x.store(ctx, batch{at, done}, n, effects)
	if err != nil {
		return err
	}
	x.relayThoughts(thoughts)
	if len(left) > 0 {
		return x.input(ctx, left, n)
	}
	if x.machine.end == nil && slices.ContainsFunc(effects, isRequest) {
		return x.sync(ctx) // a remembered decision may have answered it already
	}
	return nil
}

// merge adds an entry to those that are stored: deltas of one text are one line.
func merge(all []entry, e entry) []entry {
	if len(all) == 0 || e.Line == nil || e.Key != "" || all[len(all)-1].Line == nil || all[len(all)-1].Key != "" {
		return append(all, e)
	}
	last, l := all[len(all)-1].Line, e.Line
	if (l.Type == shoal.WorkText || l.Type == shoal.WorkThought) && last.Type == l.Type && !last.End && last.SpaceID == l.SpaceID && last.Mention == l.Mention &&
		len(last.Delta)+len(l.Delta) <= shoal.MaxDelta {
		joined := *last
		joined.Delta, joined.N, joined.End = last.Delta+l.Delta, l.N, l.End
		all[len(all)-1].Line = &joined
		return all
	}
	return append(all, e)
}

// store stores entries with their effects. left are entries that follow from it.
func (x *running) store(ctx context.Context, b batch, n int64, effects []compose.Effect) (left []entry, err error) {
	deltas, stored, after := compose.Split(x.withDrafts(effects))
	var attempt *perform.Attempt
	released := slices.ContainsFunc(b.Entries, func(e entry) bool { return e.Line != nil && e.Line.Type == shoal.WorkReleased })
	over, status, actingFor := "", x.status, x.run.ActingFor
	err = x.s.write(ctx, x.lease, func(c *runs.RunChange) error {
		data, err := json.Marshal(b)
		if err != nil {
			return err
		}
		if err := c.AppendRunWork(x.run.SessionID, x.run.ID, storage.RunWork{Place: x.place + 1, Generation: x.claim, N: n, Data: data}); err != nil {
			return err
		}
		if attempt, err = x.perform(c, stored); err != nil {
			return err
		}
		if err := errors.Join(x.takeIn(ctx, c, b), x.announceSession(c, b)); err != nil {
			return err
		}
		if over, err = x.keep(c, b, n); err != nil {
			return err
		}
		if err := x.setStatus(c, stored); err != nil {
			return err
		}
		status, actingFor = c.Run.Status, c.Run.ActingFor
		c.Run.Awake = c.Run.Awake && c.Run.Cancel
		if released && !c.Run.Status.Ended() {
			c.Run.Owner, c.Run.LeaseUntil, c.Run.Awake = "", nil, true
			c.NotifyWork(*c.Run)
		}
		return nil
	})
	if err != nil {
		x.gone = true
		return nil, err
	}
	attempt.Apply()
	x.released = released
	x.place, x.n, x.status, x.run.ActingFor = x.place+1, n, status, actingFor
	x.relay(append(deltas, after...))
	x.beat(b)
	for _, a := range attempt.Answers() {
		left = append(left, entry{Space: &standing{a.Space, a.Target, a.Standing}})
	}
	if over != "" && x.machine.end == nil {
		left = append(left, entry{Line: &shoal.WorkLine{N: n, Type: shoal.WorkFailed, Code: "budget_exhausted", Text: over}})
	}
	return left, nil
}

// setStatus makes the run waiting_tool while it has an open request, and running otherwise.
func (x *running) setStatus(c *runs.RunChange, effects []compose.Effect) error {
	if c.Run.Status.Ended() {
		return nil
	}
	if !slices.ContainsFunc(x.machine.order, func(k *call) bool { return k.asked }) {
		return c.Start()
	}
	if c.Run.Status == shoal.RunWaitingTool && !slices.ContainsFunc(effects, isRequest) {
		return nil
	}
	return c.AwaitAction()
}

func isRequest(e compose.Effect) bool {
	_, is := e.(compose.ShowPending)
	return is
}

func (x *running) relay(effects []compose.Effect) {
	if deltas := x.output.Deltas(effects); len(deltas) > 0 {
		x.s.o.Hub.Work.Relay(x.lease, deltas)
	}
}
