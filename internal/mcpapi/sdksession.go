package mcpapi

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkSession is the SDK's session for a [session]: about ten KiB, and a goroutine.
type sdkSession struct {
	peer      *peer
	transport *mcp.StreamableServerTransport
	server    *mcp.ServerSession
	users     int // requests and streams; guarded by session.live
}

// acquire returns the SDK's session for s; the caller must release it. It creates the session if
// necessary, with the parameters with which the client initialized s. After the end of s the error
// is errSessionOver.
func (a *API) acquire(s *session) (*sdkSession, error) {
	s.live.Lock()
	defer s.live.Unlock()
	if s.ctx.Err() != nil {
		return nil, errSessionOver
	}
	if s.sdk == nil {
		var err error
		if s.sdk, err = a.connect(s); err != nil {
			return nil, err
		}
	}
	s.sdk.users++
	return s.sdk, nil
}

// connect creates a session of the SDK.
func (a *API) connect(s *session) (*sdkSession, error) {
	var options *mcp.ServerSessionOptions
	if s.client != nil {
		options = &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{
			InitializeParams: s.client, InitializedParams: &mcp.InitializedParams{}, LogLevel: s.level,
		}}
	}
	k := &sdkSession{peer: a.peer(s.caller), transport: &mcp.StreamableServerTransport{SessionID: s.id}}
	var err error
	if k.server, err = k.peer.server.Connect(s.ctx, k.transport, options); err != nil {
		a.release(k.peer)
		return nil, err
	}
	return k, nil
}

// release ends one use of the SDK's session, and the session itself if nothing else needs it.
func (s *session) release(k *sdkSession) {
	s.live.Lock()
	k.users--
	if s.client == nil {
		s.client = k.server.InitializeParams()
	}
	unused := s.sdk == k && k.users == 0 && !k.peer.watches.has(k.server)
	if unused {
		s.sdk = nil
	}
	s.live.Unlock()
	if unused {
		k.close()
	}
}

// keepLevel is a middleware that notes the level of log messages that a session's client sets. The
// SDK knows it only until the session is at rest.
func (p *peer) keepLevel(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		params, ok := req.GetParams().(*mcp.SetLoggingLevelParams) //nolint:staticcheck // the older era has it
		if ok && err == nil {
			if s := p.api.sessions.find(p.caller, req.GetSession().ID()); s != nil {
				s.live.Lock()
				defer s.live.Unlock()
				s.level = params.Level
			}
		}
		return res, err
	}
}

// initialized reports whether the client has initialized the session.
func (s *session) initialized() bool {
	s.live.Lock()
	defer s.live.Unlock()
	return s.client != nil
}

// end ends the requests, streams and subscriptions of a session.
func (s *session) end() {
	s.cancel(errSessionOver)
	s.live.Lock()
	k := s.sdk
	s.sdk = nil
	s.live.Unlock()
	if k != nil {
		k.close()
	}
}

func (k *sdkSession) close() {
	_ = k.server.Close() // its transport is memory, which does not fail
	k.peer.watches.forget(k.server)
	k.peer.api.release(k.peer)
}
