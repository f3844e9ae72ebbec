package harness

import (
	"context"
	"iter"
	"sync"
	"time"
)

// InterruptGrace is how long a harness may take to end a turn that was interrupted.
const InterruptGrace = 10 * time.Second

// eventQueue is how many events may wait for their reader. Then the harness itself waits.
const eventQueue = 64

// Turns passes the events of one turn after the other from the goroutine that reads a harness to
// the caller that ranges over them. The zero value is not usable; see [NewTurns].
type Turns struct {
	mu     sync.Mutex
	open   bool // until its end was read
	ended  bool // its end was emitted
	events chan Event
	over   chan struct{} // closed by Fail
	err    error         // set before over is closed
}

// NewTurns returns Turns for a harness that has just started.
func NewTurns() *Turns {
	return &Turns{events: make(chan Event, eventQueue), over: make(chan struct{})}
}

// Begin opens a turn, before its prompt is sent. The error is ErrBusy if one is open, and that of
// Fail if there will be none.
func (t *Turns) Begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return t.err
	case t.open:
		return ErrBusy
	}
	t.open, t.ended = true, false
	return nil
}

// Open reports whether a turn is under way for its harness. After Fail none is.
func (t *Turns) Open() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open && !t.ended && t.err == nil
}

// Emit passes an event on. It blocks while too many wait. Events outside a turn are dropped: they
// are late news of one that has ended. Only the goroutine that reads the harness may call Emit.
func (t *Turns) Emit(e Event) {
	if !t.Open() {
		return
	}
	if _, last := e.(Ended); last { // before its reader can begin the next turn
		t.mu.Lock()
		t.ended = true
		t.mu.Unlock()
	}
	select {
	case t.events <- e:
	case <-t.over:
	}
}

// end ends the turn for its caller, who has read its last event.
func (t *Turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = false
}

// Fail ends the turns: the harness has ended, for that reason. Events that were emitted before are
// still read. Only the first call has an effect.
func (t *Turns) Fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
		close(t.over)
	}
}

// Range returns the events of the turn that Begin has opened. When ctx ends it calls interrupt, and
// abandon if the turn has not ended after InterruptGrace.
func (t *Turns) Range(ctx context.Context, interrupt func(), abandon func()) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		canceled := ctx.Done()
		var late <-chan time.Time
		reading := true
		for {
			e, err := t.next(&canceled, &late, interrupt, abandon)
			if err != nil {
				if reading {
					yield(nil, err)
				}
				return
			}
			if e == nil {
				continue
			}
			_, last := e.(Ended)
			if last {
				t.end()
			}
			// A reader that has stopped early still has the turn ended: the next one must not read its events.
			if reading && !yield(e, nil) && !last {
				reading = false
				interrupt()
				canceled, late = nil, time.After(InterruptGrace)
			}
			if last {
				return
			}
		}
	}
}

// next returns the next event, or nil if something else has happened.
func (t *Turns) next(canceled *<-chan struct{}, late *<-chan time.Time, interrupt, abandon func()) (Event, error) {
	select {
	case e := <-t.events:
		return e, nil
	case <-*canceled:
		*canceled, *late = nil, time.After(InterruptGrace)
		interrupt()
	case <-*late:
		*late = nil
		abandon()
	case <-t.over:
		select {
		case e := <-t.events:
			return e, nil
		default:
			return nil, t.err
		}
	}
	return nil, nil
}
