package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	crowdWaiters = 10_000
	crowdReaders = 2000
	crowdRooms   = crowdWaiters / idleRoom
	// crowdWait is the duration of a wait before it is renewed.
	crowdWait = 60 * time.Second
	// crowdIdle is the time during which waits are only renewed.
	crowdIdle = 30 * time.Second
	// crowdLate is the time within which the last waiter must wake.
	crowdLate = 20 * time.Second
	// crowdAgain is the time during which duplicate wake-ups are counted.
	crowdAgain = 2 * time.Second
	crowdMiB   = 512

	mibResident = "MiB resident"
	mibMost     = "peak MiB"
	cpuPercent  = "CPU % of a core"
	renewals    = "renewals/s"
	wokenCol    = "woken"
	missedCol   = "not woken"
	twiceCol    = "woken twice"
	aloneP50    = "p50 µs, one waiter alone"
	amongP50    = "p50 µs, one of all"
)

// crowd measures very many waiting agents and stream readers: their cost while nothing
// happens, and that each agent is woken exactly once.
func (r *run) crowd(ctx context.Context) error {
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("%s waiting agents and %s stream readers", report.Thousands(crowdWaiters), report.Thousands(crowdReaders)),
		Note: fmt.Sprintf("Each client has a connection of its own; a wait lasts %v and is renewed if it ends without a message. CPU is the server's during %v without other activity. "+
			"Then every agent is mentioned once, in %s concurrent posts; every reader follows one of the %d spaces that these posts go to. Memory is the resident set.", crowdWait, crowdIdle, report.Thousands(2*crowdRooms), crowdRooms),
		Shown: []string{mibResident, mibMost, cpuPercent, renewals, wokenCol, missedCol, twiceCol, lostEvents, report.P50, report.P99, aloneP50, amongP50},
	})
	data := r.NewPath("crowd")
	w, services, err := r.crowdWorld(ctx, data)
	if err != nil {
		return err
	}
	if r.Wants(restRow) {
		if err := r.crowdRound(ctx, t.Row(restRow), data, w, services); err != nil {
			return err
		}
		found := t.Row(restRow)
		r.Report.AtMost(crowdMiB, "MiB", found.Value(mibResident), t.Title+", memory while waiting")
		r.Report.AtMost(25, "% of a core", found.Value(cpuPercent), t.Title+", CPU")
		r.Report.AtMost(0, "agents", found.Value(missedCol), t.Title+", not woken")
		r.Report.AtMost(0, "agents", found.Value(twiceCol), t.Title+", woken twice")
		r.Report.AtMost(0, "events", found.Value(lostEvents), t.Title+", lost")
		r.Report.TargetAtMost(1.5, "× one waiter alone", found.Value(amongP50)/found.Value(aloneP50), t.Title+", waking one of them, p50")
	}
	return r.waitsInMemory(ctx, data, w)
}

// crowdWorld creates the agents with a server process of its own, which is not measured.
func (r *run) crowdWorld(ctx context.Context, data string) (w *load.World, services []string, err error) {
	p, err := r.StartShoal(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	defer p.Stop()
	if w, err = newWorld(ctx, p, crowdWaiters+2); err != nil {
		return nil, nil, err
	}
	both := []shoal.EntityID{load.AgentID(2 * crowdPair), load.AgentID(2*crowdPair + 1)}
	if _, err = w.Session.CreateSpace(ctx, shoal.NewSpace{ID: load.SpaceID(crowdPair), Name: "Apart", Members: both}); err != nil {
		return nil, nil, err
	}
	if err = w.Rooms(ctx, crowdRooms, idleRoom); err == nil {
		services, err = w.Services(ctx, crowdReaders)
	}
	return w, services, err
}

func (r *run) crowdRound(ctx context.Context, into *report.Row, data string, w *load.World, services []string) (err error) {
	p, err := r.StartShoal(ctx, data)
	if err != nil {
		return err
	}
	defer p.Stop()
	rest := load.RESTOf(load.NewWire(p.URL()), w, crowdPair+1)
	if err := crowdWake(ctx, into, rest, aloneP50); err != nil {
		return err
	}
	readers := &fan{Side: &restSide{rest, p}, Readers: new(load.Readers), connect: func(c net.Conn, i int) error {
		return request(c, http.MethodGet, w.EventsPath(load.SpaceID(i%crowdRooms)), load.StreamHeader(services[i/load.StreamsEach]), nil)
	}}
	defer readers.Close()
	for i := range crowdReaders {
		if err := readers.follow(i); err != nil {
			return err
		}
	}
	waiters := &waiterCrowd{addr: p.Addr, world: w, woken: make([]atomic.Int32, crowdWaiters)}
	defer func() { err = errors.Join(err, waiters.close()) }()
	if err := waiters.open(ctx); err != nil {
		return err
	}
	if err := waiters.idle(ctx, into, p); err != nil {
		return err
	}
	if err := crowdWake(ctx, into, rest, amongP50); err != nil {
		return err
	}
	if err := wakeRooms(ctx, rest); err != nil {
		return err
	}
	waiters.count(ctx, into)
	into.Add(lostEvents, float64(2*crowdReaders)-float64(readers.Seen()))
	most, err := process.Resident(p.PID(), "VmHWM")
	into.Add(mibMost, most/(1<<20))
	return err
}

// crowdPair is the pair outside of the crowd that measures the time to wake one of many
// waiters.
const crowdPair = crowdWaiters / 2

// onlyPair maps pair 0 to crowdPair.
type onlyPair struct{ *load.REST }

func (o onlyPair) Send(ctx context.Context, i int, text string, wake bool) error {
	return o.REST.Send(ctx, crowdPair+i, text, wake)
}

func (o onlyPair) Wait(ctx context.Context, i int) ([]byte, error) {
	return o.REST.Wait(ctx, crowdPair+i)
}

// crowdWake measures the time to wake one agent.
func crowdWake(ctx context.Context, into *report.Row, rest *load.REST, metric string) error {
	for round := range 3 {
		took, err := load.Wake(ctx, onlyPair{rest}, 1, wakeTimes)
		if err != nil {
			return err
		}
		if round > 0 {
			into.Add(metric, load.Percentile(took, 50))
		}
	}
	return nil
}

// wakeRooms mentions every agent once: in each room the first agent mentions all others,
// and the second one mentions the first.
func wakeRooms(ctx context.Context, rest *load.REST) error {
	var posting sync.WaitGroup
	failed := make([]error, 8)
	for k := range failed {
		posting.Go(func() {
			for room := k; room < crowdRooms && failed[k] == nil; room += len(failed) {
				var others []shoal.EntityID
				for n := 1; n < idleRoom; n++ {
					others = append(others, load.AgentID(room*idleRoom+n))
				}
				first := room * idleRoom
				failed[k] = errors.Join(
					rest.PostTo(ctx, first, load.SpaceID(room), load.Marked(), others),
					rest.PostTo(ctx, first+1, load.SpaceID(room), load.Marked(), []shoal.EntityID{load.AgentID(first)}),
				)
			}
		})
	}
	posting.Wait()
	return errors.Join(failed...)
}
