package limit

import (
	"sync"
	"time"
)

// Verdict is the result of Enter.
type Verdict int

// The verdicts: the slot is taken, the caller has reached its own limit, or the global limit
// leaves no room for this caller.
const (
	Entered Verdict = iota
	KeyFull
	AllFull
)

// Fits is the rule of every global limit. It reports whether a caller that uses mine of held
// may take more without exceeding all: the last quarter is reserved for callers that use less
// than an eighth of all, and the last 2 % for admins.
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

// small reports whether a caller uses so little that other callers are the cause of its
// refusal.
func small(all, mine int64) bool { return mine < max(1, all/8) }

// Open limits a concurrently used resource, by caller and globally, as divided by [Fits]. It
// is safe for concurrent use.
type Open struct {
	each, all int64

	mu    sync.Mutex
	open  map[Caller]int64
	total int64
	// first and last are the times of the refusals of callers with small use, where no two
	// consecutive ones were further apart than lull.
	first, last time.Time
}

// lull is the time without refusals after which a limit no longer counts as exhausted.
const lull = 2 * time.Second

// NewOpen permits each units per caller and all units in total; 0 means no limit, and a
// negative number permits none.
func NewOpen(each, all int) *Open { return NewBytes(int64(each), int64(all)) }

// NewBytes does the same as NewOpen for numbers that may exceed an int.
func NewBytes(each, all int64) *Open {
	return &Open{each: each, all: all, open: map[Caller]int64{}}
}

// Enter takes one unit if permitted. After Entered the caller must call Leave.
func (o *Open) Enter(c Caller) Verdict { return o.Take(c, 1) }

// Leave returns one unit.
func (o *Open) Leave(c Caller) { o.Give(c, 1) }

// Take takes n units if permitted. After Entered the caller must return them with Give.
func (o *Open) Take(c Caller, n int64) Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	v := o.judge(c, n)
	if v == Entered {
		o.open[c] += n
		o.total += n
	}
	return v
}

// Peek returns the same as Enter without taking a unit.
func (o *Open) Peek(c Caller) Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.judge(c, 1)
}

// judge returns whether a caller may take n units, and records a refusal. It must be called with
// mu held.
func (o *Open) judge(c Caller, n int64) Verdict {
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
	return Entered
}

// noteRefusal records a refusal. It must be called with mu held.
func (o *Open) noteRefusal() {
	now := time.Now()
	if now.Sub(o.last) > lull {
		o.first = now
	}
	o.last = now
}

// Give returns n units.
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

// Count returns the units in use.
func (o *Open) Count() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// Held returns the units in use by a caller.
func (o *Open) Held(c Caller) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open[c]
}

// Largest returns the caller that uses the most units.
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

// All returns the global limit, or 0 without a limit.
func (o *Open) All() int64 { return o.all }

// Refusing returns for how long callers with small use have been refused, 0 if none was
// refused recently.
func (o *Open) Refusing() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last.IsZero() || time.Since(o.last) > lull {
		return 0
	}
	return o.last.Sub(o.first)
}
