package httpapi

import (
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal"
)

// A runner is what it says, a key reports for its own agent alone, and a removed runner gets no more
// work: also a claim that it has open ends.
func TestRunners(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"scout", "clerk"} {
		w.do(w.admin, "PUT", base+"/agents/"+id, `{"version": "1.0", "agent": {}, "remote": {}}`).wants(201)
	}
	key := into[shoal.Key](w.do(w.admin, "POST", "/v1/keys", shoal.NewKey{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "scout"}).wants(201))
	scout := *key.Secret
	const report = `{"version": "1.0.0", "kind": "codex", "dir": "~/app", "mode": "ask", "respondTo": ["owner"], "approve": ["owner", "ben"], "maxTurnsPerHour": 30}`
	w.do(scout, "PUT", base+"/runners/ada-mbp/agents/scout", report).wants(204)
	w.do(scout, "PUT", base+"/runners/ada-mbp/agents/clerk", report).refuses(shoal.Forbidden)
	w.do(scout, "PUT", base+"/runners/ada-mbp/agents/nobody", report).refuses(shoal.NotFound)
	w.do(scout, "PUT", base+"/runners/ada-mbp/agents/scout", `{"kind": "codex", "mode": "ask", "maxTurnsPerHour": -1}`).refuses(shoal.InvalidArgument)
	w.do(w.admin, "PUT", base+"/runners/lab/agents/clerk", report).wants(204)

	list := func(query string) (out struct {
		Items      []shoal.Runner
		NextCursor *string
	},
	) {
		return into[struct {
			Items      []shoal.Runner
			NextCursor *string
		}](w.do(w.admin, "GET", base+"/runners"+query, nil).wants(200))
	}
	first := list("?limit=1")
	if len(first.Items) != 1 || first.Items[0].ID != "ada-mbp" || !first.Items[0].Online || first.NextCursor == nil {
		t.Fatalf("the first page: %+v", first)
	}
	if a := first.Items[0].Agents[0]; a.AgentID != "scout" || a.KeyID == nil || *a.KeyID != key.ID || a.Report.Approve[1] != "ben" || a.Report.MaxTurnsPerHour != 30 {
		t.Errorf("what it says: %+v", a)
	}
	if second := list("?limit=1&cursor=" + *first.NextCursor); len(second.Items) != 1 || second.Items[0].ID != "lab" || second.Items[0].Agents[0].KeyID != nil || second.NextCursor != nil {
		t.Errorf("the second page: %+v", second)
	}

	ended := make(chan answer, 1)
	go func() { ended <- w.do(scout, "POST", base+"/agents/scout/claim", `{"waitMs": 600000}`) }()
	w.until("the claim waits", func() bool {
		return into[shoal.Entity](w.do(w.admin, "GET", base+"/entities/scout", nil).wants(200)).State == shoal.Waiting
	})
	w.do(w.admin, "DELETE", base+"/runners/ada-mbp", nil).wants(204)
	(<-ended).wants(http.StatusUnauthorized)
	w.do(scout, "POST", base+"/agents/scout/claim", nil).wants(401)
	w.do(w.admin, "DELETE", base+"/runners/ada-mbp", nil).refuses(shoal.NotFound)
	if left := list(""); len(left.Items) != 1 || left.Items[0].ID != "lab" {
		t.Errorf("those that are left: %+v", left)
	}
	w.do(w.admin, "DELETE", base+"/entities/clerk", nil).wants(204)
	if left := list(""); len(left.Items) != 0 {
		t.Errorf("without its agent: %+v", left)
	}
}
