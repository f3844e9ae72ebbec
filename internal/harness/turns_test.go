package harness_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/harness"
)

var errGone = errors.New("the process has ended")

// One turn at a time, and what comes between two of them belongs to nobody.
func TestTurnsFollowEachOther(t *testing.T) {
	turns := harness.NewTurns()
	turns.Emit(harness.Text{Delta: "too early"})
	if err := turns.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := turns.Begin(); !errors.Is(err, harness.ErrBusy) {
		t.Errorf("a second turn: %v, want ErrBusy", err)
	}
	turns.Emit(harness.Text{Delta: "one"})
	turns.Emit(harness.Ended{Stop: harness.StopCompleted})
	turns.Emit(harness.Text{Delta: "too late"})
	if got := read(t.Context(), turns, nil, nil); !cmp.Equal(got, []any{harness.Text{Delta: "one"}, harness.Ended{Stop: harness.StopCompleted}}) {
		t.Errorf("the first turn: %v", got)
	}
	if err := turns.Begin(); err != nil {
		t.Errorf("the next turn: %v", err)
	}
	turns.Emit(harness.Text{Delta: "two"})
	turns.Fail(errGone)
	turns.Emit(harness.Text{Delta: "after the end"})
	if got := read(t.Context(), turns, nil, nil); !cmp.Equal(got, []any{harness.Text{Delta: "two"}, errGone}, cmp.Comparer(errors.Is)) {
		t.Errorf("the turn of a process that ended: %v", got)
	}
	if err := turns.Begin(); !errors.Is(err, errGone) {
		t.Errorf("a turn afterwards: %v", err)
	}
}

// A turn lasts until its reader has its end, and the next one may begin at that moment.
func TestTheNextTurnBeginsAtTheEnd(t *testing.T) {
	turns := harness.NewTurns()
	for range 10_000 {
		if err := turns.Begin(); err != nil {
			t.Fatalf("after a turn whose end was read: %v", err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			turns.Emit(harness.Ended{Stop: harness.StopCompleted})
		}()
		for _, err := range turns.Range(t.Context(), nil, nil) {
			if err = errors.Join(err, turns.Begin()); err != nil {
				t.Fatalf("at the end of a turn: %v", err)
			}
		}
		<-ended
		turns.Emit(harness.Ended{Stop: harness.StopCompleted})
		if err := turns.Begin(); !errors.Is(err, harness.ErrBusy) {
			t.Fatalf("while nobody has read the end: %v, want ErrBusy", err)
		}
		read(t.Context(), turns, nil, nil)
	}
}

// read returns the events of a turn, and its error.
func read(ctx context.Context, turns *harness.Turns, interrupt, abandon func()) (all []any) {
	for e, err := range turns.Range(ctx, interrupt, abandon) {
		if err != nil {
			return append(all, err)
		}
		all = append(all, e)
	}
	return all
}

// A turn that is canceled is interrupted once, and abandoned if it does not end.
func TestTurnsAreCanceled(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			turns := harness.NewTurns()
			if err := turns.Begin(); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			var interrupts, abandons int
			begun := time.Now()
			got := read(ctx, turns, func() {
				interrupts++
				if obeys {
					turns.Emit(harness.Ended{Stop: harness.StopCanceled})
				}
			}, func() {
				abandons++
				turns.Fail(errGone)
			})
			want, abandoned, took := []any{harness.Ended{Stop: harness.StopCanceled}}, 0, time.Duration(0)
			if !obeys {
				want, abandoned, took = []any{errGone}, 1, harness.InterruptGrace
			}
			if !cmp.Equal(got, want, cmp.Comparer(errors.Is)) || interrupts != 1 || abandons != abandoned || time.Since(begun) != took {
				t.Errorf("obeys=%v: %v, %d interrupts, %d abandons after %v", obeys, got, interrupts, abandons, time.Since(begun))
			}
		})
	}
}

// A reader that stops early ends the turn, so that the next one does not begin with its rest.
func TestTurnsEndWithTheirReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := harness.NewTurns()
		if err := turns.Begin(); err != nil {
			t.Fatal(err)
		}
		go func() {
			for range 200 { // more than a queue holds
				turns.Emit(harness.Text{Delta: "x"})
			}
			turns.Emit(harness.Ended{Stop: harness.StopCanceled})
		}()
		interrupts := 0
		for _, err := range turns.Range(t.Context(), func() { interrupts++ }, func() {}) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		if interrupts != 1 || turns.Begin() != nil {
			t.Errorf("%d interrupts; the next turn can begin: %v", interrupts, !turns.Open())
		}
	})
}

// A harness sees what it needs, and no variable that holds a key of its runner.
func TestEnviron(t *testing.T) {
	got := harness.Environ([]string{
		"PATH=/bin", "HOME=/srv/ada", "LC_ALL=C", "XDG_CONFIG_HOME=/x", "SHOAL_KEY=secret", "AWS_SECRET_ACCESS_KEY=secret",
		"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=u", "GITHUB_TOKEN=secret", "EMPTY=", "not a pair",
	}, "ANTHROPIC_*", "EMPTY")
	want := []string{
		"PATH=/bin", "HOME=/srv/ada", "LC_ALL=C", "XDG_CONFIG_HOME=/x", "ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=u", "EMPTY=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the environment (-want +got):\n%s", diff)
	}
}
