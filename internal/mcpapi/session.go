package mcpapi

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is a session of the older era, which outlives its HTTP requests. It exists for its
// caller alone. Most clients only call tools, which need no session of the SDK, so the SDK has
// one only while something needs it: a request, a stream or a subscription.
type session struct {
	id     string
	caller caller
	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc

	live   sync.Mutex            // guards sdk, client and level
	sdk    *sdkSession           // nil while nothing needs it
	client *mcp.InitializeParams // nil until the client has initialized
	level  mcp.LoggingLevel      //nolint:staticcheck // the least level of log messages that the client wants; empty for none

	// Guarded by sessions.mu.
	used  time.Time // when a request last came
	timer *time.Timer
	get   *stream // the open stream of notifications, if there is one
}

// sessions keeps the sessions of all callers within bounds. Over them, or after
// a while without requests, a session ends: the one that was unused the longest.
// Its client goes on without noticing, but for notifications.
type sessions struct {
	api    *API
	mu     sync.Mutex
	byID   map[sessionKey]*session
	each   map[caller]int
	closed bool
	ending sync.WaitGroup
	// terminated contains the last MaxSessions sessions that clients have ended, and
	// order their ids from oldest to newest. Only requests to these are refused.
	terminated map[sessionKey]struct{}
	order      []sessionKey
}

// sessionKey names a session. Ids are scoped to callers: the same id of another caller
// is another session, so that nobody reaches or ends a session by knowing its id.
type sessionKey struct {
	caller caller
	id     string
}

func (s *session) key() sessionKey { return sessionKey{s.caller, s.id} }

// begin opens a session for a caller. An id that is given is one that the client
// has from before a restart: then the session continues as if it had never ended.
func (t *sessions) begin(c caller, id, version string) (*session, error) {
	s := &session{id: id, caller: c}
	if id == "" {
		s.id = rand.Text()
	} else {
		s.client = &mcp.InitializeParams{ProtocolVersion: version}
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	over, ok := t.add(s)
	if !ok {
		return nil, stopping()
	}
	for _, old := range over {
		t.finish(old)
	}
	return s, nil
}

// add enters a session and takes out those that are too many. ok is false if it
// may not be entered: the API has stopped.
func (t *sessions) add(s *session) (over []*session, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, false
	}
	if t.each[s.caller] >= t.api.MaxSessionsEach {
		over = append(over, t.take(t.oldest(func(o *session) bool { return o.caller == s.caller })))
	}
	if len(t.byID) >= t.api.MaxSessions {
		most := t.largest()
		over = append(over, t.take(t.oldest(func(o *session) bool { return t.each[o.caller] == most })))
	}
	if twin := t.byID[s.key()]; twin != nil { // two requests revived it at once
		over = append(over, t.take(twin))
	}
	t.byID[s.key()] = s
	t.each[s.caller]++
	s.used = time.Now()
	s.timer = time.AfterFunc(t.api.SessionIdle, func() { t.idle(s) })
	return over, true
}

// oldest returns the session among some that was unused the longest, one
// without an open stream if there is any. It must be called with mu held.
func (t *sessions) oldest(among func(*session) bool) (found *session) {
	for _, s := range t.byID {
		if !among(s) {
			continue
		}
		if found == nil || s.get == nil && found.get != nil || (s.get == nil) == (found.get == nil) && s.used.Before(found.used) {
			found = s
		}
	}
	return found
}

// largest is how many sessions the callers have that have the most: one of theirs ends
// when there are too many in total, so that nobody's ends because of what others open.
// It must be called with mu held.
func (t *sessions) largest() (most int) {
	for _, n := range t.each {
		most = max(most, n)
	}
	return most
}

// take removes a session from the table; the caller must finish the session. It must be
// called with mu held.
func (t *sessions) take(s *session) *session {
	delete(t.byID, s.key())
	if t.each[s.caller]--; t.each[s.caller] == 0 {
		delete(t.each, s.caller)
	}
	s.timer.Stop()
	t.ending.Add(1)
	return s
}

// finish closes a session that was taken.
func (t *sessions) finish(s *session) {
	defer t.ending.Done()
	s.end()
}

// end ends a session, unless it has ended.
func (t *sessions) end(s *session) {
	t.mu.Lock()
	here := t.byID[s.key()] == s
	if here {
		t.take(s)
	}
	t.mu.Unlock()
	if here {
		t.finish(s)
	}
}

// terminate ends a session at the request of its client. From then on its id is refused,
// as the protocol requires, and is not mistaken for one from before a restart.
func (t *sessions) terminate(s *session) {
	t.mu.Lock()
	over := s.key()
	if _, twice := t.terminated[over]; !twice {
		if len(t.order) >= t.api.MaxSessions {
			delete(t.terminated, t.order[0])
			t.order = t.order[1:]
		}
		t.terminated[over] = struct{}{}
		t.order = append(t.order, over)
	}
	t.mu.Unlock()
	t.end(s)
}

// wasTerminated reports whether a caller has ended its session of that id.
func (t *sessions) wasTerminated(c caller, id string) bool {
	if id == "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, over := t.terminated[sessionKey{c, id}]
	return over
}

// idle ends a session for which no request came for long. One with an open
// stream is in use.
func (t *sessions) idle(s *session) {
	t.mu.Lock()
	busy := s.get != nil
	if busy {
		s.timer.Reset(t.api.SessionIdle)
	}
	t.mu.Unlock()
	if !busy {
		t.end(s)
	}
}

// find returns the caller's session of that id, and notes that it is in use.
func (t *sessions) find(c caller, id string) *session {
	if id == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[sessionKey{c, id}]
	if s == nil {
		return nil
	}
	s.used = time.Now()
	s.timer.Reset(t.api.SessionIdle)
	return s
}

// attach makes st the session's stream of notifications. An older one, whose
// client may have lost its connection without our knowing, ends first.
func (t *sessions) attach(s *session, st *stream) {
	t.mu.Lock()
	old := s.get
	s.get = st
	t.mu.Unlock()
	if old != nil {
		old.cancel(errReplaced)
		<-old.ended
	}
}

func (t *sessions) detach(s *session, st *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.get == st {
		s.get = nil
	}
}

// stop ends every session and lets none begin.
func (t *sessions) stop() {
	t.mu.Lock()
	t.closed = true
	var all []*session
	for _, s := range t.byID {
		all = append(all, t.take(s))
	}
	t.mu.Unlock()
	for _, s := range all {
		t.finish(s)
	}
	t.ending.Wait()
}
