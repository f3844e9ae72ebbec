package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// A key that is revoked on one server ends its waits and streams on another, with the bus
// and without it, and is refused there.
func revocationCrossesServers(t *testing.T, c *cluster) {
	c.newKey(t, "ida", shoal.Human)
	c.space(t, "yard", "ida")
	for _, cut := range []bool{false, true} {
		key := c.newKey(t, "ida", shoal.Human)
		s := c.nodes[1].session(t, *key.Secret)
		rest := c.nodes[1].open(t.Context(), t, overREST(t, c.nodes[1], *key.Secret, "ida"), 0)
		mcp := c.nodes[1].open(t.Context(), t, overMCP(t, c.nodes[1], *key.Secret, "ida"), 1)
		begun, stream := make(chan struct{}, 1), make(chan waited, 1)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		go func() { // ends with ctx at the latest
			var ended error
			for ev, err := range s.Follow(ctx, client.FollowOptions{Space: "yard"}) {
				if ev.Type == shoal.EventSnapshot {
					begun <- struct{}{}
				}
				ended = err
			}
			stream <- waited{err: ended, at: time.Now()}
		}()
		<-begun
		if cut {
			c.each((*node).cutBus)
		}
		began := time.Now()
		if err := c.nodes[0].client(t, c.key).RevokeKey(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		for name, done := range map[string]<-chan waited{"wait over REST": rest, "wait over MCP": mcp, "stream": stream} {
			var got waited
			select {
			case got = <-done:
			case <-time.After(patience):
				t.Fatalf("the %s of a revoked key goes on", name)
			}
			took := got.at.Sub(began)
			if got.err == nil || took > revokeLimit {
				t.Errorf("without the bus %v: the %s of a revoked key ended %v after the revocation with %v, want an error within %v", cut, name, took, got.err, revokeLimit)
			}
			t.Logf("without the bus %v: the %s ended %v after the revocation: %v", cut, name, took, got.err)
		}
		until(t, "the revoked key is refused on b", revokeLimit, func() bool {
			_, err := s.Space(t.Context(), "yard")
			return shoal.KindOf(err) == shoal.Unauthenticated
		})
		if cut {
			c.each((*node).healBus)
			c.untilBusIsUp(t)
		}
	}
}
