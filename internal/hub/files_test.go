package hub_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Only the uploader can read a file until a space shows it; then the members of that space
// can. Nobody can show a file that they may not read.
func TestFiles(t *testing.T) {
	ctx := context.Background()
	h := shop(t, nil)
	_, err := h.Entities.Create(ctx, root, shoal.DefaultSession, shoal.NewEntity{ID: "eve"}, "")
	must(t, err)
	eve := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "eve", KeyID: "eve"}
	_, err = h.Spaces.Create(ctx, eve, shoal.DefaultSession, shoal.NewSpace{ID: "den", Name: "den"}, "")
	must(t, err)
	service := shoal.Principal{Role: shoal.RoleService, SessionID: shoal.DefaultSession, KeyID: "s"}

	url := func(id shoal.FileID) string { return shoal.FilePath(shoal.DefaultSession, id) }
	upload := func(data string, key string) (shoal.File, error) {
		return h.Files.Upload(ctx, ann, shoal.DefaultSession, shoal.File{Name: "a.png", MediaType: "image/png", Size: 99}, []byte(data), url, key)
	}
	file, err := upload("picture", "k")
	must(t, err)
	if file.Size != 7 || file.URL != url(file.ID) {
		t.Errorf("the file is %+v", file)
	}
	if again, err := upload("picture", "k"); err != nil || again != file {
		t.Errorf("the same upload again is %+v, %v", again, err)
	}
	if _, err := upload("another", "k"); !errors.Is(err, shoal.IdempotencyMismatch) {
		t.Errorf("another one under its key: %v", err)
	}
	if _, err := h.Files.Upload(ctx, ann, shoal.DefaultSession, shoal.File{Name: "a", MediaType: "a/b"}, make([]byte, shoal.MaxFile+1), url, ""); !errors.Is(err, shoal.TooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
	if _, err := h.Files.Upload(ctx, ann, shoal.DefaultSession, shoal.File{Name: "a\nb"}, nil, url, ""); !errors.Is(err, shoal.InvalidArgument) {
		t.Errorf("a name of two lines and no type: %v", err)
	}

	sees := func(caller shoal.Principal, want bool) {
		t.Helper()
		_, data, err := h.Files.Get(ctx, caller, shoal.DefaultSession, file.ID)
		switch {
		case want && (err != nil || !bytes.Equal(data, []byte("picture"))):
			t.Errorf("%s gets %q, %v", caller.KeyID, data, err)
		case !want && (!errors.Is(err, shoal.NotFound) || data != nil):
			t.Errorf("%s gets %q, %v, want NotFound", caller.KeyID, data, err)
		}
	}
	show := func(caller shoal.Principal, space shoal.SpaceID, at string) error {
		part := shoal.Part{Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", Size: 7, URL: at}
		_, err := h.Messages.Post(ctx, caller, shoal.DefaultSession, space, shoal.Draft{Parts: []shoal.Part{part}}, "")
		return err
	}
	sees(ann, true)
	sees(bot, false)
	sees(root, true)
	sees(service, true)
	for name, err := range map[string]error{
		"a file of somebody else":    show(eve, "den", file.URL),
		"no file":                    show(ann, "shop", url("fil_nothing")),
		"a file of another session":  show(ann, "shop", shoal.FilePath("lab", file.ID)),
		"a path that shows no file":  show(ann, "shop", "/v1/sessions/default/files"),
		"a path of something else":   show(ann, "shop", "/v1/sessions/default/runs/x"),
		"a path that goes somewhere": show(ann, "shop", "/v1/sessions/default/files/../x"),
	} {
		if !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("a post with %s: %v, want InvalidArgument", name, err)
		}
	}
	must(t, show(ann, "shop", file.URL))
	must(t, show(ann, "shop", "https://example.com/elsewhere.png"))
	sees(bot, true)
	sees(eve, false)
	must(t, show(bot, "shop", file.URL)) // members that can read it may show it
	_, err = h.Spaces.Leave(ctx, ann, shoal.DefaultSession, "shop", "bot")
	must(t, err)
	sees(bot, false)
}

// Admins can sum the usage, grouped by known names, each at most once.
func TestUsage(t *testing.T) {
	ctx := context.Background()
	h := shop(t, nil)
	putAgent(t, h, "bot", nil)
	_, err := say(h, "go")
	must(t, err)
	run, lease := claimOne(t, h, "w")
	must(t, write(h, lease, func(c *runs.RunChange) error {
		for step, tokens := range []int64{10, 20} {
			used := storage.StepUsage{Run: run.ID, Step: step, Agent: "bot", Model: "m", At: shoal.Now(), Usage: shoal.Usage{InputTokens: tokens, Currency: shoal.Currency}}
			if err := c.AddUsage(shoal.DefaultSession, used); err != nil {
				return err
			}
		}
		return nil
	}))
	rows, err := h.Usage.Sum(ctx, root, shoal.DefaultSession, storage.UsageQuery{By: []string{"agent", "model"}})
	must(t, err)
	if len(rows) != 1 || rows[0].AgentID != "bot" || rows[0].Model != "m" || rows[0].Calls != 2 || rows[0].InputTokens != 30 {
		t.Errorf("the usage is %+v", rows)
	}
	if _, err := h.Usage.Sum(ctx, ann, shoal.DefaultSession, storage.UsageQuery{}); !errors.Is(err, shoal.Forbidden) {
		t.Errorf("usage for an entity: got %v, want Forbidden", err)
	}
	for _, by := range [][]string{{"space"}, {"agent", "agent"}} {
		if _, err := h.Usage.Sum(ctx, root, shoal.DefaultSession, storage.UsageQuery{By: by}); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("by %v: %v", by, err)
		}
	}
}
