package httpapi

import (
	"net/http"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
)

// Everything that creates gives the same answer to the same call under the same
// key, refuses another call under it, and belongs to one principal.
func TestRepeatedCallsCreateOnce(t *testing.T) {
	w, ann, bot := conversation(t)
	w.host("default", "shop-agent")
	for path, c := range map[string]struct{ secret, body, other string }{
		"/v1/sessions":                 {w.admin, `{"name": "a"}`, `{"name": "b"}`},
		base + "/entities":             {w.admin, `{"id": "dan"}`, `{"id": "eve"}`},
		base + "/spaces":               {ann, `{"name": "a"}`, `{"name": "b"}`},
		base + "/spaces/shop/messages": {ann, `{"text": "a"}`, `{"text": "b"}`},
		base + "/invites":              {w.admin, `{"name": "a"}`, `{"name": "b"}`},
		"/v1/keys":                     {w.admin, `{"role": "service", "name": "a"}`, `{"role": "service", "name": "b"}`},
		agentBase + "/plans":           {w.admin, `{"name": "a", "scheduledAt": "2126-11-20T10:00:00Z"}`, `{"name": "b", "scheduledAt": "2126-11-20T10:00:00Z"}`},
	} {
		first := into[map[string]any](w.do(c.secret, "POST", path, c.body, "Idempotency-Key", "k1").wants(201))
		again := into[map[string]any](w.do(c.secret, "POST", path, c.body, "Idempotency-Key", "k1").wants(201))
		if again["id"] != first["id"] {
			t.Errorf("%s repeated gives %v, first it gave %v", path, again, first)
		}
		if path == "/v1/keys" && (first["key"] == nil || again["key"] != nil) {
			t.Errorf("a key is shown first as %v, then as %v", first["key"], again["key"])
		}
		w.do(c.secret, "POST", path, c.other, "Idempotency-Key", "k1").refuses(shoal.IdempotencyMismatch)
	}
	w.do(bot, "POST", base+"/spaces/shop/messages", `{"text": "b"}`, "Idempotency-Key", "k1").wants(201)
}

func TestConcurrentDuplicatesAreOneMessage(t *testing.T) {
	w, ann, bot := conversation(t)
	ids := make([]shoal.MessageID, 32)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			m := into[shoal.Message](w.do(ann, "POST", base+"/spaces/shop/messages", `{"text": "once", "mentions": ["bot"]}`, "Idempotency-Key", "k").wants(http.StatusCreated))
			ids[i] = m.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("the answers name %s and %s", ids[0], id)
		}
	}
	if space := into[shoal.Space](w.do(bot, "GET", base+"/spaces/shop", nil).wants(200)); space.LastSeq != 1 || space.MentionCount != 1 {
		t.Errorf("the space = %+v", space)
	}
}
