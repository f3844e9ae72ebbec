package limit

import (
	"sync"
	"time"
)

// Verdict is what Enter says.
type Verdict int

// The verdicts: it is open, the caller has as many open as it may, or all together
// leave no room for this caller.
const (
	Entered Verdict = iota
	KeyFull
	AllFull
)

// Fits is the rule of every bound over all callers. It reports whether a caller that
// holds mine of what is held may take more, so that no more than all is held: the
// last quarter is only for callers that hold less than an eighth of all, and the last
// 2 % only for admins.
func Fits(all, held, mine, more int64, admin bool) bool {
	switch after := held + more; {
	case admin:
		return after <= all
	case after > all-all/50:
		return false
	default:
		return after <= all-all/4 || small(all, mine)
	}
}

// small reports whether a caller holds so little that its refusal is the doing of
// others.
func small(all, mine int64) bool { return mine < max(1, all/8) }

// Open bounds how much of something is held at once, by each caller and by all
// together, as [Fits] divides it. It is safe for concurrent use.
type Open struct {
	each, all int64

	mu    sync.Mutex
	open  map[Caller]int64
	total int64
	// A caller that holds little has been refused at last, and no two such refusals
	// since first were further apart than a lull.
	first, last time.Time
}

// lull is how long nobody is refused when a bound counts as no longer exhausted.
const lull = 2 * time.Second

// NewOpen allows each caller so much, and all callers together so much; 0 means no
// limit, and less that there is none to have.
func NewOpen(each, all int) *Open { return NewBytes(int64(each), int64(all)) }

// NewBytes is NewOpen for what may be more than an int holds.
func NewBytes(each, all int64) *Open {
	return &Open{each: each, all: all, open: map[Caller]int64{}}
}

// Enter counts one more, if it may be. Who has Entered must Leave.
func (o *Open) Enter(c Caller) Verdict { return o.Take(c, 1) }

// Leave counts one less.
func (o *Open) Leave(c Caller) { o.Give(c, 1) }

// Take counts so many more, if they may be. Whoever has Entered must Give them back.
func (o *Open) Take(c Caller, n int64) Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	mine := o.open[c]
	if o.each > 0 && mine+n > o.each {
		return KeyFull
	}
	if o.all != 0 && !Fits(o.all, o.total, mine, n, c.admin) {
		if small(o.all, mine) {
			o.noteRefusal()
		}
		return AllFull
	}
	o.open[c] = mine + n
	o.total += n
	return Entered
}

// noteRefusal must be called with mu held.
func (o *Open) noteRefusal() {
	now := time.Now()
	if now.Sub(o.last) > lull {
		o.first = now
	}
	o.last = now
}

// Give counts so many less.
func (o *Open) Give(c Caller, n int64) {
	if n == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total -= n
	if o.open[c] -= n; o.open[c] <= 0 {
		delete(o.open, c)
	}
}

// Count returns how much is held.
func (o *Open) Count() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// Held returns how much a caller holds.
func (o *Open) Held(c Caller) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open[c]
}

// Largest returns the caller that holds the most.
func (o *Open) Largest() (most Caller) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c, n := range o.open {
		if n > o.open[most] {
			most = c
		}
	}
	return most
}

// All returns the bound over all callers, 0 if there is none.
func (o *Open) All() int64 { return o.all }

// Refusing returns for how long callers that hold little have been refused, 0 if none
// was lately.
func (o *Open) Refusing() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last.IsZero() || time.Since(o.last) > lull {
		return 0
	}
	return o.last.Sub(o.first)
}
