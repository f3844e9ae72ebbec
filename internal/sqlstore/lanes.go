package sqlstore

import (
	"hash/maphash"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// lane is a connection that changes the database, with the Updates that it will write. Lanes
// write at the same time, in different sessions. For a database with one writer there is one
// lane.
type lane struct {
	store *Store

	writing sync.Mutex // held to use the fields up to commitTime
	conn    *connection
	batch   []*update // that is being written
	begun   bool      // the transaction of the batch has begun

	waitingCallers int           // when the batch was gathered
	commitTime     time.Duration // of the recent commits

	queue *turns
	more  chan struct{} // contains a value when the lane's goroutine has something to do
	pace  atomic.Int64  // the recent duration of a batch, in nanoseconds
	fits  atomic.Int64  // how many Updates the last batch had if it became too long, otherwise maxBatch
	since atomic.Int64  // when the batch that is being written was begun; 0 if there is none
}

func newLane(s *Store, c *connection, length int) *lane {
	l := &lane{store: s, conn: c, queue: newTurns(length), more: make(chan struct{}, 1)}
	l.fits.Store(maxBatch)
	return l
}

// allLanes returns all lanes, the main one last.
func (s *Store) allLanes() iter.Seq[*lane] {
	return func(yield func(*lane) bool) {
		for _, l := range s.lanes {
			if !yield(l) {
				return
			}
		}
		yield(s.main)
	}
}

var laneSeed = maphash.MakeSeed()

// laneOf returns the lane for an Update: that of its session, or the main one for an Update
// that names several sessions or none, and while the main one has others of its session.
func (s *Store) laneOf(u *update) *lane {
	if len(s.lanes) == 0 || len(u.at) != 1 || s.moved.joins(u) {
		return s.main
	}
	return s.lanes[maphash.String(laneSeed, string(u.at[0]))%uint64(len(s.lanes))]
}

// movedSessions counts the Updates of the main lane that belong to the lane of their session:
// another transaction had the session, and only the main lane waits for it, so that the other
// sessions of a lane need not. Further Updates of such a session follow them.
type movedSessions struct {
	mu sync.Mutex
	n  map[shoal.SessionID]int
}

// enter counts an Update, of one session, that moves to the main lane.
func (m *movedSessions) enter(u *update) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enterLocked(u)
}

func (m *movedSessions) enterLocked(u *update) {
	if m.n == nil {
		m.n = map[shoal.SessionID]int{}
	}
	u.moved = true
	m.n[u.at[0]]++
}

// joins reports whether an Update must follow others of its session, and counts it then.
func (m *movedSessions) joins(u *update) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n[u.at[0]] == 0 {
		return false
	}
	m.enterLocked(u)
	return true
}

// leave ends the count of an Update, if it is counted.
func (m *movedSessions) leave(u *update) {
	if !u.moved {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	u.moved = false
	if m.n[u.at[0]]--; m.n[u.at[0]] == 0 {
		delete(m.n, u.at[0])
	}
}

// gatherBatch moves queued Updates into the batch, except withdrawn ones: at most maxBatch
// in at most [storage.MaxSessions] sessions.
func (l *lane) gatherBatch() {
	fits := always
	if l.conn.CanLockSessions() {
		fits = fewSessions()
	}
	l.waitingCallers = l.queue.countCallers()
	l.batch = l.queue.take(l.batch[:0], maxBatch, fits)
}

func always(*update) bool { return true }

// fewSessions returns a function that reports whether an Update fits into a batch with those for
// which it has reported true, as all of them change at most [storage.MaxSessions] sessions.
func fewSessions() (fits func(*update) bool) {
	sessions := map[shoal.SessionID]bool{}
	return func(u *update) bool {
		more := 0
		for _, id := range u.at {
			if !sessions[id] {
				more++
			}
		}
		if len(sessions)+more > storage.MaxSessions && len(sessions) > 0 {
			return false
		}
		for _, id := range u.at {
			sessions[id] = true
		}
		return true
	}
}

// begin starts the transaction of the batch. Updates in sessions that another transaction has
// move from the batch to the main lane, which waits for these sessions.
func (l *lane) begin() error {
	if !l.conn.CanLockSessions() {
		return l.conn.Begin()
	}
	sessions, global := sessionsOf(l.batch)
	if global {
		return l.conn.Begin()
	}
	main := l == l.store.main
	wait := sqlconn.SkipHeld
	if main {
		wait = sqlconn.WaitLong
	}
	locked, err := l.conn.BeginIn(sessions, wait)
	if err != nil || main || len(locked) == len(sessions) {
		return err
	}
	kept := l.batch[:0]
	for _, u := range l.batch {
		if slices.Contains(locked, u.at[0]) {
			kept = append(kept, u)
		} else {
			l.store.move(u)
		}
	}
	clear(l.batch[len(kept):])
	l.batch = kept
	return nil
}

// move moves an Update to the main lane.
func (s *Store) move(u *update) {
	if !u.moved {
		s.moved.enter(u)
	}
	if !s.main.queue.add(u) {
		s.finish([]*update{u}, s.main.refuse())
		return
	}
	signal(s.main.more)
}

// sessionsOf returns the sessions that the Updates of a batch change, each once, or global if
// one of them may change anything.
func sessionsOf(batch []*update) (sessions []shoal.SessionID, global bool) {
	seen := map[shoal.SessionID]bool{}
	for _, u := range batch {
		if u.at == nil {
			return nil, true
		}
		for _, id := range u.at {
			if !seen[id] {
				seen[id] = true
				sessions = append(sessions, id)
			}
		}
	}
	return sessions, false
}
