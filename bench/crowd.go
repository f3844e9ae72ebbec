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
	t := r.report.add(&table{
		title: fmt.Sprintf("%s waiting agents and %s stream readers", thousands(crowdWaiters), thousands(crowdReaders)),
		note: fmt.Sprintf("Each client has a connection of its own; a wait lasts %v and is renewed if it ends without a message. CPU is the server's during %v without other activity. "+
			"Then every agent is mentioned once, in %s concurrent posts; every reader follows one of the %d spaces that these posts go to. Memory is the resident set.", crowdWait, crowdIdle, thousands(2*crowdRooms), crowdRooms),
		shown: []string{mibResident, mibMost, cpuPercent, renewals, wokenCol, missedCol, twiceCol, lostEvents, p50, p99, aloneP50, amongP50},
	})
	data := r.newPath("crowd")
	w, services, err := r.crowdWorld(ctx, data)
	if err != nil {
		return err
	}
	if err := r.crowdRound(ctx, t.row(restRow), data, w, services); err != nil {
		return err
	}
	found := t.row(restRow)
	r.report.atMost(crowdMiB, "MiB", found.value(mibResident), t.title+", memory while waiting")
	r.report.atMost(25, "% of a core", found.value(cpuPercent), t.title+", CPU")
	r.report.atMost(0, "agents", found.value(missedCol), t.title+", not woken")
	r.report.atMost(0, "agents", found.value(twiceCol), t.title+", woken twice")
	r.report.atMost(0, "events", found.value(lostEvents), t.title+", lost")
	r.report.targetAtMost(1.5, "× one waiter alone", found.value(amongP50)/found.value(aloneP50), t.title+", waking one of them, p50")
	return r.waitsInMemory(ctx, data, w)
}

// crowdWorld creates the agents with a server process of its own, which is not measured.
func (r *run) crowdWorld(ctx context.Context, data string) (w *load.World, services []string, err error) {
	p, err := r.startShoal(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	defer p.stop()
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

func (r *run) crowdRound(ctx context.Context, into *row, data string, w *load.World, services []string) (err error) {
	p, err := r.startShoal(ctx, data)
	if err != nil {
		return err
	}
	defer p.stop()
	rest := load.RESTOf(load.NewWire(p.url()), w, crowdPair+1)
	if err := crowdWake(ctx, into, rest, aloneP50); err != nil {
		return err
	}
	readers := &fan{side: &restSide{rest, p}, Readers: new(load.Readers), connect: func(c net.Conn, i int) error {
		return request(c, http.MethodGet, w.EventsPath(load.SpaceID(i%crowdRooms)), load.StreamHeader(services[i/load.StreamsEach]), nil)
	}}
	defer readers.Close()
	for i := range crowdReaders {
		if err := readers.follow(i); err != nil {
			return err
		}
	}
	waiters := &waiterCrowd{addr: p.addr, world: w, woken: make([]atomic.Int32, crowdWaiters)}
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
	into.add(lostEvents, float64(2*crowdReaders)-float64(readers.Seen()))
	most, err := resident(p.pid(), "VmHWM")
	into.add(mibMost, most/(1<<20))
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
func crowdWake(ctx context.Context, into *row, rest *load.REST, metric string) error {
	for round := range 3 {
		took, err := load.Wake(ctx, onlyPair{rest}, 1, wakeTimes)
		if err != nil {
			return err
		}
		if round > 0 {
			into.add(metric, load.Percentile(took, 50))
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
