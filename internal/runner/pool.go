package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/internal/harness"
)

var errStopped = errors.New("the runner has stopped")

// conversation names a conversation of an agent, usually by its space.
type conversation struct{ agent, name string }

// pool keeps the sessions of coding agents: one for each conversation, at most max processes in
// total. A session that nobody has used for idle ends, and so does the one that was unused the
// longest when another needs its place: its conversation is resumed later.
type pool struct {
	max  int
	idle time.Duration

	mu      sync.Mutex
	open    map[conversation]*pooled
	changed chan struct{} // closed and replaced when a place or a session becomes free
	stopped bool
	closing sync.WaitGroup
}

// pooled is a session of the pool, or one that is starting.
type pooled struct {
	session harness.Session // nil while it starts
	busy    bool
	since   time.Time // when it became free
	timer   *time.Timer
}

func newPool(most int, idle time.Duration) *pool {
	return &pool{max: most, idle: idle, open: map[conversation]*pooled{}, changed: make(chan struct{})}
}

// acquire returns the session of a conversation for one caller, which must release it. start starts
// one if there is none. It waits while another caller has the session, and while all places are in
// use.
func (p *pool) acquire(ctx context.Context, c conversation, start func(context.Context) (harness.Session, error)) (harness.Session, error) {
	for {
		s, wait, err := p.take(c)
		switch {
		case err != nil:
			return nil, err
		case s != nil:
			return s, nil
		case wait == nil:
			s, err := start(ctx)
			return s, p.started(c, s, err)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take returns the free session of a conversation, or nil after reserving a place for a new one.
// If neither is possible, wait is closed when it may be.
func (p *pool) take(c conversation) (s harness.Session, wait <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, nil, errStopped
	}
	if e := p.open[c]; e != nil {
		if e.busy {
			return nil, p.changed, nil
		}
		e.timer.Stop()
		if !ended(e.session) {
			e.busy = true
			return e.session, nil, nil
		}
		p.remove(c)
	}
	if len(p.open) >= p.max && !p.evict() {
		return nil, p.changed, nil
	}
	p.open[c] = &pooled{busy: true}
	return nil, nil, nil
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
		if !e.busy && (found == nil || e.since.Before(found.since)) {
			oldest, found = c, e
		}
	}
	if found == nil {
		return false
	}
	p.remove(oldest)
	return true
}

// remove forgets the session of a conversation and ends it. It must be called with mu held.
func (p *pool) remove(c conversation) {
	e := p.open[c]
	delete(p.open, c)
	if e.timer != nil {
		e.timer.Stop()
	}
	if e.session != nil {
		p.closing.Go(func() { _ = e.session.Close() }) // it is gone either way
	}
	p.wake()
}

// wake lets callers of acquire look again. It must be called with mu held.
func (p *pool) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// started enters the session that a caller has started, or gives its place back.
func (p *pool) started(c conversation, s harness.Session, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.open[c]
	if err == nil && p.stopped {
		err = errStopped
	}
	if err != nil {
		if s != nil {
			e.session = s
		}
		p.remove(c)
		return err
	}
	e.session = s
	return nil
}

// release gives a session back. One that is not to be kept ends at once.
func (p *pool) release(c conversation, keep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.open[c]
	if e == nil {
		return // the pool has stopped
	}
	if !keep || p.stopped || ended(e.session) {
		p.remove(c)
		return
	}
	e.busy, e.since = false, time.Now()
	e.timer = time.AfterFunc(p.idle, func() { p.expire(c, e) })
	p.wake()
}

// expire ends a session that was not used again.
func (p *pool) expire(c conversation, e *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[c] == e && !e.busy {
		p.remove(c)
	}
}

// stop ends all sessions, also those in use, and waits for their ends.
func (p *pool) stop() {
	p.mu.Lock()
	p.stopped = true
	for c, e := range p.open {
		if e.session != nil { // one that starts is ended by started
			p.remove(c)
		}
	}
	p.mu.Unlock()
	p.closing.Wait()
}
