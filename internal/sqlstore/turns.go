package sqlstore

import (
	"slices"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// turns are the Updates that a lane has to write. Sessions take turns, and so do the callers of
// a session; the Updates of one caller keep their order. So an Update waits for some of every
// session and of every caller of its own session, however many each of them has queued.
type turns struct {
	most int // how many Updates may wait

	mu       sync.Mutex
	n        int
	order    []*sessionTurns // whose turn is next
	sessions map[shoal.SessionID]*sessionTurns
	callers  map[turn]*callerUpdates
}

// turn identifies Updates that keep their order. Those of several sessions or of none have the
// turn of the session "".
type turn struct {
	session shoal.SessionID
	caller  limit.Caller
}

// sessionTurns are the callers of a session, in the order of their turns.
type sessionTurns struct {
	id      shoal.SessionID
	callers []*callerUpdates
}

// callerUpdates are the Updates of a caller, in the order in which they came.
type callerUpdates struct {
	turn
	updates []*update
}

func newTurns(most int) *turns {
	return &turns{most: most, sessions: map[shoal.SessionID]*sessionTurns{}, callers: map[turn]*callerUpdates{}}
}

// add queues an Update. It reports false if too many wait.
func (q *turns) add(u *update) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n >= q.most {
		return false
	}
	c := q.callerOf(u.turn())
	c.updates = append(c.updates, u)
	q.n++
	return true
}

// turn returns the turn of an Update.
func (u *update) turn() turn {
	k := turn{caller: u.caller}
	if len(u.at) == 1 {
		k.session = u.at[0]
	}
	return k
}

// callerOf returns the Updates of a caller. A new caller, and a new session, has its turn after
// all others.
func (q *turns) callerOf(k turn) *callerUpdates {
	c := q.callers[k]
	if c != nil {
		return c
	}
	s := q.sessions[k.session]
	if s == nil {
		s = &sessionTurns{id: k.session}
		q.sessions[k.session] = s
		q.order = append(q.order, s)
	}
	c = &callerUpdates{turn: k}
	q.callers[k] = c
	s.callers = append(s.callers, c)
	return c
}

// take removes up to most Updates, adds those that begin to a batch, and returns it. A session
// whose next Update does not fit keeps its turn.
func (q *turns) take(batch []*update, most int, fits func(*update) bool) []*update {
	q.mu.Lock()
	defer q.mu.Unlock()
	for passed := 0; len(batch) < most && passed < len(q.order); {
		u := q.order[passed].callers[0].updates[0]
		if u.state.Load() != stateWithdrawn && !fits(u) {
			passed++
			continue
		}
		q.remove(passed)
		if u.begin() {
			batch = append(batch, u)
		}
	}
	return batch
}

// putBack queues Updates that take has returned, in the order in which it did, before all
// others: the next take begins with them.
func (q *turns) putBack(updates []*update) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, u := range slices.Backward(updates) {
		k := u.turn()
		c := q.callerOf(k)
		c.updates = slices.Insert(c.updates, 0, u)
		q.n++
		s := q.sessions[k.session]
		s.callers = moveToFront(s.callers, c)
		q.order = moveToFront(q.order, s)
	}
}

// moveToFront moves an element of a list to its front.
func moveToFront[T comparable](list []T, e T) []T {
	i := slices.Index(list, e)
	return slices.Insert(slices.Delete(list, i, i+1), 0, e)
}

// remove removes the next Update of the session at a place of the order, and ends the turn of
// the session and of the caller.
func (q *turns) remove(place int) {
	s := q.order[place]
	c := s.callers[0]
	s.callers = slices.Delete(s.callers, 0, 1)
	q.order = slices.Delete(q.order, place, place+1)
	c.updates[0] = nil // otherwise it would stay in memory
	if c.updates = c.updates[1:]; len(c.updates) > 0 {
		s.callers = append(s.callers, c)
	} else {
		delete(q.callers, c.turn)
	}
	if len(s.callers) > 0 {
		q.order = append(q.order, s)
	} else {
		delete(q.sessions, s.id)
	}
	q.n--
}

// count returns how many Updates wait.
func (q *turns) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.n
}

// countCallers returns how many callers wait, each once for every session.
func (q *turns) countCallers() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.callers)
}
