package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// A requester that has many runs takes no more of a server's slots than its share: the
// last quarter is left to others, who find a slot at once.
func TestSlotsAreShared(t *testing.T) {
	store := shoaltest.OpenSQLite(t)
	h := shop(t, func(o *hub.Options) { o.Store = store })
	ctx := context.Background()
	queue := func(requester string, n int) {
		t.Helper()
		must(t, store.Update(ctx, func(tx hub.Tx) error {
			for i := range n {
				r := hub.StoredRun{Run: shoal.Run{
					SessionID: shoal.DefaultSession, ID: shoal.RunID(fmt.Sprintf("%s%d", requester, i)), AgentID: "bot", Status: shoal.RunQueued, CreatedAt: shoal.Now(),
				}, Requester: requester, Awake: true}
				if err := tx.InsertRun(r); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	taken := 0
	claim := func(want map[string]int) {
		t.Helper()
		const all = 16
		got := map[string]int{}
		runs, err := h.Work.ClaimFor(ctx, "server", all-taken, hub.Slots{All: all, Taken: taken}, time.Hour)
		must(t, err)
		for _, r := range runs {
			got[r.Requester]++
		}
		taken += len(runs)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("claimed %v, want %v", got, want)
		}
	}
	queue("greedy", 100)
	claim(map[string]int{"greedy": 12})
	claim(map[string]int{})
	queue("ann", 5)
	claim(map[string]int{"ann": 2}) // an eighth
	queue("cat", 1)
	claim(map[string]int{"cat": 1})
}
