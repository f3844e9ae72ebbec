package mcpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// watches follows the threads that sessions of a peer are subscribed to, each
// with one goroutine while anybody is.
type watches struct {
	peer *peer
	mu   sync.Mutex
	open map[shoal.SpaceID]*watch
}

// watch follows one thread.
type watch struct {
	sessions map[*mcp.ServerSession]struct{}
	cancel   context.CancelFunc
}

// maxWatches is how many threads a caller may be subscribed to at a time.
const maxWatches = 100

// subscribe starts sending a session notifications about new messages of a thread that
// its caller may read.
func (t *watches) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	id, ok := strings.CutPrefix(req.Params.URI, threadURI)
	if !ok {
		return fmt.Errorf("only threads can be subscribed to: %s{id}", threadURI)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.open[shoal.SpaceID(id)]; w != nil {
		w.sessions[req.Session] = struct{}{}
		return nil
	}
	if len(t.open) >= maxWatches {
		return fmt.Errorf("you are subscribed to %d threads, as many as you may; unsubscribe from one first", maxWatches)
	}
	f, err := t.follow(ctx, shoal.SpaceID(id))
	if errors.Is(err, shoal.NotFound) {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return err
	}
	if !t.peer.api.enter() {
		f.Close()
		return core.ErrStopping
	}
	w := &watch{sessions: map[*mcp.ServerSession]struct{}{req.Session: {}}}
	ctx, w.cancel = context.WithCancel(t.peer.api.ctx)
	t.open[shoal.SpaceID(id)] = w
	go func() {
		defer t.peer.api.leave()
		t.run(ctx, shoal.SpaceID(id), w, f)
	}()
	return nil
}

func (t *watches) follow(ctx context.Context, id shoal.SpaceID) (*feed.Follower, error) {
	c := t.peer.caller
	return t.peer.api.Hub.Events.Follow(ctx, c.Principal, feed.FollowRequest{Session: c.Session, Space: id})
}

// unsubscribe ends a subscription.
func (t *watches) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := shoal.SpaceID(strings.TrimPrefix(req.Params.URI, threadURI))
	if w := t.open[id]; w != nil {
		t.leave(id, w, req.Session)
	}
	return nil
}

// has reports whether a session has subscriptions.
func (t *watches) has(s *mcp.ServerSession) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.open {
		if _, found := w.sessions[s]; found {
			return true
		}
	}
	return false
}

// forget ends all subscriptions of a session.
func (t *watches) forget(s *mcp.ServerSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, w := range t.open {
		t.leave(id, w, s)
	}
}

// leave must be called with mu held.
func (t *watches) leave(id shoal.SpaceID, w *watch, s *mcp.ServerSession) {
	delete(w.sessions, s)
	if len(w.sessions) == 0 {
		w.cancel()
		delete(t.open, id)
	}
}

// run sends notifications about a thread until it has no subscribers or the caller may not
// read it: the caller has left, or its session is gone.
func (t *watches) run(ctx context.Context, id shoal.SpaceID, w *watch, f *feed.Follower) {
	for fresh := true; ; fresh = false {
		err := t.notify(ctx, id, f, fresh)
		f.Close()
		if !errors.Is(err, shoal.Busy) {
			t.over(ctx, id, w, err)
			return
		}
		// The follower was too slow. One notification covers the changes it missed.
		if f, err = t.follow(ctx, id); err != nil {
			t.over(ctx, id, w, err)
			return
		}
	}
}

// quiet is how long one read of a follower waits for events.
const quiet = time.Hour

// notify sends a change notification for each batch of events. The snapshot of a fresh
// follower does not count as a change.
func (t *watches) notify(ctx context.Context, id shoal.SpaceID, f *feed.Follower, fresh bool) error {
	for {
		events, err := f.Next(ctx, time.Now().Add(quiet))
		if err != nil {
			return err
		}
		changed := !fresh
		for _, e := range events {
			changed = changed || e.Type != shoal.EventSnapshot && e.Type != shoal.EventEntityUpdated && e.Type != shoal.EventDeliveryUpdated
		}
		if changed {
			// It fails for no single session; each one's own stream knows its end.
			_ = t.peer.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: threadURI + string(id)})
		}
		fresh = true
	}
}

// over removes a watch that ended by itself, and logs internal errors.
func (t *watches) over(ctx context.Context, id shoal.SpaceID, w *watch, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[id] == w {
		delete(t.open, id)
	}
	if ctx.Err() == nil && shoal.KindOf(err) == shoal.Internal && !errors.Is(err, core.ErrStopping) {
		t.peer.api.Log.Error("a subscription ended", "thread", id, "error", err)
	}
	w.cancel()
}
