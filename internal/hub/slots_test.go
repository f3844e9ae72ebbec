package hub_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// A requester with many runs gets no more than its share of a server's slots: the last
// quarter is reserved for others, which get a slot at once.
func TestSlotsAreShared(t *testing.T) {
	store := shoaltest.OpenSQLite(t)
	h := shop(t, func(o *hub.Options) { o.Store = store })
	ctx := context.Background()
	queue := func(requester string, n int) {
		t.Helper()
		must(t, store.Update(ctx, storage.Global, func(tx storage.Tx) error {
			for i := range n {
				r := storage.Run{Run: shoal.Run{
					SessionID: shoal.DefaultSession, ID: shoal.RunID(fmt.Sprintf("%s%d", requester, i)), AgentID: "bot", Status: shoal.RunQueued, CreatedAt: shoal.Now(),
				}, Requester: requester, Awake: true}
				if err := tx.InsertRun(r); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	var own []runs.Slot
	claim := func(want map[string]int) {
		t.Helper()
		const all = 16
		got := map[string]int{}
		claimed, err := h.Work.ClaimFor(ctx, "server", all-len(own), runs.Slots{Limit: all, Own: own}, time.Hour)
		must(t, err)
		for _, r := range claimed {
			got[r.Requester]++
			own = append(own, runs.Slot{Lease: runs.Lease{Session: r.SessionID, Run: r.ID, Generation: r.Generation}, Requester: r.Requester})
		}
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

// A server claims an expired lease of another server only if it knows that its holder is
// dead, even if the run was woken since.
func TestClaimOfExpiredLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := shop(t, nil)
		ctx := context.Background()
		putAgent(t, h, "bot", nil)
		_, err := say(h, "go")
		must(t, err)
		held, err := h.Work.Claim(ctx, "first", 1, time.Second)
		must(t, err)
		lease := runs.Lease{Session: shoal.DefaultSession, Run: held[0].ID, Generation: held[0].Generation}
		must(t, write(h, lease, func(c *runs.RunChange) error { c.Run.Awake = true; return nil }))
		<-time.After(2 * time.Second)
		var checked []runs.Lease
		claim := func(owner string, dead bool) []storage.Run {
			t.Helper()
			checked = nil
			runs, err := h.Work.ClaimFor(ctx, owner, 10, runs.Slots{OwnerIsDead: func(l runs.Lease) bool { checked = append(checked, l); return dead }}, time.Minute)
			must(t, err)
			return runs
		}
		if runs := claim("second", false); len(runs) != 0 || len(checked) != 1 || checked[0] != lease {
			t.Errorf("claimed %v, checked %v; want no claim and one check", runs, checked)
		}
		must(t, write(h, lease, func(*runs.RunChange) error { return nil })) // the first server still holds the lease
		if runs := claim("second", true); len(runs) != 1 || runs[0].Generation != lease.Generation+1 {
			t.Errorf("claimed %v, want the run of the dead server", runs)
		}
	})
}
