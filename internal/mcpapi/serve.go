package mcpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/shoal-dev/shoal/internal/guard"
)

// Causes that end what is open.
var (
	errSessionOver = errors.New("the session is over")
	errReplaced    = errors.New("the client has opened this stream anew")
)

// serveMCP serves /mcp in both eras.
func (a *API) serveMCP(w http.ResponseWriter, r *http.Request) {
	q, ok := a.admit(w, r)
	switch {
	case !ok:
	case r.Method == http.MethodPost:
		q.post()
	case q.modern(): // which has nothing but POST
		q.sdkStateless(w, r)
	case r.Method == http.MethodGet:
		q.get()
	case r.Method == http.MethodDelete:
		q.delete()
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		q.refuseRequest(http.StatusMethodNotAllowed, "This path takes POST, GET and DELETE.")
	}
}

// post answers a message: a call of a tool itself, whatever else through the
// SDK.
func (q *request) post() {
	m := messageOf(guard.Body(q.r))
	id := q.r.Header.Get(sessionHeader)
	switch {
	case !q.versionKnown() && !q.modern():
		q.answersTo(m)
		q.refuseRequest(http.StatusBadRequest, "Unsupported protocol version. This server speaks "+strings.Join(q.versions, ", ")+".")
		return
	case !q.plain():
		q.answersTo(m)
		q.sdkStateless(q.w, q.r)
		return
	case !q.modern() && q.sessions.wasTerminated(q.caller, id):
		q.answersTo(m)
		q.refuseRequest(http.StatusNotFound, noSuchSession)
		return
	}
	if call, ok := q.toolCall(m); ok {
		q.direct(call)
		return
	}
	q.answersTo(m)
	if cancelled := cancelledID(m); cancelled != nil && q.waits.cancel(waitKey{q.caller, id, string(cancelled)}) {
		q.w.WriteHeader(http.StatusAccepted)
		return
	}
	if q.hasTasks() && isAboutTasks(m.method) {
		q.task(m)
		return
	}
	switch s := q.sessions.find(q.caller, id); {
	case s != nil && m.method == "notifications/initialized" && m.id == nil && s.initialized():
		q.w.WriteHeader(http.StatusAccepted) // it changes nothing: the session serves every call
	case q.modern() && m.method == "subscriptions/listen":
		q.listen()
	case q.modern():
		q.sdkStateless(q.w, q.r)
	case s != nil:
		q.sdkSession(s)
	case m.method == "initialize":
		q.initialize()
	case m.method == "resources/subscribe" && isSessionID(id):
		q.revive(id)
	default:
		q.sdkStateless(q.w, q.r)
	}
}

// answersTo notes which request errors are the answer to, and nothing else of a
// body that may be large.
func (q *request) answersTo(m message) {
	if isID(m.id) {
		q.id = bytes.Clone(m.id)
	}
}

// initialize opens a session; one that failed to initialise does not stay.
func (q *request) initialize() {
	s, err := q.sessions.begin(q.caller, "", "")
	if err != nil {
		guard.WriteRPCError(q.w, err)
		return
	}
	q.sdkSession(s)
	if !s.initialized() {
		q.sessions.end(s)
	}
}

// revive opens a session that this process does not know under the id that its
// client has: a subscription sends its notifications through one.
func (q *request) revive(id string) {
	version := q.r.Header.Get(versionHeader)
	if version == "" {
		version = "2025-03-26" // as the specification has it
	}
	s, err := q.sessions.begin(q.caller, id, version)
	if err != nil {
		guard.WriteRPCError(q.w, err)
		return
	}
	q.sdkSession(s)
}

// isSessionID reports whether a client may have this id from us or our like.
func isSessionID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return 0 < len(id) && len(id) <= 128
}

// sdkSession hands the request to a session. Calls in it end with the request,
// or with the session, for whose end Stop waits until they are answered.
func (q *request) sdkSession(s *session) {
	if !q.enter() {
		guard.WriteRPCError(q.w, stopping())
		return
	}
	defer q.leave()
	sdk, ok := q.acquireSDK(s)
	if !ok {
		return
	}
	defer s.release(sdk)
	ctx, cancel := context.WithCancelCause(q.origin(q.r.Context()))
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	mark := q.carriers.add(ctx, q.name, true)
	defer q.carriers.drop(mark)
	r := q.forSDK()
	r.Header.Set(callMark, mark)
	sdk.transport.ServeHTTP(q.asErrors(q.w), r)
}

// acquireSDK returns the SDK's session for s as acquire does, or answers the request.
func (q *request) acquireSDK(s *session) (*sdkSession, bool) {
	sdk, err := q.acquire(s)
	switch {
	case err == nil:
		return sdk, true
	case errors.Is(err, errSessionOver):
		q.refuseRequest(http.StatusNotFound, noSuchSession)
	default:
		guard.WriteRPCError(q.w, err)
	}
	return nil, false
}

// sdkStateless hands the request to the SDK without a session.
func (q *request) sdkStateless(w http.ResponseWriter, r *http.Request) {
	p := q.peer(q.caller)
	defer q.release(p)
	mark := q.carriers.add(q.origin(r.Context()), q.name, true)
	defer q.carriers.drop(mark)
	out := q.forSDK().WithContext(r.Context())
	out.Header.Set(callMark, mark)
	out.Header.Del(sessionHeader)
	p.stateless.ServeHTTP(q.asErrors(w), out)
}

// listen is the newer era's stream of notifications.
func (q *request) listen() {
	s, err := q.open(q)
	if err != nil {
		guard.WriteRPCError(q.w, err)
		return
	}
	defer q.shut(s)
	defer s.endWithAPI()()
	q.sdkStateless(s, q.r.WithContext(s.ctx))
}

// get is the older era's stream of notifications.
func (q *request) get() {
	if _, stream := accepts(q.r.Header["Accept"]); !stream {
		q.refuseRequest(http.StatusBadRequest, "Accept must contain text/event-stream.")
		return
	}
	session := q.withSession("GET")
	if session == nil {
		return
	}
	s, err := q.open(q)
	if err != nil {
		guard.WriteRPCError(q.w, err)
		return
	}
	defer q.shut(s)
	sdk, ok := q.acquireSDK(session)
	if !ok {
		return
	}
	defer session.release(sdk)
	q.sessions.attach(session, s)
	defer q.sessions.detach(session, s)
	defer s.endWithAPI()()
	sdk.transport.ServeHTTP(q.asErrors(s), q.forSDK().WithContext(s.ctx))
}

func (q *request) delete() {
	if session := q.withSession("DELETE"); session != nil {
		q.sessions.terminate(session)
		q.w.WriteHeader(http.StatusNoContent)
	}
}

// withSession returns the session that a request names and cannot do without,
// or answers it.
func (q *request) withSession(method string) *session {
	id := q.r.Header.Get(sessionHeader)
	if id == "" {
		q.refuseRequest(http.StatusBadRequest, method+" needs the header Mcp-Session-Id.")
		return nil
	}
	s := q.sessions.find(q.caller, id)
	if s == nil {
		q.refuseRequest(http.StatusNotFound, noSuchSession)
	}
	return s
}
