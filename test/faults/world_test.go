package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// world is a server and all of its clients.
type world struct {
	*crowd.Crowd
	server *program.Server
	atWork int // rounds in which runs were in progress at the fault
}

// newWorld creates all clients of a running server.
func newWorld(t *testing.T, s *program.Server, seed uint64, agents int) *world {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(s.Data, "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	return &world{Crowd: crowd.New(t, crowd.Options{URL: s.URL(), Key: strings.TrimSpace(string(key)), Seed: seed, Agents: agents}), server: s}
}

// lifeResult describes a life of the server: the time for which it was used, and the
// number of responses in that time.
type lifeResult struct {
	used    time.Duration
	answers int64
	died    bool // the server exited by itself
}

func (l lifeResult) rate() float64 { return float64(l.answers) / max(l.used.Seconds(), 1e-3) }

// live runs all clients, calls strike to inject the fault, and then stops the clients. It
// strikes after the given time from the first acknowledged post, or later, as soon as the
// clients got as many responses as at minRate in this time: on a busy machine. It does not
// call strike if the server has exited before.
func (w *world) live(t *testing.T, life time.Duration, strike func()) (l lifeResult) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	select {
	case <-w.Busy: // a value of an earlier life
	default:
	}
	var running sync.WaitGroup
	for _, x := range w.Writers {
		running.Go(func() { x.Run(ctx) })
	}
	for _, x := range w.Waiters {
		running.Go(func() { x.Run(ctx, w.server.Life) })
	}
	for _, x := range w.Readers {
		if !x.Lasting {
			running.Go(func() { x.Run(ctx) })
		}
	}
	running.Go(func() { w.TimelineReader.Run(ctx) })
	if w.Work != nil {
		for _, x := range w.Work.Jobbers {
			running.Go(func() { x.Run(ctx) })
		}
	}
	select {
	case <-w.Busy:
	case <-w.server.Ended:
	case <-time.After(crowd.SettleLimit):
		w.Found = append(w.Found, "lost: no client can post")
	}
	began, before := time.Now(), w.Answers.Load()
	l.died = !w.underLoad(life, before+int64(minRate*life.Seconds()))
	l.used, l.answers = time.Since(began), w.Answers.Load()-before
	if !l.died {
		strike()
	}
	cancel()
	running.Wait()
	return l
}

// underLoad waits for a time and for a number of responses to all clients. It reports
// whether the server still runs.
func (w *world) underLoad(life time.Duration, answers int64) bool {
	end, late := time.After(life), time.After(life+crowd.SettleLimit)
	for {
		select {
		case <-w.server.Ended:
			return false
		case <-late:
			w.Found = append(w.Found, fmt.Sprintf("slow: %d responses are missing after %v of load", answers-w.Answers.Load(), life+crowd.SettleLimit))
			return true
		case <-end:
			if w.Answers.Load() >= answers {
				return true
			}
			end = time.After(5 * time.Millisecond)
		}
	}
}

// finish settles, checks everything for the last time, stops the server, and checks its
// database.
func (w *world) finish(t *testing.T) {
	t.Helper()
	if len(w.Found) > 0 {
		return
	}
	w.Settle(t, w.server.Life)
	if !w.Check(t, true) {
		return
	}
	w.CheckReread(t.Context())
	w.CheckSearch(t.Context())
	if w.Work != nil {
		w.Found = append(w.Found, w.Work.Check(t.Context())...)
	}
	if wrong := w.server.Stop(); wrong != "" {
		w.Found = append(w.Found, wrong)
	}
	w.Close()
	w.Found = append(w.Found, checkDatabase(t.Context(), w.server)...)
	if w.server.Slowest > program.RestartLimit {
		w.Found = append(w.Found, fmt.Sprintf("slow: the slowest restart took %v until the first response, want at most %v", w.server.Slowest, program.RestartLimit))
	}
}
