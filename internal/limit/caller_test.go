package limit_test

import (
	"context"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// The runs that an entity has requested are another caller than the entity, and those that
// nobody has requested may use the share of admins.
func TestCallersOfContexts(t *testing.T) {
	none := context.Background()
	ann := limit.As(none, shoal.Principal{Role: shoal.RoleEntity, SessionID: "s", EntityID: "ann"})
	runs := limit.AsRunOf(none, "s", "ann")
	planned := limit.AsRunOf(none, "s", "")
	seen := map[limit.Caller]string{}
	for name, tt := range map[string]struct {
		ctx   context.Context
		admin bool
	}{
		"nobody": {none, true}, "ann": {ann, false}, "runs of ann": {runs, false}, "planned runs": {planned, true},
		"runs of bob": {limit.AsRunOf(ann, "s", "bob"), false}, "runs of ann elsewhere": {limit.AsRunOf(none, "t", "ann"), false},
	} {
		c := limit.For(tt.ctx)
		if other, found := seen[c]; found {
			t.Errorf("%s and %s are one caller", name, other)
		}
		seen[c] = name
		if c.Admin() != tt.admin {
			t.Errorf("%s may use the share of admins: %t, want %t", name, c.Admin(), tt.admin)
		}
	}
	if limit.For(none) != limit.Server {
		t.Error("a context without a caller does not count for the server")
	}
	if limit.For(limit.AsRunOf(ann, "s", "ann")) != limit.For(runs) {
		t.Error("two runs for one entity are two callers")
	}
}
