package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/internal/harness"
)

var errStopped = errors.New("the runner has stopped")

// conversation names a conversation of an agent, usually by its space.
type conversation struct{ agent, name string }

// pool keeps the sessions of coding agents: one for each conversation, at most max processes in
// total. A session that nobody has used for idle ends, and so does the one that was unused the
// longest when another needs its place: its conversation is resumed later. A place is free when its
// process has ended.
type pool struct {
	max  int
	idle time.Duration

	mu      sync.Mutex
	open    map[conversation]*pooled
	waiting []*caller // in the order in which they came
	stopped bool
	closing sync.WaitGroup
}

// pooled is a session of the pool, or one that is starting.
type pooled struct {
	session harness.Session // nil while it starts
	busy    bool
	ending  bool      // its process is asked to end
	since   time.Time // when it became free
	timer   *time.Timer
}

// caller waits for a session. It receives the one of its conversation, or nil with a place for a new
// one; the channel is closed if the pool stops.
type caller struct {
	conversation conversation
	granted      chan harness.Session
}

func newPool(most int, idle time.Duration) *pool {
	return &pool{max: most, idle: idle, open: map[conversation]*pooled{}}
}

// acquire returns the session of a conversation for one caller, which must release it. start starts
// one if there is none. It waits while another caller has the session or its process is ending, and
// while all places are in use. Callers get places in the order in which they came.
func (p *pool) acquire(ctx context.Context, c conversation, start func(context.Context) (harness.Session, error)) (harness.Session, error) {
	w := &caller{c, make(chan harness.Session, 1)}
	p.mu.Lock()
	if p.stopped {
		p.mu.Unlock()
		return nil, errStopped
	}
	p.waiting = append(p.waiting, w)
	p.grant()
	p.mu.Unlock()
	select {
	case s, ok := <-w.granted:
		switch {
		case !ok:
			return nil, errStopped
		case s != nil:
			return s, nil
		}
		s, err := start(ctx)
		return s, p.started(c, s, err)
	case <-ctx.Done():
		p.leave(w)
		return nil, context.Cause(ctx)
	}
}

// grant gives the callers what is free, in their order. It must be called with mu held.
func (p *pool) grant() {
	places := p.max - len(p.open) // those of ending processes are in use still
	for _, e := range p.open {
		if e.ending {
			places++ // soon
		}
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(w *caller) bool {
		switch e := p.open[w.conversation]; {
		case e != nil && (e.busy || e.ending):
			return false
		case e != nil:
			if e.timer.Stop(); ended(e.session) {
				p.end(w.conversation)
				return false
			}
			e.busy = true
			w.granted <- e.session
			return true
		}
		if places > 0 {
			places--
		} else if !p.evict() {
			return false
		}
		if len(p.open) >= p.max {
			return false // until the process has ended that gives way
		}
		p.open[w.conversation] = &pooled{busy: true}
		w.granted <- nil
		return true
	})
}

// leave withdraws a caller, and what it was given meanwhile.
func (p *pool) leave(w *caller) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case s, ok := <-w.granted:
		switch {
		case !ok: // the pool has stopped
		case s != nil:
			p.giveBack(w.conversation, true)
		default:
			delete(p.open, w.conversation)
			p.grant()
		}
	default:
		p.waiting = slices.DeleteFunc(p.waiting, func(other *caller) bool { return other == w })
	}
}

func ended(s harness.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// evict ends the session that was unused the longest, if one is unused. It must be called with mu
// held.
func (p *pool) evict() bool {
	var oldest conversation
	var found *pooled
	for c, e := range p.open {
		if !e.busy && !e.ending && (found == nil || e.since.Before(found.since)) {
			oldest, found = c, e
		}
	}
	if found == nil {
		return false
	}
	p.end(oldest)
	return true
}

// end ends the session of a conversation. Its place is free when the process has ended. It must be
// called with mu held.
func (p *pool) end(c conversation) {
	e := p.open[c]
	if e.timer != nil {
		e.timer.Stop()
	}
	e.ending = true
	p.closing.Go(func() {
		_ = e.session.Close() // it is gone either way
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, c)
		p.grant()
	})
}

// started enters the session that a caller has started, or gives its place back.
func (p *pool) started(c conversation, s harness.Session, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.open[c]
	if err == nil && p.stopped {
		err = errStopped
	}
	switch e.session = s; {
	case err == nil:
		return nil
	case s != nil:
		p.end(c)
	default:
		delete(p.open, c)
		p.grant()
	}
	return err
}

// release gives a session back. One that is not to be kept ends at once.
func (p *pool) release(c conversation, keep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBack(c, keep)
}

// giveBack must be called with mu held.
func (p *pool) giveBack(c conversation, keep bool) {
	e := p.open[c]
	if e == nil || e.ending {
		return // the pool has stopped
	}
	if !keep || p.stopped || ended(e.session) {
		p.end(c)
		return
	}
	e.busy, e.since = false, time.Now()
	e.timer = time.AfterFunc(p.idle, func() { p.expire(c, e) })
	p.grant()
}

// expire ends a session that was not used again.
func (p *pool) expire(c conversation, e *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[c] == e && !e.busy && !e.ending {
		p.end(c)
	}
}

// stop ends all sessions, also those in use, and waits for their ends.
func (p *pool) stop() {
	p.mu.Lock()
	p.stopped = true
	for _, w := range p.waiting {
		close(w.granted)
	}
	p.waiting = nil
	for c, e := range p.open {
		if e.session != nil && !e.ending { // one that starts is ended by started
			p.end(c)
		}
	}
	p.mu.Unlock()
	p.closing.Wait()
}
