package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/shoal-dev/shoal/agent"
)

// sharingParts are about several readers and writers, and about what they share.
var sharingParts = []part{
	{"what was loaded stays as it was, whatever is written later", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		type snapshot struct {
			record agent.Record
			text   any
		}
		var taken []snapshot
		look := func() {
			r := s.load()
			taken = append(taken, snapshot{r, plain(s.T, r)})
		}
		look()
		for i := range 5 {
			s.commit(ref("t", 1), calling(i, false))
			look()
			s.commit(ref("t", 1), calling(i, false, "c1"))
			look()
			s.commit(ref("t", 1), calling(i, true, "c1", "c2"))
			look()
		}
		s.must(s.store.End(s.ctx, conv, ref("t", 1), agent.TurnEnd{Outcome: agent.Waiting, At: at(3), Rules: map[string]agent.PermissionRule{"look": agent.AlwaysDeny}}))
		look()
		s.begin(turn("t", 2))
		look()
		s.must(s.store.End(s.ctx, conv, ref("t", 2), agent.TurnEnd{Outcome: agent.Completed, At: at(3), Rules: map[string]agent.PermissionRule{"look": agent.AlwaysAllow}}))
		for i, was := range taken {
			s.same(fmt.Sprintf("snapshot %d", i), was.record, was.text)
		}
	}},
	{"who appends to what was loaded does not change what is stored", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		want := []string{"m1"}
		for i := range 9 { // the capacity of the slices differs
			r := s.load()
			s.commit(ref("t", 1), answered(i))
			want = append(want, "a")
			mine, steps := append(r.Messages, say("mine")), append(r.Open.Steps, answered(99))
			if mine[i+1].ID != "mine" || steps[i].Index != 99 {
				s.Fatalf("appended are %q and step %d", mine[i+1].ID, steps[i].Index)
			}
			s.history(want...)
			for at, step := range s.load().Open.Steps {
				if step.Index != at {
					s.Errorf("step %d has the index %d", at, step.Index)
				}
			}
		}
	}},
	{"two conversations that were stored with one slice grow apart", func(s *suite) {
		shared := make([]agent.Message, 1, 8)
		shared[0] = say("m1")
		for _, id := range []string{conv, "cnv_2"} {
			s.must(s.store.Replace(s.ctx, agent.Record{ID: id, Messages: shared, CreatedAt: epoch, LastActivity: epoch}))
		}
		s.begin(turn("t", 1, say("m2")))
		s.must(s.store.Begin(s.ctx, "cnv_2", turn("t", 1, say("other"))))
		s.history("m1", "m2")
	}},
	{"of writers at once each write happens whole, one after another", func(s *suite) {
		const writers, each = 8, 10
		ctx, cancel := context.WithTimeout(s.ctx, timeLimit)
		defer cancel()
		errs := make(chan error, writers)
		var group sync.WaitGroup
		for range writers {
			group.Go(func() { errs <- addAll(ctx, s.store, each) })
		}
		group.Wait()
		for range writers {
			s.must(<-errs)
		}
		r := s.load()
		if r.Revision != writers*each || len(r.Messages) != writers*each {
			s.Errorf("revision %d with %d messages, want %d of both", r.Revision, len(r.Messages), writers*each)
		}
	}},
	{"of those who take a turn over at once one wins each attempt", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		const rivals = 8
		errs := make(chan error, rivals)
		var group sync.WaitGroup
		for range rivals {
			group.Go(func() { errs <- s.store.Begin(s.ctx, conv, turn("t", 2)) })
		}
		group.Wait()
		won := 0
		for range rivals {
			switch err := <-errs; {
			case err == nil:
				won++
			case !errors.Is(err, agent.ErrConflict):
				s.Errorf("a rival got %v, want a Conflict", err)
			}
		}
		if won != 1 {
			s.Errorf("%d rivals took the turn over, want one", won)
		}
	}},
}

// addAll adds n messages by Load and Replace, again after each ErrConflict.
func addAll(ctx context.Context, store agent.Store, n int) error {
	for n > 0 {
		r, err := store.Load(ctx, conv)
		if errors.Is(err, agent.ErrNotFound) {
			r, err = agent.Record{ID: conv, CreatedAt: epoch, LastActivity: epoch}, nil
		}
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, say(fmt.Sprint(len(r.Messages))))
		switch err := store.Replace(ctx, r); {
		case err == nil:
			n--
		case !errors.Is(err, agent.ErrConflict):
			return err
		}
	}
	return nil
}
