package hub_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// An entity can create and store only as much as its quotas allow. The error says what to
// do, and other entities are not affected. A repeated call does not count again.
func TestEntityQuotas(t *testing.T) {
	h := shop(t, func(o *hub.Options) { o.MaxSpacesEach, o.MaxBytesEach = 3, 100 })
	ctx := context.Background()
	create := func(caller shoal.Principal, key string) error {
		_, err := h.Spaces.Create(ctx, caller, shoal.DefaultSession, shoal.NewSpace{Name: "x", Members: []shoal.EntityID{"ann"}}, key)
		return err
	}
	upload := func(caller shoal.Principal, size int, key string) error {
		_, err := h.Files.Upload(ctx, caller, shoal.DefaultSession, shoal.File{Name: "f", MediaType: "text/plain"}, make([]byte, size),
			func(id shoal.FileID) string { return shoal.FilePath(shoal.DefaultSession, id) }, key)
		return err
	}
	refused := func(what string, err error, says string) {
		t.Helper()
		if !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range 2 { // and the shop
		must(t, create(ann, fmt.Sprint("key", i)))
	}
	refused("a fourth space", create(ann, ""), "3 spaces")
	must(t, create(ann, "key1"))
	must(t, create(bot, ""))
	acting := root
	acting.EntityID = "ann"
	must(t, create(root, ""))
	must(t, create(acting, ""))
	refused("one more after the admin's", create(ann, ""), "--max-spaces-each")

	must(t, upload(ann, 60, "file"))
	refused("41 bytes more", upload(ann, 41, ""), "60 bytes")
	must(t, upload(ann, 60, "file"))
	must(t, upload(ann, 40, ""))
	refused("one byte more", upload(ann, 1, ""), "--max-file-mib-each")
	must(t, upload(bot, 100, ""))
	must(t, upload(acting, 100, ""))
}

// The export of an earlier server lacks fields that were added since.
func TestParseOlderExports(t *testing.T) {
	for _, r := range storage.RecordTypes {
		line := map[string]string{
			"entity": `{"type":"entity","id":"a","kind":"agent","name":"A","description":"","externalId":null,"metadata":{},"createdAt":"2026-11-20T10:00:00.000000Z","lastSeenAt":null,"deletedAt":null,"hostedVersion":null}`,
			"space":  `{"type":"space","id":"a","name":"A","status":"open","summary":null,"adminAgentId":null,"showAgentReasoning":false,"metadata":{},"lastSeq":0,"createdAt":"2026-11-20T10:00:00.000000Z","closedAt":null}`,
		}[r.Name]
		if line == "" {
			continue
		}
		values, err := r.Parse([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		for i, f := range r.Fields {
			if f.Name == "sessionRole" && values[i] != "member" || (f.Name == "ownerId" || f.Name == "createdBy") && values[i] != nil {
				t.Errorf("%s.%s reads as %v", r.Name, f.Name, values[i])
			}
		}
	}
}
