package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// simStore is a memory that is slow, fails once, or dies: from one write on it
// refuses everything, as for a process that is killed there.
type simStore struct {
	s      *simulation
	memory agent.Store

	mu       sync.Mutex
	writes   int
	failAt   int  // the write that fails, -1 for none
	dies     bool // with that write
	applied  bool // the dying write happens all the same
	dead     bool
	slow     time.Duration
	refused  map[string]bool // conversations
	shadow   map[string]string
	started  map[string]bool // calls, as of what is stored
	finished map[string]bool
}

func newSimStore(s *simulation) *simStore {
	return &simStore{
		s: s, memory: agent.NewMemory(), failAt: -1, refused: map[string]bool{}, shadow: map[string]string{},
		started: map[string]bool{}, finished: map[string]bool{},
	}
}

func (st *simStore) String() string {
	return fmt.Sprintf("store fails at %d, dies=%v applied=%v slow=%v", st.failAt, st.dies, st.applied, st.slow)
}

// mend lets everything go well.
func (st *simStore) mend() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.failAt, st.dies, st.applied, st.dead, st.slow = -1, false, false, false, 0
	clear(st.refused)
}

// disturb plans what goes wrong in the next run.
func (st *simStore) disturb() {
	st.mu.Lock()
	defer st.mu.Unlock()
	r := st.s.r
	st.writes, st.failAt, st.dies, st.applied, st.dead = 0, -1, false, false, false
	clear(st.refused)
	switch {
	case one(r, 15):
		st.failAt, st.dies, st.applied = r.IntN(10), true, one(r, 50)
	case one(r, 8):
		st.failAt = r.IntN(10)
	}
	st.slow = pick(r, 0, 0, 50*time.Millisecond)
}

func (st *simStore) refusedOf(conversation string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.refused[conversation]
}

// knows reports whether it is stored that the call may have begun, and its
// result.
func (st *simStore) knows(call string) (started, finished bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.started[call], st.finished[call]
}

// write does one write, or not.
func (st *simStore) write(ctx context.Context, conversation, what string, do func() error) error {
	st.mu.Lock()
	slow := st.slow
	st.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	n := st.writes
	st.writes++
	if st.dead || n == st.failAt && !st.applied {
		st.dead = st.dies
		st.refused[conversation] = true
		st.s.note("store refuses %s of %s", what, conversation)
		return errDisk
	}
	st.untouched(conversation)
	err := do()
	st.shadow[conversation] = st.image(conversation)
	st.s.note("store: %s of %s: %v", what, conversation, err)
	if n == st.failAt {
		st.dead = true
		st.refused[conversation] = true
		return errDisk
	}
	return err
}

// image is the record as JSON.
func (st *simStore) image(conversation string) string {
	r, err := st.memory.Load(context.Background(), conversation)
	if err != nil {
		return ""
	}
	data, err := json.Marshal(r)
	if err != nil {
		st.s.fail("the record has no JSON: %v", err)
	}
	return string(data)
}

// untouched fails when what is stored was changed without a write.
func (st *simStore) untouched(conversation string) {
	if was, is := st.shadow[conversation], st.image(conversation); was != is {
		st.s.fail("what is stored changed by itself:\n%s\n%s", was, is)
	}
}

func (st *simStore) checkUntouched() {
	st.mu.Lock()
	defer st.mu.Unlock()
	for conversation := range st.shadow {
		st.untouched(conversation)
	}
}

func (st *simStore) Load(ctx context.Context, conversation string) (agent.Record, error) {
	st.mu.Lock()
	dead := st.dead
	st.mu.Unlock()
	if dead {
		return agent.Record{}, errDisk
	}
	return st.memory.Load(ctx, conversation)
}

func (st *simStore) Begin(ctx context.Context, id string, t agent.Turn) error {
	return st.write(ctx, id, fmt.Sprintf("begin %d", t.Attempt), func() error { return st.memory.Begin(ctx, id, t) })
}

func (st *simStore) Commit(ctx context.Context, id string, ref agent.TurnRef, step agent.Step) error {
	what := fmt.Sprintf("step %d done=%v results=%d started=%d pending=%d", step.Index, step.Done, len(step.Results), len(step.Started), len(step.Pending))
	return st.write(ctx, id, what, func() error {
		err := st.memory.Commit(ctx, id, ref, step)
		if err == nil {
			for _, call := range step.Started {
				st.started[fmt.Sprint(id, ref.ID, call)] = true
			}
			for _, r := range step.Results {
				st.finished[fmt.Sprint(id, ref.ID, r.CallID)] = true
			}
		}
		return err
	})
}

func (st *simStore) End(ctx context.Context, id string, ref agent.TurnRef, end agent.TurnEnd) error {
	return st.write(ctx, id, "end "+string(end.Outcome), func() error { return st.memory.End(ctx, id, ref, end) })
}

func (st *simStore) Replace(ctx context.Context, r agent.Record) error {
	return st.write(ctx, r.ID, "replace", func() error { return st.memory.Replace(ctx, r) })
}
