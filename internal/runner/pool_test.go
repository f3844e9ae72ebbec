package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/harness"
)

// session is a session that only starts and ends.
type session struct {
	name string
	done chan struct{}
	ends chan struct{} // if not nil, its process ends when this is closed, and not before
}

func (s *session) Turn(context.Context, string) iter.Seq2[harness.Event, error] { panic("no turns") }

func (s *session) Steer(context.Context, string, string) error { return nil }

func (s *session) Answer(context.Context, string, harness.Verdict) error { return nil }

func (s *session) Ref() string           { return s.name }
func (s *session) Done() <-chan struct{} { return s.done }

func (s *session) Close() error {
	if s.ends != nil {
		<-s.ends
	}
	if !ended(s) {
		close(s.done)
	}
	return nil
}

// poolTest is a pool with the sessions that it has started.
type poolTest struct {
	*pool
	t       *testing.T
	started []*session
}

// use acquires a session, and reports whether it was open already.
func (p *poolTest) use(name string) (s *session, warm bool) {
	p.t.Helper()
	before := len(p.started)
	found, err := p.acquire(p.t.Context(), conversation{"scout", name}, p.starting(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return found.(*session), len(p.started) == before
}

func (p *poolTest) starting(name string) func(context.Context) (harness.Session, error) {
	return func(context.Context) (harness.Session, error) {
		s := &session{name: fmt.Sprintf("%s %d", name, len(p.started)), done: make(chan struct{})}
		p.started = append(p.started, s)
		return s, nil
	}
}

func (p *poolTest) free(name string) { p.release(conversation{"scout", name}, true) }

func withPool(t *testing.T, most int, test func(p *poolTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &poolTest{pool: newPool(most, 10*time.Minute), t: t}
		test(p)
		p.stop()
		for _, s := range p.started {
			if !ended(s) {
				t.Errorf("the session %s has not ended", s.name)
			}
		}
		if _, err := p.acquire(t.Context(), conversation{"scout", "late"}, p.starting("late")); !errors.Is(err, errStopped) {
			t.Errorf("a session after the stop: %v", err)
		}
	})
}

// A session stays warm for its conversation until it was idle for long.
func TestSessionsStayWarm(t *testing.T) {
	withPool(t, 4, func(p *poolTest) {
		first, warm := p.use("lab")
		if warm {
			t.Error("the first use is warm")
		}
		p.free("lab")
		<-time.After(9 * time.Minute)
		if again, warm := p.use("lab"); again != first || !warm {
			t.Errorf("after nine minutes it is %s, warm %v", again.name, warm)
		}
		<-time.After(20 * time.Minute) // in use, it does not end
		if ended(first) {
			t.Error("it ended while it was in use")
		}
		p.free("lab")
		<-time.After(10*time.Minute + time.Second)
		synctest.Wait()
		if !ended(first) {
			t.Error("it is still open after ten idle minutes")
		}
		if next, warm := p.use("lab"); warm || next == first {
			t.Error("an ended session was used again")
		}
		p.free("lab")
	})
}

// The session of a process that has ended is not used again.
func TestEndedSessionsAreReplaced(t *testing.T) {
	withPool(t, 4, func(p *poolTest) {
		first, _ := p.use("lab")
		p.free("lab")
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if next, warm := p.use("lab"); warm || next == first {
			t.Error("a session was used whose process has ended")
		}
		p.release(conversation{"scout", "lab"}, false)
		if next, warm := p.use("lab"); warm || len(p.started) != 3 {
			t.Errorf("a session that was not to be kept was used again: %s", next.name)
		}
		p.free("lab")
	})
}

// Only so many processes run: the one that was unused the longest gives way, one in use never.
func TestSessionsAreBounded(t *testing.T) {
	withPool(t, 2, func(p *poolTest) {
		one, _ := p.use("one")
		two, _ := p.use("two")
		p.free("two")
		<-time.After(time.Second)
		p.free("one")
		if _, warm := p.use("three"); warm || !ended(two) || ended(one) {
			synctest.Wait()
			if !ended(two) || ended(one) {
				t.Errorf("ended: two %v, one %v; want the one that was unused the longest", ended(two), ended(one))
			}
		}
		p.use("one")
		got := make(chan string)
		go func() {
			s, _ := p.use("four")
			got <- s.name
		}()
		synctest.Wait()
		select {
		case name := <-got:
			t.Errorf("%s was started while all places were in use", name)
		default:
		}
		p.free("three")
		<-got
		p.free("one")
		p.free("four")
	})
}

// A place is free when the process has ended, and not when it is asked to end.
func TestANewProcessWaitsForTheEndOfAnother(t *testing.T) {
	withPool(t, 1, func(p *poolTest) {
		one, _ := p.use("one")
		one.ends = make(chan struct{})
		p.free("one")
		got := make(chan *session)
		go func() {
			s, _ := p.use("two")
			got <- s
		}()
		synctest.Wait()
		select {
		case s := <-got:
			t.Errorf("%s was started while %s was ending", s.name, one.name)
			close(one.ends)
		default:
			ctx, cancel := context.WithCancelCause(p.t.Context())
			cause := errors.New("not any more")
			cancel(cause)
			if _, err := p.acquire(ctx, conversation{"scout", "three"}, p.starting("three")); !errors.Is(err, cause) {
				t.Errorf("a caller that gives up while it waits for a place: %v", err)
			}
			close(one.ends)
			if s := <-got; s.name != "two 1" {
				t.Errorf("the place was given to %s", s.name)
			}
		}
		p.free("two")
	})
}

// A conversation is not resumed by a second process while the first is ending: both would write it.
func TestAConversationHasOneProcess(t *testing.T) {
	withPool(t, 4, func(p *poolTest) {
		first, _ := p.use("lab")
		first.ends = make(chan struct{})
		p.release(conversation{"scout", "lab"}, false)
		got := make(chan *session)
		go func() {
			s, _ := p.use("lab")
			got <- s
		}()
		synctest.Wait()
		if len(p.started) > 1 {
			t.Error("a second process was started while the first was ending")
		}
		close(first.ends)
		if s := <-got; s == first {
			t.Error("an ended session was used again")
		}
		p.free("lab")
	})
}

// Callers get places in the order in which they came: a conversation that is always busy does not
// keep the place from others.
func TestPlacesAreGivenInOrder(t *testing.T) {
	withPool(t, 1, func(p *poolTest) {
		p.use("busy")
		var order []string
		var callers sync.WaitGroup
		for _, name := range []string{"first", "busy", "last"} {
			callers.Go(func() {
				p.use(name)
				order = append(order, name) // they have the place in turn
				p.free(name)
			})
			synctest.Wait()
		}
		p.free("busy")
		callers.Wait()
		if want := []string{"first", "busy", "last"}; !slices.Equal(order, want) {
			t.Errorf("the order is %q, want %q", order, want)
		}
	})
}

// A place that was given to a caller that gives up at that moment is given to the next.
func TestGivingUpLosesNoPlace(t *testing.T) {
	withPool(t, 1, func(p *poolTest) {
		for i := range 200 {
			p.use("one")
			ctx, cancel := context.WithCancel(p.t.Context())
			var callers sync.WaitGroup
			callers.Go(func() {
				if _, err := p.acquire(ctx, conversation{"scout", "two"}, p.starting("two")); err == nil {
					p.free("two")
				}
			})
			synctest.Wait()
			if callers.Go(cancel); i%2 == 0 {
				callers.Go(func() { p.free("one") })
			} else {
				p.free("one")
			}
			callers.Wait()
			if i%3 == 0 {
				p.use("two") // a place is still there
				p.free("two")
			}
		}
	})
}

// A conversation is used by one caller at a time.
func TestConversationsAreUsedInTurn(t *testing.T) {
	withPool(t, 4, func(p *poolTest) {
		first, _ := p.use("lab")
		got := make(chan *session)
		go func() {
			s, _ := p.use("lab")
			got <- s
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(p.t.Context())
		cause := errors.New("not any more")
		cancel(cause)
		if _, err := p.acquire(ctx, conversation{"scout", "lab"}, p.starting("lab")); !errors.Is(err, cause) {
			t.Errorf("a caller that gives up: %v", err)
		}
		p.free("lab")
		if second := <-got; second != first {
			t.Error("the second caller has another session")
		}
		p.free("lab")
	})
}

// A start that fails gives its place back.
func TestFailedStartsTakeNoPlace(t *testing.T) {
	withPool(t, 1, func(p *poolTest) {
		broken := errors.New("no such program")
		for range 3 {
			_, err := p.acquire(p.t.Context(), conversation{"scout", "lab"}, func(context.Context) (harness.Session, error) { return nil, broken })
			if !errors.Is(err, broken) {
				t.Errorf("%v, want the error of the start", err)
			}
		}
		p.use("lab")
		p.free("lab")
	})
}

// A ref is used by the same kind of agent in the same directory alone, and outlives the runner.
func TestRefs(t *testing.T) {
	path := t.TempDir() + "/conversations.json"
	r, err := openRefs(path)
	if err != nil {
		t.Fatal(err)
	}
	lab := conversation{"scout", "lab"}
	if err := r.put(lab, "codex", "/srv/shop", "r1", mark{Run: "run_1", State: stageGiven}); err != nil {
		t.Fatal(err)
	}
	if r, err = openRefs(path); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ agent, name, kind, dir, want string }{
		{"scout", "lab", "codex", "/srv/shop", "r1"},
		{"scout", "lab", "claude-code", "/srv/shop", ""},
		{"scout", "lab", "codex", "/srv/other", ""},
		{"scout", "ops", "codex", "/srv/shop", ""},
		{"other", "lab", "codex", "/srv/shop", ""},
	} {
		if got := r.get(conversation{c.agent, c.name}, c.kind, c.dir); got != c.want {
			t.Errorf("%v: %q", c, got)
		}
	}
	begun := mark{Run: "run_1", State: stageBegun, AtWork: []markedCall{{"1", "make"}}}
	if err := r.put(lab, "codex", "/srv/shop", "", begun); err != nil {
		t.Fatal(err)
	}
	for i := range maxMarks {
		got, found := r.mark(lab, "codex", "/srv/shop", "run_1")
		if diff := cmp.Diff(begun, got); diff != "" || !found {
			t.Errorf("the mark of run_1 (-want +got):\n%s", diff)
		}
		for _, dir := range []string{"/srv/shop", "/srv/other"} {
			if got, found := r.mark(lab, "codex", dir, "run_9"); found {
				t.Errorf("in %s: %+v", dir, got)
			}
		}
		if err := r.put(lab, "codex", "/srv/shop", "", mark{Run: fmt.Sprint("more_", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, found := r.mark(lab, "codex", "/srv/shop", "run_1"); found || r.get(lab, "codex", "/srv/shop") != "r1" {
		t.Errorf("after %d more runs the first is still remembered, or the conversation is not", maxMarks)
	}
	err = r.put(lab, "codex", "/srv/shop", "r2", mark{})
	if _, found := r.mark(lab, "codex", "/srv/shop", "more_9"); err != nil || found {
		t.Errorf("another conversation has the messages of the one before (%v)", err)
	}
	r.all["busy"] = map[string]ref{}
	for i := range maxRefs - 1 {
		r.all["busy"][fmt.Sprint(i)] = ref{Ref: "r", Kind: "codex", Dir: "/srv/shop", Used: time.Now()}
	}
	if err := r.put(conversation{"busy", "last"}, "codex", "/srv/shop", "r", mark{}); err != nil {
		t.Fatal(err)
	}
	if got := r.get(lab, "codex", "/srv/shop"); got != "" || r.get(conversation{"busy", "0"}, "codex", "/srv/shop") == "" {
		t.Errorf("the oldest of %d refs was not forgotten: %q", maxRefs+1, got)
	}
	if err := r.forget(conversation{"busy", "0"}); err != nil || r.get(conversation{"busy", "0"}, "codex", "/srv/shop") != "" {
		t.Errorf("a forgotten ref is still there (%v)", err)
	}
}

// A message that an earlier process was given stays in the queue: this one may have it already, and its
// own turn says so.
func TestAMessageIsGivenToOneProcess(t *testing.T) {
	steers := make(chan Steer)
	ctx, stop := context.WithCancel(t.Context())
	one := &turn{steers: steers, has: func(run string) bool { return run == "run_2" }, remember: func(m mark) error {
		t.Errorf("the agent is given %+v", m)
		return nil
	}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		one.steer(ctx) // it has no session, so it would panic
	}()
	steers <- Steer{Run: "run_2", Prompt: "Hurry."}
	stop()
	<-done
}
