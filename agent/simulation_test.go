package agent_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

var seeds = flag.Int("seeds", 0, "how many worlds the simulation tries instead of 1,500, with -short 150")

// Every world is made of one number: an agent with sub-agents, models that
// answer anything, tools that do anything, a store that fails, and an outside
// that cancels, leaves, answers and starts again. Whatever happens, what the
// package promises holds. A failure names the number: go test ./agent -run
// 'Simulation/^NUMBER$'.
func TestSimulation(t *testing.T) {
	for seed := range cmp.Or(*seeds, repeats(1500, 150)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newSimulation(t, uint64(seed)).run() })
		})
		if t.Failed() {
			return // one world at a time
		}
	}
}

// repeats is how often a test repeats what it shows, in other orders or with more of it: all, or
// few with -short.
func repeats(all, few int) int {
	if testing.Short() {
		return few
	}
	return all
}

// simulation is one world.
type simulation struct {
	t     *testing.T
	seed  uint64
	r     *rand.Rand
	store *simStore
	conv  *agent.Conversation
	opts  agent.Options
	model *simModel
	calm  atomic.Bool // nothing bad happens any more

	mu    sync.Mutex
	trace []string
	runs  map[string]int    // of tools, by call
	keys  map[string]string // of calls, and the calls of keys
	began map[string]bool
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	s := &simulation{
		t: t, seed: seed, runs: map[string]int{}, keys: map[string]string{}, began: map[string]bool{},
	}
	s.r = s.rand("world")
	s.store = newSimStore(s)
	s.conv = agent.OpenConversation(s.store, "c")
	s.opts, s.model = s.agentOptions("boss", 0)
	return s
}

// rand returns the randomness of one thing in this world, whatever the order in
// which goroutines ask.
func (s *simulation) rand(of ...any) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, of...)
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

func one(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// note adds a line to what is printed when the world fails.
func (s *simulation) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if len(line) > 300 {
		line = line[:300] + "…"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace = append(s.trace, line)
}

// fail reports a broken promise once, with how it came.
func (s *simulation) fail(format string, args ...any) {
	s.t.Helper()
	if s.t.Failed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Errorf("seed %d: %s\n%s", s.seed, fmt.Sprintf(format, args...), strings.Join(s.trace, "\n"))
}

// run lives the world to its end: some inputs, each taken to a final outcome.
func (s *simulation) run() {
	for i := range 1 + s.r.IntN(3) {
		s.calm.Store(false)
		s.store.mend()
		s.input(i)
		if s.t.Failed() {
			return
		}
	}
	s.calm.Store(true)
	s.store.mend()
	last := agent.Options{Tools: s.opts.Tools}
	a := newAgentOn(s.t, plainModel{}, last)
	if r, err := a.Run(s.t.Context(), s.conv, agent.Say("are you there?")); err != nil || r.Text() != "here" {
		s.fail("the conversation takes no input any more: %v", err)
	}
	<-time.After(time.Hour) // for abandoned tools
}

// input takes one input to a final outcome, in as many runs as it needs.
func (s *simulation) input(number int) {
	in := []agent.Message{agent.Say(fmt.Sprintf("input %d", number))}
	for round := 0; ; round++ {
		if round == 8 { // long enough: now everything goes well
			s.calm.Store(true)
			s.store.mend()
		}
		end, begun := s.turn(in)
		if s.t.Failed() || round > 30 {
			s.t.Logf("seed %d: %d runs", s.seed, round)
			return
		}
		if begun || s.load().Open != nil { // a store may die with a write that happens
			in = nil
		}
		switch {
		case !begun:
		case end.Unsaved:
			s.store.mend() // another process, another day
		case end.Outcome != agent.Waiting:
			return
		default:
			s.outside(end.Pending)
		}
		if s.discards(round) {
			return
		}
	}
}

// discards gives up a turn that goes on and on.
func (s *simulation) discards(round int) bool {
	if round < 16 && (s.calm.Load() || !one(s.r, 4)) {
		return false
	}
	s.store.mend()
	s.note("discard")
	if err := s.conv.Discard(s.t.Context()); err != nil {
		s.fail("discard: %v", err)
	}
	s.checkStored()
	return true
}

// outside answers some of the requests, and talks nonsense.
func (s *simulation) outside(pending []agent.Pending) {
	s.store.mend()
	ctx := s.t.Context()
	if one(s.r, 20) {
		if err := s.conv.Answer(ctx, agent.Answer{PendingID: "nothing", Approved: true}); !errors.Is(err, agent.ErrNotFound) {
			s.fail("an answer to no request: %v", err)
		}
	}
	for _, p := range pending {
		if !s.calm.Load() && one(s.r, 40) {
			continue
		}
		a := someAnswer(s.r, p)
		s.note("outside answers %s %+v", p.ID, a)
		if err := s.conv.Answer(ctx, a); err != nil {
			s.fail("the answer to %s: %v", p.ID, err)
			return
		}
		if err := s.conv.Answer(ctx, a); !errors.Is(err, agent.ErrConflict) {
			s.fail("the second answer to %s: %v", p.ID, err)
		}
	}
	<-time.After(pick(s.r, 0, time.Minute, 72*time.Hour))
}

// someAnswer is an answer that the request takes.
func someAnswer(r *rand.Rand, p agent.Pending) agent.Answer {
	a := agent.Answer{PendingID: p.ID}
	switch p.Kind {
	case agent.Permission:
		a.Approved = one(r, 60)
		switch {
		case a.Approved && one(r, 20):
			a.Rule = agent.AlwaysAllow
		case !a.Approved && one(r, 20):
			a.Rule = agent.AlwaysDeny
		}
	case agent.Continuation:
		a.Approved = one(r, 60)
	case agent.ClientCall:
		a.Text, a.Failed = "from outside", one(r, 30)
	case agent.Clarification:
		a.Text = "blue"
	}
	return a
}

// refused checks a run that could not begin.
func (s *simulation) refused(ctx context.Context, before agent.Record, err error) {
	s.note("refused: %v", err)
	if ctx.Err() == nil && !s.store.refusedOf(s.conv.ID()) {
		s.fail("refused without a reason: %v", err)
	}
	if after := s.load(); after.Open != nil && before.Open == nil && !s.store.applied {
		s.fail("refused, and begun in the store")
	}
	s.store.mend()
}

// after checks what a run has stored and returns how it ended, as far as that is known.
func (s *simulation) after(w *simWatcher, before agent.Record) agent.TurnFinished {
	refused := s.store.refusedOf(s.conv.ID())
	end, seen := w.end, w.ended
	w.finish()
	if !seen { // the consumer has gone
		end = agent.TurnFinished{Outcome: agent.Canceled, Unsaved: refused}
	}
	if seen && end.Unsaved != refused {
		s.fail("unsaved is %v, and that the store refused %v", end.Unsaved, refused)
	}
	if end.Unsaved && (end.Outcome != agent.Failed || end.Reason != agent.ReasonStorage) && seen {
		s.fail("unsaved, and ends as %s %s", end.Outcome, end.Reason)
	}
	record := s.checkStored()
	open := record.Open != nil
	switch {
	case end.Unsaved:
	case !seen && open && record.Open.Waiting: // it left when all was said
		end.Outcome, end.Pending = agent.Waiting, openRequests(record)
	case w.panicked && open:
		end.Outcome = agent.Failed
	case open != (end.Outcome == agent.Waiting):
		s.fail("the turn ends as %s, and open is %v", end.Outcome, open)
	case open && !record.Open.Waiting:
		s.fail("the turn waits, and the store does not know")
	}
	w.compare(record, before, end)
	return end
}

func openRequests(r agent.Record) []agent.Pending {
	var out []agent.Pending
	for _, p := range r.Open.Steps[len(r.Open.Steps)-1].Pending {
		if p.Answer == nil {
			out = append(out, p)
		}
	}
	return out
}

// load reads the record past everything that fails.
func (s *simulation) load() agent.Record {
	r, err := agent.OpenConversation(s.store.memory, s.conv.ID()).Load(s.t.Context())
	if err != nil {
		s.fail("load: %v", err)
	}
	return r
}

// checkStored fails unless what is stored is a conversation to go on from, in
// which every call has its one result.
func (s *simulation) checkStored() agent.Record {
	s.store.checkUntouched()
	r := s.load()
	if r.Revision == 0 {
		return r
	}
	ctx := s.t.Context()
	data, err := agent.OpenConversation(s.store.memory, s.conv.ID()).Export(ctx)
	if err != nil {
		s.fail("export: %v", err)
	}
	if _, err := agent.Import(ctx, agent.NewMemory(), data); err != nil { // validates
		s.fail("the record contradicts itself: %v", err)
	}
	for i, m := range r.Messages {
		var calls, results []string
		for _, c := range m.Calls() {
			calls = append(calls, c.ID)
		}
		if i+1 < len(r.Messages) {
			for _, c := range r.Messages[i+1].Results() {
				results = append(results, c.CallID)
			}
		}
		if !slices.Equal(calls, results) {
			s.fail("message %d has calls %q with results %q", i, calls, results)
		}
	}
	return r
}
