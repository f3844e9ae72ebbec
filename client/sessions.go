package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// Session makes calls inside one session.
type Session struct {
	client *Client
	id     shoal.SessionID
}

// Session returns a client for one session. It makes no call.
func (c *Client) Session(id shoal.SessionID) *Session { return &Session{c, id} }

// path returns a path inside the session.
func (s *Session) path(rest ...string) []string {
	return append([]string{"v1", "sessions", string(s.id)}, rest...)
}

// Sessions lists the sessions that the key can access, in the order of ids.
func (c *Client) Sessions(ctx context.Context) iter.Seq2[shoal.Session, error] {
	return list[shoal.Session](ctx, c, call{op: "client.Sessions", path: []string{"v1", "sessions"}})
}

// CreateSession creates a session. It fails with AlreadyExists if the id is in use or was
// used before.
func (c *Client) CreateSession(ctx context.Context, n shoal.NewSession, options ...CallOption) (made shoal.Session, err error) {
	in := call{op: "client.CreateSession", path: []string{"v1", "sessions"}, body: n}
	return made, c.create(ctx, in, &made, options)
}

// Get returns the session.
func (s *Session) Get(ctx context.Context) (out shoal.Session, err error) {
	return out, s.client.do(ctx, call{op: "client.Session.Get", path: s.path()}, &out)
}

// Change changes the session's limits and space rights; for admins and owners of the session.
func (s *Session) Change(ctx context.Context, change shoal.SessionChange) (out shoal.Session, err error) {
	in := call{op: "client.Session.Change", method: http.MethodPatch, path: s.path(), body: change}
	return out, s.client.do(ctx, in, &out)
}

// Close makes the session read-only.
func (s *Session) Close(ctx context.Context) (out shoal.Session, err error) {
	in := call{op: "client.Session.Close", method: http.MethodPost, path: s.path("close"), once: true}
	return out, s.client.do(ctx, in, &out)
}

// Delete erases the session with everything in it.
func (s *Session) Delete(ctx context.Context) error {
	return s.client.do(ctx, call{op: "client.Session.Delete", method: http.MethodDelete, path: s.path(), once: true}, nil)
}
