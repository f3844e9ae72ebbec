package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// faultyLine is the connection of one client that is disturbed while the others are intact.
type faultyLine struct {
	*faultproxy.Proxy
	dice   *rand.Rand
	broken int64 // connections that were slow or silent and then reset
}

// patterns are texts in responses and events after which a connection is reset.
var patterns = []string{`"id"`, `"cursor"`, `"messages"`, "event: message.created", "data: ", "HTTP/1.1 200", "\r\n\r\n"}

// injectFaults injects one fault after the other into the connection until ctx ends, and then
// repairs it.
func (l *faultyLine) injectFaults(ctx context.Context) {
	cut := func(b faultproxy.Fault) (faultproxy.Fault, faultproxy.Fault) { return faultproxy.Fault{}, b }
	for ctx.Err() == nil {
		resets := false
		switch l.dice.IntN(8) {
		case 0:
			l.Harm(faultproxy.Fault{Gate: faultproxy.After(l.dice.IntN(1500))}, faultproxy.Fault{})
		case 1, 2:
			l.Harm(cut(faultproxy.Fault{Gate: faultproxy.After(l.dice.IntN(3000))}))
		case 3, 4:
			l.Harm(cut(faultproxy.Fault{Gate: faultproxy.On([]byte(patterns[l.dice.IntN(len(patterns))]))}))
		case 5:
			l.Harm(cut(faultproxy.Fault{Rate: 1}))
			resets = true
		case 6:
			// Half open: one side has disconnected, and the other side does not notice.
			l.Harm(faultproxy.Fault{Silent: l.dice.IntN(2) == 0}, faultproxy.Fault{Silent: true})
			resets = true
		case 7:
			l.Harm(cut(faultproxy.Fault{Delay: time.Duration(l.dice.IntN(30)) * time.Millisecond}))
		}
		crowd.Pause(ctx, 40*time.Millisecond+time.Duration(l.dice.Int64N(int64(160*time.Millisecond))))
		if resets {
			l.broken += int64(l.Reset())
		}
	}
	l.Heal()
	l.Reset()
}

// weaken gives those clients a faulty connection of their own that can handle it:
// writers, waiters that acknowledge with a cursor, and readers that reconnect. A waiter
// that acknowledges by waiting again loses the batch if a written response does not reach
// it, so those waiters are not included.
func (w *world) addFaultyLines(t *testing.T, seed uint64) (lines []*faultyLine, writers []*crowd.Writer, waiters []*crowd.Waiter) {
	t.Helper()
	line := func() *faultyLine {
		l := &faultyLine{Proxy: faultproxy.New(t, "tcp", w.server.Addr), dice: random(seed, uint64(10_000+len(lines)))}
		lines = append(lines, l)
		return l
	}
	behind := func(s crowd.Speaker) {
		url := "http://" + line().Addr()
		switch s := s.(type) {
		case crowd.RestSpeaker:
			s.URL = url
		case crowd.MCPSpeaker:
			s.URL = url
		}
	}
	for i, x := range w.Writers {
		if i%2 == 1 {
			behind(x.Speaker)
			writers = append(writers, x)
		}
	}
	for _, x := range w.Waiters {
		if !x.Implicit {
			behind(x.Speaker)
			waiters = append(waiters, x)
		}
	}
	for _, x := range w.Readers {
		if x.Lasting {
			continue
		}
		c, err := client.New(client.Options{URL: "http://" + line().Addr(), Key: w.NewKey(t, shoal.EntityID(strings.Fields(x.Stream.Name)[0]))})
		if err != nil {
			t.Fatal(err)
		}
		x.Session = c.Session(shoal.DefaultSession)
	}
	return lines, writers, waiters
}

// Clients are slow, silent or disconnected in the middle of requests and responses: each
// still gets everything, and the others are not affected.
func TestCutClients(t *testing.T) {
	seed := randomSeed(t)
	s := program.NewServer(t, productBinary(t))
	s.Start(t)
	w := newWorld(t, s, seed, 0)
	lines, writers, waiters := w.addFaultyLines(t, seed)
	calm := func() { crowd.Pause(t.Context(), 10*minLife) }
	for n := 0; n < 5 && !allSticky(waiters); n++ {
		w.live(t, 10*minLife, calm) // a key that has never sent a cursor acknowledges by waiting
	}
	if !allSticky(waiters) {
		t.Fatal("some waiters have not acknowledged with a cursor: this machine is too busy")
	}
	w.HTTP.CloseIdleConnections()
	idle := w.serverMetrics(t)
	want := int64(times(t, "SHOAL_CUT_CLIENTS", 300))
	harmed := func() (n int64) {
		for _, l := range lines {
			n += l.Cuts() + l.broken
		}
		return n
	}
	for began := time.Now(); harmed() < want && len(w.Found) == 0; {
		if time.Since(began) > 3*crowd.SettleLimit+time.Duration(want)*50*time.Millisecond {
			t.Fatalf("only %d of %d faults were injected in %v", harmed(), want, time.Since(began))
		}
		l := w.liveWithFaultyLines(t, lines, writers, waiters, 3*time.Second)
		if l.died {
			w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", s.Process.ProcessState))
		}
		w.Check(t, false)
	}
	o := outcome{fault: "slow, silent and disconnected clients", count: int(harmed())}
	w.HTTP.CloseIdleConnections()
	o.found = append(o.found, w.exceeding(t, idle, wideBounds)...)
	w.finish(t)
	h := w.Harm()
	o.found = append(o.found, w.Found...)
	o.operations, o.slowest, o.note = w.Operations(), s.Slowest, h.String()
	if h.CutPosts == 0 || h.CutWaits == 0 || h.Redelivered == 0 {
		t.Errorf("the faults had no effect: %v", h)
	}
	report(t, o)
}

func allSticky(waiters []*crowd.Waiter) bool {
	for _, x := range waiters {
		if !x.Sticky {
			return false
		}
	}
	return true
}

// liveWithFaultyLines runs all clients, including those with faulty connections, which retry
// whenever they are disconnected.
func (w *world) liveWithFaultyLines(t *testing.T, lines []*faultyLine, writers []*crowd.Writer, waiters []*crowd.Waiter, lasts time.Duration) lifeResult {
	t.Helper()
	all, allWaiters := w.Writers, w.Waiters
	defer func() { w.Writers, w.Waiters = all, allWaiters }()
	w.Writers = slices.DeleteFunc(slices.Clone(all), func(x *crowd.Writer) bool { return slices.Contains(writers, x) })
	w.Waiters = slices.DeleteFunc(slices.Clone(allWaiters), func(x *crowd.Waiter) bool { return slices.Contains(waiters, x) })
	return w.live(t, minLife, func() {
		ctx, cancel := context.WithTimeout(t.Context(), lasts)
		defer cancel()
		var running sync.WaitGroup
		for _, l := range lines {
			running.Go(func() { l.injectFaults(ctx) })
		}
		for _, x := range writers {
			running.Go(func() {
				for crowd.Pause(ctx, crowd.ThinkTime) {
					x.Run(ctx)
				}
			})
		}
		for _, x := range waiters {
			running.Go(func() {
				for crowd.Pause(ctx, crowd.ThinkTime) {
					x.Run(ctx, w.server.Life)
				}
			})
		}
		running.Wait()
	})
}
