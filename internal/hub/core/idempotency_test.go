package core_test

import (
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

// Idempotency keys of one caller never meet those of another.
func TestCallerName(t *testing.T) {
	seen := map[string]string{}
	for name, p := range map[string]shoal.Principal{
		"ann":                {Role: shoal.RoleEntity, SessionID: "default", EntityID: "ann", KeyID: "k1"},
		"bot":                {Role: shoal.RoleEntity, SessionID: "default", EntityID: "bot", KeyID: "k2"},
		"a service":          {Role: shoal.RoleService, SessionID: "default", KeyID: "k3"},
		"another service":    {Role: shoal.RoleService, SessionID: "default", KeyID: "k4"},
		"an admin":           {Role: shoal.RoleAdmin, KeyID: "k5"},
		"an admin called k4": {Role: shoal.RoleAdmin, KeyID: "k4"},
	} {
		if other, taken := seen[core.CallerName(p)]; taken {
			t.Errorf("%s and %s share the name %q", name, other, core.CallerName(p))
		}
		seen[core.CallerName(p)] = name
	}
	one := shoal.Principal{Role: shoal.RoleEntity, EntityID: "ann", KeyID: "k1"}
	two := shoal.Principal{Role: shoal.RoleEntity, EntityID: "ann", KeyID: "k2"}
	if core.CallerName(one) != core.CallerName(two) {
		t.Error("two keys of one entity are two principals")
	}
}
