package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal/agent"
)

// made stores conversations whose LastActivity is at those minutes.
func (s *suite) made(minutes map[string]int) {
	s.Helper()
	for id, minute := range minutes {
		s.must(s.store.Replace(s.ctx, agent.Record{ID: id, CreatedAt: epoch, LastActivity: at(minute), Messages: []agent.Message{say("of " + id)}}))
	}
}

func (s *suite) list(after agent.Listed, limit int) []agent.Listed {
	s.Helper()
	out, err := s.store.(agent.Lister).List(s.ctx, after, limit)
	s.must(err)
	return out
}

// listed checks the ids of all conversations, in the order of the list.
func (s *suite) listed(want ...string) {
	s.Helper()
	if got := listedIDs(s.list(agent.Listed{}, 1000)); !slices.Equal(got, want) {
		s.Errorf("the list has %q, want %q", got, want)
	}
}

func listedIDs(list []agent.Listed) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].ID)
	}
	return out
}

var listParts = []part{
	{"List of an empty store is empty", func(s *suite) { s.listed() }},
	{"List says what the record says", func(s *suite) {
		want := full()
		s.must(s.store.Replace(s.ctx, want))
		got := s.list(agent.Listed{}, 10)
		if len(got) != 1 {
			s.Fatalf("the list has %d conversations, want 1", len(got))
		}
		s.same("the conversation in the list", got[0], agent.Listed{
			ID: conv, DisplayName: want.DisplayName, Parent: want.Parent, CreatedAt: want.CreatedAt, LastActivity: want.LastActivity,
			Messages: len(want.Messages), Open: true, Waiting: true,
		})
	}},
	{"List follows each write of a turn", func(s *suite) {
		check := func(minute, messages int, open, waiting bool) {
			s.Helper()
			s.same("the list", s.list(agent.Listed{}, 10), []agent.Listed{
				{ID: conv, CreatedAt: at(1), LastActivity: at(minute), Messages: messages, Open: open, Waiting: waiting},
			})
		}
		s.begin(turn("t", 1, say("m1")))
		check(1, 1, true, false)
		s.commit(ref("t", 1), calling(0, false, "c1"))
		check(2, 1, true, false)
		s.end(ref("t", 1), agent.Waiting)
		check(3, 1, true, true)
		s.begin(turn("t", 2))
		check(3, 1, true, false)
		s.commit(ref("t", 2), calling(0, true, "c1", "c2"))
		check(3, 3, true, false)
		s.end(ref("t", 2), agent.Completed)
		check(3, 3, false, false)
	}},
	{"List has the latest first, and ids in the order of their bytes at the same time", func(s *suite) {
		s.made(map[string]int{"old": 1, "b": 5, "B": 5, "ä": 5, "a": 5, "_": 5, "new": 9})
		s.listed("new", "B", "_", "a", "b", "ä", "old")
	}},
	{"List goes on after the last one, also if that one is gone or was written", func(s *suite) {
		s.made(map[string]int{"a": 5, "b": 5, "c": 5, "d": 4, "e": 4, "f": 3})
		var all []string
		var last agent.Listed
		for {
			page := s.list(last, 2)
			if len(page) == 0 {
				break
			}
			all = append(all, listedIDs(page)...)
			last = page[len(page)-1]
		}
		if want := []string{"a", "b", "c", "d", "e", "f"}; !slices.Equal(all, want) {
			s.Errorf("the pages have %q, want %q", all, want)
		}
		page := s.list(agent.Listed{}, 2)
		r, err := s.store.Load(s.ctx, "b")
		s.must(err)
		r.LastActivity = at(9)
		s.must(s.store.Replace(s.ctx, r))
		if got := listedIDs(s.list(page[1], 2)); !slices.Equal(got, []string{"c", "d"}) {
			s.Errorf("after %q comes %q, want c and d", page[1].ID, got)
		}
	}},
	{"List and Expire refuse limits that are out of range", func(s *suite) {
		for _, limit := range []int{-1, 0, 1001} {
			s.refuses(agent.ErrInvalidArgument, func() error {
				_, err := s.store.(agent.Lister).List(s.ctx, agent.Listed{}, limit)
				return err
			})
			if e, ok := s.store.(agent.Expirer); ok {
				s.refuses(agent.ErrInvalidArgument, func() error { _, err := e.Expire(s.ctx, at(9), limit); return err })
			}
		}
	}},
}

var deleteParts = []part{
	{"Delete of a conversation that is not there is NotFound", func(s *suite) {
		s.refuses(agent.ErrNotFound, func() error { return s.store.(agent.Deleter).Delete(s.ctx, "cnv_none") })
	}},
	{"Delete removes one conversation with everything in it", func(s *suite) {
		s.must(s.store.Replace(s.ctx, full()))
		s.made(map[string]int{"other": 1})
		s.must(s.store.(agent.Deleter).Delete(s.ctx, conv))
		if _, err := s.store.Load(s.ctx, conv); !errors.Is(err, agent.ErrNotFound) {
			s.Errorf("Load after Delete returned %v, want a NotFound", err)
		}
		s.refuses(agent.ErrNotFound, func() error { return s.store.(agent.Deleter).Delete(s.ctx, conv) })
		s.begin(turn("t", 1, say("m9")))
		s.same("the conversation made anew", s.load(), agent.Record{
			ID: conv, Revision: 1, CreatedAt: at(1), LastActivity: at(1), Messages: []agent.Message{say("m9")},
			Open: &agent.OpenTurn{Turn: turn("t", 1, say("m9"))},
		})
		if r, err := s.store.Load(s.ctx, "other"); err != nil || !slices.Equal(ids(r.Messages), []string{"of other"}) {
			s.Errorf("the other conversation has %q, %v", ids(r.Messages), err)
		}
	}},
	{"after Delete the open turn can write no more", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, false, "c1"))
		before := s.load()
		s.must(s.store.(agent.Deleter).Delete(s.ctx, conv))
		s.refuses(agent.ErrConflict, func() error { return s.store.Commit(s.ctx, conv, ref("t", 1), calling(0, true, "c1", "c2")) })
		s.refuses(agent.ErrConflict, func() error {
			return s.store.End(s.ctx, conv, ref("t", 1), agent.TurnEnd{Outcome: agent.Completed, At: at(3)})
		})
		s.refuses(agent.ErrConflict, func() error { return s.store.Begin(s.ctx, conv, turn("t", 2)) })
		s.refuses(agent.ErrConflict, func() error { return s.store.Replace(s.ctx, before) })
	}},
	{"of those who delete and write at once each finds a whole conversation or none", func(s *suite) {
		ctx, cancel := context.WithTimeout(s.ctx, timeLimit)
		defer cancel()
		const writers, each = 4, 20
		errs := make(chan error, 2*writers)
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				var err error
				for n := 0; n < each && err == nil; n++ {
					id := fmt.Sprint(w, ".", n)
					err = s.store.Begin(ctx, conv, turn(id, 1, say(id)))
					if err == nil {
						err = s.store.End(ctx, conv, ref(id, 1), agent.TurnEnd{Outcome: agent.Completed, At: at(3)})
					}
					if errors.Is(err, agent.ErrConflict) {
						err = nil // another's turn is open, or the conversation was deleted
					}
				}
				errs <- err
			})
			group.Go(func() {
				var err error
				for n := 0; n < each && err == nil; n++ {
					if err = s.store.(agent.Deleter).Delete(ctx, conv); errors.Is(err, agent.ErrNotFound) {
						err = nil
					}
				}
				errs <- err
			})
		}
		group.Wait()
		for range 2 * writers {
			s.must(<-errs)
		}
		r, err := s.store.Load(s.ctx, conv)
		if err == nil && (r.Revision < 1 || len(r.Messages) == 0 || r.Open == nil && r.Revision != 2*int64(len(r.Messages))) {
			s.Errorf("at revision %d it has %d messages and the open turn %v", r.Revision, len(r.Messages), r.Open)
		} else if err != nil && !errors.Is(err, agent.ErrNotFound) {
			s.Error(err)
		}
	}},
	{"a context that has ended stops List, Delete and Expire", func(s *suite) {
		s.made(map[string]int{conv: 1})
		ended, cancel := context.WithCancel(s.ctx)
		cancel()
		got := map[string]error{"Delete": s.store.(agent.Deleter).Delete(ended, conv)}
		if l, ok := s.store.(agent.Lister); ok {
			_, got["List"] = l.List(ended, agent.Listed{}, 10)
		}
		if e, ok := s.store.(agent.Expirer); ok {
			_, got["Expire"] = e.Expire(ended, at(99), 10)
		}
		for name, err := range got {
			if !errors.Is(err, context.Canceled) {
				s.Errorf("%s returned %v, want the context's error", name, err)
			}
		}
		s.history("of " + conv)
	}},
}

var expireParts = []part{
	{"Expire deletes what was not used since then, the oldest first, up to the limit", func(s *suite) {
		s.made(map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})
		expire := func(minute, limit, want int) {
			s.Helper()
			n, err := s.store.(agent.Expirer).Expire(s.ctx, at(minute), limit)
			s.must(err)
			if n != want {
				s.Errorf("%d conversations expired, want %d", n, want)
			}
		}
		gone := func(ids ...string) {
			s.Helper()
			for _, id := range ids {
				if _, err := s.store.Load(s.ctx, id); !errors.Is(err, agent.ErrNotFound) {
					s.Errorf("Load of %s returned %v, want a NotFound", id, err)
				}
			}
		}
		expire(4, 2, 2)
		gone("a", "b")
		expire(4, 2, 1) // d was used at that time, not before it
		gone("c")
		expire(4, 2, 0)
		for _, id := range []string{"d", "e"} {
			if _, err := s.store.Load(s.ctx, id); err != nil {
				s.Errorf("%s is gone: %v", id, err)
			}
		}
	}},
	{"Expire takes open turns, too, which can write no more", func(s *suite) {
		s.begin(turn("t", 1, say("m1")))
		s.commit(ref("t", 1), calling(0, false, "c1"))
		s.end(ref("t", 1), agent.Waiting)
		n, err := s.store.(agent.Expirer).Expire(s.ctx, at(4), 10)
		s.must(err)
		if n != 1 {
			s.Errorf("%d conversations expired, want 1", n)
		}
		s.refuses(agent.ErrConflict, func() error { return s.store.Begin(s.ctx, conv, turn("t", 2)) })
	}},
}
