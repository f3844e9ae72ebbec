package clustertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/internal/clusterbus"
)

// Wire is the network of a transport in memory. A script says what it does with each frame. The
// zero Wire delivers everything. It is safe for concurrent use.
type Wire struct {
	mu    sync.Mutex
	ends  []*End
	fault Fault
}

// Fault says what happens to a frame: the number-th of the server from, on its way to the server to.
// It is called for one frame at a time.
type Fault func(from, to string, number int) Outcome

// Outcome is what happens to a frame: how often it is delivered, and how much later.
type Outcome struct {
	Times int
	Later time.Duration
}

// What can happen to a frame.
var (
	Delivered = Outcome{Times: 1}
	Lost      = Outcome{}
	Doubled   = Outcome{Times: 2}
)

// End is the end of the wire at one server. It is a [clusterbus.Transport].
type End struct {
	wire    *Wire
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

// Open returns the end of the wire at a server.
func (w *Wire) Open(name string) *End {
	return &End{wire: w, name: name, frames: make(chan []byte, 10_000), stopped: make(chan struct{})}
}

// Start implements [clusterbus.Transport].
func (e *End) Start(_ string, receive func([]byte), up func(bool)) {
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
func (e *End) Send(_ context.Context, frame []byte) error {
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
		o := Delivered
		if e.wire.fault != nil {
			o = e.wire.fault(e.name, to.name, number)
		}
		for range o.Times {
			if o.Later > 0 {
				time.AfterFunc(o.Later, func() { to.deliver(frame) })
			} else {
				to.deliver(frame)
			}
		}
	}
	return nil
}

func (e *End) deliver(frame []byte) {
	if !e.isCut() {
		select {
		case e.frames <- slices.Clone(frame):
		default:
		}
	}
}

func (e *End) isCut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cut
}

// SetCut cuts the line of a server, or repairs it.
func (e *End) SetCut(cut bool) {
	e.mu.Lock()
	e.cut = cut
	e.mu.Unlock()
	e.up(!cut)
}

// Sent returns how many frames the server has sent.
func (e *End) Sent() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sent
}

// SetFault sets what happens to later frames; nil delivers them.
func (w *Wire) SetFault(f Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
}

// Limits implements [clusterbus.Transport].
func (e *End) Limits() clusterbus.Limits {
	return clusterbus.Limits{FrameBytes: 8 << 10, Pause: time.Millisecond, EventPause: 10 * time.Millisecond}
}

// Stop implements [clusterbus.Transport].
func (e *End) Stop() {
	e.wire.mu.Lock()
	e.wire.ends = slices.DeleteFunc(e.wire.ends, func(o *End) bool { return o == e })
	e.wire.mu.Unlock()
	close(e.stopped)
	e.running.Wait()
}
