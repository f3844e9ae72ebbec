package app

import (
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// Two ordinary keys that take all they can get of any bound of the server leave a third
// caller and the admin something.
func TestEveryBoundLeavesOthersSomething(t *testing.T) {
	s, err := Start(t.Context(), Config{Data: t.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	entity := func(id shoal.EntityID) limit.Caller {
		return limit.Of(shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id, KeyID: shoal.KeyID("key_" + id)})
	}
	admin := limit.Of(shoal.Principal{Role: shoal.RoleAdmin, KeyID: "key_admin"})
	bounds := s.limits.Watched()
	for _, o := range bounds {
		piece := max(1, o.All()/1000)
		taken := map[limit.Caller]int64{}
		take := func(c limit.Caller) bool {
			if o.Take(c, piece) != limit.Entered {
				return false
			}
			taken[c] += piece
			return true
		}
		for _, greedy := range []limit.Caller{entity("mallory"), entity("malvin")} {
			for take(greedy) {
			}
		}
		for take(entity("mallory")) || take(entity("malvin")) {
		}
		if !take(entity("ann")) || !take(admin) {
			t.Errorf("of a bound of %d two callers left nothing to a third one or the admin", o.All())
		}
		for c, n := range taken {
			o.Give(c, n)
		}
	}
	if len(bounds) < 6 { // calls, streams, uploads, waits, what waits to be written, bodies
		t.Errorf("the server watches %d bounds", len(bounds))
	}
}
