package hub_test

import (
	"context"
	"errors"
	"testing"

	"github.com/shoal-dev/shoal"
)

// Admins store renderers, and every caller of the session can read them. Storing the same
// page again creates no version; another page does, also after a deletion.
func TestRenderers(t *testing.T) {
	ctx := context.Background()
	h := shop(t, nil)
	service := shoal.Principal{Role: shoal.RoleService, SessionID: shoal.DefaultSession, KeyID: "s"}
	stranger := shoal.Principal{Role: shoal.RoleEntity, SessionID: "lab", EntityID: "ann", KeyID: "l"}
	put := func(caller shoal.Principal, name shoal.RendererName, page string) (shoal.Renderer, bool, error) {
		return h.Renderers.Put(ctx, caller, shoal.DefaultSession, name, []byte(page))
	}
	for _, c := range []struct {
		page    string
		version int
		created bool
	}{{"one", 1, true}, {"one", 1, false}, {"two", 2, false}, {"one", 3, false}} {
		got, created, err := put(root, "card", c.page)
		if err != nil || got.Version != c.version || created != c.created || got.URL != shoal.RendererPath(shoal.DefaultSession, "card", c.version) || got.Size != 3 {
			t.Errorf("pushing %q makes %+v, created %v, %v; want version %d", c.page, got, created, err, c.version)
		}
	}
	for caller, want := range map[*shoal.Principal]shoal.Kind{&ann: shoal.Forbidden, &service: shoal.Forbidden, &stranger: shoal.NotFound} {
		_, _, err := put(*caller, "card", "mine")
		if deleted := h.Renderers.Delete(ctx, *caller, shoal.DefaultSession, "card"); shoal.KindOf(err) != want || shoal.KindOf(deleted) != want {
			t.Errorf("%s pushes: %v, deletes: %v; want %s", caller.KeyID, err, deleted, want)
		}
	}
	for _, caller := range []shoal.Principal{root, ann, service} {
		all, err := h.Renderers.List(ctx, caller, shoal.DefaultSession, "", 9)
		if err != nil || len(all) != 1 || all[0].Version != 3 || all[0].URL == "" {
			t.Errorf("%s sees %+v, %v", caller.KeyID, all, err)
		}
		if _, page, err := h.Renderers.Page(ctx, caller, shoal.DefaultSession, "card", 2); err != nil || string(page) != "two" {
			t.Errorf("%s gets %q, %v", caller.KeyID, page, err)
		}
	}
	_, listed := h.Renderers.List(ctx, stranger, shoal.DefaultSession, "", 9)
	_, page, got := h.Renderers.Page(ctx, stranger, shoal.DefaultSession, "card", 1)
	if !errors.Is(listed, shoal.NotFound) || !errors.Is(got, shoal.NotFound) || page != nil {
		t.Errorf("a caller of another session: got %v, %v, want NotFound", listed, got)
	}
	must(t, h.Renderers.Delete(ctx, root, shoal.DefaultSession, "card"))
	if _, _, err := h.Renderers.Page(ctx, root, shoal.DefaultSession, "card", 3); !errors.Is(err, shoal.NotFound) {
		t.Errorf("after the deletion: got %v, want NotFound", err)
	}
	if again, created, err := put(root, "card", "one"); err != nil || !created || again.Version != 4 {
		t.Errorf("stored again: got %+v, created %v, %v; want version 4", again, created, err)
	}
}
