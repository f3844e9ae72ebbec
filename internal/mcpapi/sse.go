package mcpapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/internal/guard"
)

// sseSessions keeps the sessions of the older HTTP+SSE transport. Each lives as
// long as the GET that opened it, and takes messages from its caller alone.
type sseSessions struct {
	mu   sync.Mutex
	open map[string]*sseSession
}

type sseSession struct {
	caller    caller
	transport *sseTransport
}

// serveSSE serves /sse: a GET opens a session and is its stream, a POST brings a
// message to it.
func (a *API) serveSSE(w http.ResponseWriter, r *http.Request) {
	q, ok := a.admit(w, r)
	switch {
	case !ok:
	case r.Method == http.MethodGet:
		q.openSSE()
	case r.Method == http.MethodPost:
		q.postSSE()
	default:
		w.Header().Set("Allow", "GET, POST")
		q.refuseRequest(http.StatusMethodNotAllowed, "This path takes GET and POST.")
	}
}

func (q *request) openSSE() {
	s, err := q.open(q)
	if err != nil {
		guard.WriteRPCError(q.w, err)
		return
	}
	defer q.shut(s)
	p := q.peer(q.caller)
	defer q.release(p)
	h := q.w.Header()
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	id := rand.Text()
	session := &sseSession{caller: q.caller, transport: &sseTransport{
		SSEServerTransport: &mcp.SSEServerTransport{Endpoint: q.endpoint(id), Response: s},
		stream:             s, calls: map[jsonrpc.ID]string{},
	}}
	q.sse.put(id, session)
	defer q.sse.remove(id)
	server, err := p.server.Connect(s.ctx, session.transport, nil)
	if err != nil {
		return // the client went away while the first event was written
	}
	defer p.watches.forget(server)
	select {
	case <-s.ctx.Done():
	case <-q.ctx.Done():
		session.transport.drain() // calls that the hub has ended are still answered
	}
	// What still waits ends, so that Close has nothing to wait for.
	s.cancel(errSessionOver)
	_ = server.Close() // its stream is over, and so is whatever could fail
	session.transport.unmarkAll()
}

// endpoint is where the messages of a session are to be sent. The parameters
// that name an actor go with it; nothing else of the URL does.
func (q *request) endpoint(id string) string {
	query := url.Values{"sessionid": {id}}
	for _, name := range []string{"agent", "session"} {
		if given := q.r.URL.Query().Get(name); given != "" {
			query.Set(name, given)
		}
	}
	return q.r.URL.Path + "?" + query.Encode()
}

func (q *request) postSSE() {
	if !isJSON(q.r.Header.Get("Content-Type")) {
		q.refuseRequest(http.StatusUnsupportedMediaType, "Content-Type must be application/json.")
		return
	}
	session := q.sse.of(q.r.URL.Query().Get("sessionid"), q.caller)
	if session == nil {
		q.refuseRequest(http.StatusNotFound, noSuchSession)
		return
	}
	session.transport.ServeHTTP(q.asErrors(q.w), q.forSDK())
}

func (t *sseSessions) put(id string, s *sseSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[id] = s
}

func (t *sseSessions) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, id)
}

func (t *sseSessions) of(id string, c caller) *sseSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.open[id]; s != nil && s.caller == c {
		return s
	}
	return nil
}

// sseTransport is the SDK's transport, which also knows which answers have left
// on the stream.
type sseTransport struct {
	*mcp.SSEServerTransport
	stream *stream

	mu       sync.Mutex
	calls    map[jsonrpc.ID]string // marks of the calls that are not answered
	answered chan struct{}         // closed when calls is empty; nil until a waiter needs it
}

// Connect implements [mcp.Transport].
func (t *sseTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.SSEServerTransport.Connect(ctx)
	return &sseConnection{c, t}, err
}

type sseConnection struct {
	mcp.Connection
	transport *sseTransport
}

// Read marks each call of a tool, so that its handler finds the stream.
func (c *sseConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if call, ok := m.(*jsonrpc.Request); ok && call.IsCall() && call.Method == "tools/call" {
		c.transport.mark(call)
	}
	return m, err
}

// Write writes a message. If the message answers a wait and the connection is still open
// afterwards, Write marks the wait's messages as delivered.
func (c *sseConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if answer, ok := m.(*jsonrpc.Response); ok {
		if from := c.transport.unmark(answer.ID); from != nil {
			from.settle(err == nil && c.transport.stream.isOpen())
		}
	}
	return err
}

func (t *sseTransport) mark(call *jsonrpc.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, twice := t.calls[call.ID]; twice {
		return // the SDK refuses it
	}
	q := t.stream.request
	mark := q.carriers.add(t.stream.ctx, q.name, false)
	t.calls[call.ID] = mark
	call.Extra = marked(mark)
}

// unmarkAll forgets the calls that were not answered when the session ended.
func (t *sseTransport) unmarkAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, mark := range t.calls {
		t.stream.request.carriers.drop(mark).settle(false)
	}
	clear(t.calls)
}

// unmark returns what the answered call came by, or nil.
func (t *sseTransport) unmark(id jsonrpc.ID) *carrier {
	t.mu.Lock()
	defer t.mu.Unlock()
	mark, ok := t.calls[id]
	if !ok {
		return nil
	}
	delete(t.calls, id)
	if t.answered != nil && len(t.calls) == 0 {
		close(t.answered)
		t.answered = nil
	}
	return t.stream.request.carriers.drop(mark)
}

// drainTime is how long Stop lets a session write its last answers.
const drainTime = time.Second

// drain waits until every call is answered, the stream has ended, or drainTime
// has passed.
func (t *sseTransport) drain() {
	answered := make(chan struct{})
	t.mu.Lock()
	if len(t.calls) == 0 {
		close(answered)
	} else {
		t.answered = answered
	}
	t.mu.Unlock()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-answered:
	case <-t.stream.ctx.Done():
	case <-timer.C:
	}
}
