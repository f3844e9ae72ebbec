package sqlstore

import (
	"errors"
	"hash/fnv"
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
	leaveTo        time.Time     // until when the sessions of the last batch are left to others

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

// laneOf returns the lane for an Update: that of its session, or the main one for an Update
// that names several sessions or none, and while the main one has others of its session.
func (s *Store) laneOf(u *update) *lane {
	if len(s.lanes) == 0 || len(u.at) != 1 || s.moved.joins(u) {
		return s.main
	}
	return s.lanes[laneNumber(u.at[0], len(s.lanes))]
}

// laneNumber returns the number of the lane for a session. It is the same on all servers: lanes
// that write the same sessions take turns, and each of them locks all of its batch at once.
func laneNumber(id shoal.SessionID, lanes int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return h.Sum64() % uint64(lanes)
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

// maxLeave is the longest time for which a lane leaves its sessions to other servers.
const maxLeave = 10 * time.Millisecond

// leaveSessions lets other servers write before the next batch, if they have written before the
// last one, which took a while. They would be next in any case; meanwhile callers of this one
// queue more Updates, so that the sessions change hands less often.
func (l *lane) leaveSessions(took time.Duration) {
	if l.conn.Shares() {
		l.leaveTo = time.Now().Add(min(took, maxLeave))
	}
}

// awaitTurn waits until the sessions are not left to others any more.
func (l *lane) awaitTurn() {
	left := time.Until(l.leaveTo)
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.store.closing:
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

// begin starts the transaction of the batch. Updates in sessions that another transaction has for
// long move from the batch to the main lane, which waits for these sessions.
func (l *lane) begin() error {
	if !l.conn.CanLockSessions() {
		return l.conn.Begin()
	}
	sessions, global := sessionsOf(l.batch)
	if global {
		return l.conn.Begin()
	}
	locked, err := l.beginIn(sessions)
	if err != nil {
		return err
	}
	if l != l.store.main && len(locked) < len(sessions) {
		l.moveOthers(locked)
	}
	if len(l.batch) > 0 {
		l.addTo(locked)
	}
	return nil
}

// beginIn starts a transaction in sessions and returns those that it has locked.
func (l *lane) beginIn(sessions []shoal.SessionID) ([]shoal.SessionID, error) {
	if l == l.store.main {
		return l.conn.BeginIn(sessions, sqlconn.WaitLong)
	}
	locked, err := l.conn.BeginIn(sessions, sqlconn.WaitBriefly)
	if failed := (*sqlconn.Failure)(nil); errors.As(err, &failed) && failed.Fault == sqlconn.FaultHeld {
		return l.conn.BeginIn(sessions, sqlconn.SkipHeld)
	}
	return locked, err
}

// addTo adds to the batch what was queued while its transaction began, in sessions that it has
// locked.
func (l *lane) addTo(locked []shoal.SessionID) {
	if l.queue.count() == 0 {
		return
	}
	l.waitingCallers += l.queue.countCallers()
	l.batch = l.queue.take(l.batch, maxBatch, func(u *update) bool {
		return len(u.at) > 0 && !slices.ContainsFunc(u.at, func(id shoal.SessionID) bool { return !slices.Contains(locked, id) })
	})
}

// moveOthers moves the Updates in other sessions than these from the batch to the main lane.
func (l *lane) moveOthers(locked []shoal.SessionID) {
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
}

// move moves an Update to the main lane.
func (s *Store) move(u *update) {
	if !u.moved {
		s.moved.enter(u)
	}
	if err := s.queueInMain(u); err != nil {
		s.finish([]*update{u}, err)
		return
	}
	signal(s.main.more)
}

// queueInMain queues an Update in the main lane, or returns why it does not. The lane ends when
// the store is closed and its queue is empty: nothing may be added to it after that.
func (s *Store) queueInMain(u *update) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	if !s.main.queue.add(u) {
		return s.main.refuse()
	}
	return nil
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
