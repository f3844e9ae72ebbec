package clusterbus_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/internal/clusterbus"
)

// wire is a transport's network in memory. A script says what it does with each frame.
type wire struct {
	mu    sync.Mutex
	ends  []*end
	fault func(from, to *end, number int) outcome // nil delivers everything
}

// outcome is what the network does with a frame: how often it delivers it, and how much later.
type outcome struct {
	times int
	later time.Duration
}

var (
	delivered = outcome{times: 1}
	lost      = outcome{}
	doubled   = outcome{times: 2}
)

// end is the end of the wire at one server.
type end struct {
	wire    *wire
	name    string
	receive func([]byte)
	up      func(bool)
	frames  chan []byte
	stopped chan struct{}
	running sync.WaitGroup

	mu   sync.Mutex
	cut  bool
	sent int
}

func (w *wire) open(name string) *end {
	return &end{wire: w, name: name, frames: make(chan []byte, 10_000), stopped: make(chan struct{})}
}

// Start implements [clusterbus.Transport].
func (e *end) Start(_ string, receive func([]byte), up func(bool)) {
	e.receive, e.up = receive, up
	e.running.Go(func() {
		for {
			select {
			case f := <-e.frames:
				receive(f)
			case <-e.stopped:
				return
			}
		}
	})
	e.wire.mu.Lock()
	e.wire.ends = append(e.wire.ends, e)
	e.wire.mu.Unlock()
	up(!e.isCut())
}

// Send implements [clusterbus.Transport].
func (e *end) Send(_ context.Context, frame []byte) error {
	if e.isCut() {
		return errors.New("the line is cut")
	}
	e.mu.Lock()
	e.sent++
	number := e.sent
	e.mu.Unlock()
	e.wire.mu.Lock()
	defer e.wire.mu.Unlock()
	for _, to := range e.wire.ends {
		o := delivered
		if e.wire.fault != nil {
			o = e.wire.fault(e, to, number)
		}
		for range o.times {
			if o.later > 0 {
				time.AfterFunc(o.later, func() { to.deliver(frame) })
			} else {
				to.deliver(frame)
			}
		}
	}
	return nil
}

func (e *end) deliver(frame []byte) {
	if !e.isCut() {
		select {
		case e.frames <- slices.Clone(frame):
		default:
		}
	}
}

func (e *end) isCut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cut
}

// setCut cuts the line, or repairs it.
func (e *end) setCut(cut bool) {
	e.mu.Lock()
	e.cut = cut
	e.mu.Unlock()
	e.up(!cut)
}

func (w *wire) setFault(f func(from, to *end, number int) outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

// Limits implements [clusterbus.Transport].
func (e *end) Limits() clusterbus.Limits {
	return clusterbus.Limits{FrameBytes: 8 << 10, Pause: time.Millisecond, EventPause: 10 * time.Millisecond}
}

// Stop implements [clusterbus.Transport].
func (e *end) Stop() {
	e.wire.mu.Lock()
	e.wire.ends = slices.DeleteFunc(e.wire.ends, func(o *end) bool { return o == e })
	e.wire.mu.Unlock()
	close(e.stopped)
	e.running.Wait()
}
