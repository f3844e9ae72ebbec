package httpapi

import (
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// notes gives an agent the memories mem_1 and mem_2 and the goals goal_1 and goal_2.
func (w *world) notes(session shoal.SessionID, agent shoal.EntityID, text string) {
	w.Helper()
	w.must(w.store.Update(w.Context(), storage.Global, func(tx storage.Tx) error {
		for i := 1; i <= 2; i++ {
			at := shoal.Now()
			memory := shoal.Memory{ID: fmt.Sprintf("mem_%d", i), Content: text, Metadata: []byte("{}"), CreatedAt: at, UpdatedAt: at}
			if err := tx.PutMemory(session, agent, memory); err != nil {
				return err
			}
			goal := shoal.Goal{ID: fmt.Sprintf("goal_%d", i), Description: text, CreatedAt: at, UpdatedAt: at}
			if err := tx.PutGoal(session, agent, goal); err != nil {
				return err
			}
		}
		return nil
	}))
}

// What a hosted agent keeps in mind can be read page by page, and deleted one by one
// or at once; another agent keeps what it has.
func TestAgentNotesAreReadAndDeleted(t *testing.T) {
	w, _, _ := shop(t)
	w.host("default", "other")
	w.notes("default", "shop-agent", "laptops")
	w.notes("default", "other", "lamps")
	for _, noun := range []struct{ path, first, second string }{{"memories", "mem_1", "mem_2"}, {"goals", "goal_1", "goal_2"}} {
		type note struct{ ID string }
		at := agentBase + "/" + noun.path
		one := into[page[note]](w.do(w.admin, "GET", at+"?limit=1", nil).wants(200))
		if len(one.Items) != 1 || one.Items[0].ID != noun.first || one.NextCursor == nil {
			t.Fatalf("the first page of %s is %+v", noun.path, one)
		}
		two := into[page[note]](w.do(w.admin, "GET", at+"?cursor="+*one.NextCursor, nil).wants(200))
		if len(two.Items) != 1 || two.Items[0].ID != noun.second || two.NextCursor != nil {
			t.Errorf("the second page of %s is %+v", noun.path, two)
		}
		w.do(w.admin, "DELETE", at+"/"+noun.first, nil).wants(204)
		w.do(w.admin, "DELETE", at+"/"+noun.first, nil).wants(404)
		if left := into[page[note]](w.do(w.admin, "GET", at, nil).wants(200)); len(left.Items) != 1 || left.Items[0].ID != noun.second {
			t.Errorf("of %s %+v are left", noun.path, left)
		}
		w.do(w.admin, "DELETE", at, nil).wants(204)
		if left := into[page[note]](w.do(w.admin, "GET", at, nil).wants(200)); len(left.Items) != 0 {
			t.Errorf("of %s %+v are left after all were deleted", noun.path, left)
		}
		if kept := into[page[note]](w.do(w.admin, "GET", base+"/agents/other/"+noun.path, nil).wants(200)); len(kept.Items) != 2 {
			t.Errorf("the other agent has %s %+v", noun.path, kept)
		}
	}
}
