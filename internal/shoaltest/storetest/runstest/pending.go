package runstest

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// updatePending stores changed pending actions.
func updatePending(c *storecase.Case, all ...storage.Pending) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		for _, p := range all {
			if err := tx.UpdatePending(p); err != nil {
				return err
			}
		}
		return nil
	})
}

var pendingTests = map[string]func(*storecase.Case){
	"every field is read as it was stored": func(c *storecase.Case) {
		full, bare := c.FullPending(), c.NewPending("pnd_bare", shoal.PendingClientTool, "r1", "")
		empty := bare
		empty.ID, empty.Options = "pnd_empty", []string{}
		c.AddPending(full, bare, empty)
		for _, want := range []storage.Pending{full, bare, empty} {
			storecase.Equal(c, string(want.ID), storecase.Read(c, func(tx storage.Tx) (storage.Pending, error) { return tx.Pending(c.Session, want.ID) }), want)
		}
	},

	"an update stores everything that can change": func(c *storecase.Case) {
		full := c.FullPending()
		before := c.NewPending(full.ID, full.Kind, full.RunID, "")
		get := func() storage.Pending {
			return storecase.Read(c, func(tx storage.Tx) (storage.Pending, error) { return tx.Pending(c.Session, full.ID) })
		}
		c.AddPending(before)
		updatePending(c, full)
		storecase.Equal(c, "the settled one", get(), full)
		updatePending(c, before)
		storecase.Equal(c, "changed back", get(), before)
	},

	"a missing id is NotFound and a used one AlreadyExists, in each session separately": func(c *storecase.Case) {
		p := c.NewPending("pnd_1", shoal.PendingPermission, "r1", "shop")
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.UpdatePending(p) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Pending(c.Session, "pnd_1"); return err })
		c.AddPending(p)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertPending(p) })
		other := storecase.New(c.T, c.Store)
		other.WantNotFound(func(tx storage.Tx) error { _, err := tx.Pending(other.Session, "pnd_1"); return err })
		other.AddPending(other.NewPending("pnd_1", shoal.PendingPermission, "r1", "shop"))
	},

	"actions of a run are listed in the order of creation, in any state and of any kind": func(c *storecase.Case) {
		first, second, third := c.NewPending("z", shoal.PendingClientTool, "r1", ""), c.NewPending("a", storage.PendingTimer, "r1", ""), c.NewPending("m", storage.PendingReply, "r1", "")
		second.Status = shoal.PendingExpired
		c.AddPending(first, c.NewPending("x", shoal.PendingClientTool, "r2", ""), second)
		c.AddPending(third)
		storecase.Equal(c, "the run's", storecase.Read(c, func(tx storage.Tx) ([]storage.Pending, error) { return tx.PendingOf(c.Session, "r1") }),
			[]storage.Pending{first, second, third})
		storecase.Equal(c, "no run's", storecase.Read(c, func(tx storage.Tx) ([]storage.Pending, error) { return tx.PendingOf(c.Session, "r3") }), []storage.Pending{})
	},

	"pending actions are listed in the order of ids, by status, space, run, agent and reader": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann")
		c.AddSpace("yard", "bob")
		answered := c.NewPending("p4", shoal.PendingPermission, "r1", "shop")
		answered.Status = shoal.PendingAnswered
		c.AddPending(c.NewPending("p5", shoal.PendingQuestion, "r2", "shop"), answered, c.NewPending("p3", storage.PendingReply, "r1", "shop"),
			c.NewPending("p2", shoal.PendingClientTool, "r1", "yard"), c.NewPending("p1", shoal.PendingClientTool, "r1", ""), c.NewPending("p6", storage.PendingTimer, "r1", "shop"))
		type ids = []shoal.PendingID
		for _, f := range []struct {
			filter storage.PendingFilter
			want   ids
		}{
			{storage.PendingFilter{}, ids{"p1", "p2", "p4", "p5"}},
			{storage.PendingFilter{Limit: 2}, ids{"p1", "p2"}},
			{storage.PendingFilter{Limit: 2, After: "p2"}, ids{"p4", "p5"}},
			{storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}}, ids{"p1", "p2", "p5"}},
			{storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingAnswered}}, ids{"p4"}},
			{storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingExpired}}, ids{}},
			{storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingAnswered, shoal.PendingOpen}, Limit: 3}, ids{"p1", "p2", "p4"}},
			{storage.PendingFilter{Newest: true}, ids{"p5", "p4", "p2", "p1"}},
			{storage.PendingFilter{Newest: true, Limit: 2}, ids{"p5", "p4"}},
			{storage.PendingFilter{Newest: true, Limit: 2, After: "p4"}, ids{"p2", "p1"}},
			{storage.PendingFilter{Newest: true, After: "p1"}, ids{}},
			{storage.PendingFilter{Newest: true, Status: []shoal.PendingStatus{shoal.PendingAnswered, shoal.PendingExpired}}, ids{"p4"}},
			{storage.PendingFilter{Space: "shop"}, ids{"p4", "p5"}},
			{storage.PendingFilter{Space: "shop", Status: []shoal.PendingStatus{shoal.PendingOpen}}, ids{"p5"}},
			{storage.PendingFilter{Run: "r1"}, ids{"p1", "p2", "p4"}},
			{storage.PendingFilter{Run: "r1", Space: "yard"}, ids{"p2"}},
			{storage.PendingFilter{Reader: "ann"}, ids{"p4", "p5"}},
			{storage.PendingFilter{Reader: "ann", Status: []shoal.PendingStatus{shoal.PendingOpen}, Limit: 1}, ids{"p5"}},
			{storage.PendingFilter{Reader: "bob", Space: "shop"}, ids{}},
			{storage.PendingFilter{Agent: "bot", Status: []shoal.PendingStatus{shoal.PendingOpen}}, ids{"p1", "p2", "p5"}},
			{storage.PendingFilter{Agent: "rob"}, ids{}},
		} {
			storecase.Equal(c, fmt.Sprintf("those of %+v", f.filter), storecase.OwnPending(c, func(tx storage.Tx) ([]storage.Pending, error) {
				return tx.PendingActions(c.Session, f.filter)
			}), f.want)
		}
		c.Update(func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "ann") })
		storecase.Equal(c, "what ann sees after leaving", storecase.OwnPending(c, func(tx storage.Tx) ([]storage.Pending, error) {
			return tx.PendingActions(c.Session, storage.PendingFilter{Reader: "ann"})
		}), ids{})
	},

	"open waits for a reply are listed by space": func(c *storecase.Case) {
		wait := func(id shoal.PendingID, space shoal.SpaceID) storage.Pending {
			p := c.NewPending(id, storage.PendingReply, "r1", "")
			p.Reply = &storage.ReplyWait{Space: space, After: 3, For: []storage.ReplyFrom{{Type: "any"}}}
			return p
		}
		waits := func(space shoal.SpaceID) []shoal.PendingID {
			return storecase.OwnPending(c, func(tx storage.Tx) ([]storage.Pending, error) { return tx.ReplyWaits(c.Session, space) })
		}
		first, second := wait("z", "shop"), wait("a", "shop")
		c.AddPending(first, wait("m", "yard"), second, c.NewPending("q", shoal.PendingQuestion, "r1", "shop"))
		storecase.Equal(c, "in the shop", waits("shop"), []shoal.PendingID{"z", "a"})
		storecase.Equal(c, "in the yard", waits("yard"), []shoal.PendingID{"m"})
		first.Status = shoal.PendingAnswered
		updatePending(c, first)
		storecase.Equal(c, "after one was settled", waits("shop"), []shoal.PendingID{"a"})
	},

	"due actions, and the time of the next one": func(c *storecase.Case) {
		due := func(at, limit int) []shoal.PendingID {
			return storecase.OwnPending(c, func(tx storage.Tx) ([]storage.Pending, error) { return tx.DuePending(storecase.Time(at), limit) })
		}
		next := func() *shoal.Time {
			return storecase.Read(c, func(tx storage.Tx) (*shoal.Time, error) { return tx.NextDue() })
		}
		at := func(id shoal.PendingID, n int) storage.Pending {
			p := c.NewPending(id, storage.PendingTimer, "r1", "")
			p.Due = storecase.Ptr(storecase.Time(n))
			return p
		}
		// Other tests leave none before that.
		a, b := at("a", -1000), at("b", -2000)
		c.AddPending(a, b, c.NewPending("never", shoal.PendingQuestion, "r1", ""))
		storecase.Equal(c, "too early", due(-2001, 9), []shoal.PendingID{})
		storecase.Equal(c, "the first", due(-2000, 9), []shoal.PendingID{"b"})
		storecase.Equal(c, "both", due(-1000, 9), []shoal.PendingID{"b", "a"})
		storecase.Equal(c, "only one", due(-1000, 1), []shoal.PendingID{"b"})
		storecase.Equal(c, "the next", next(), storecase.Ptr(storecase.Time(-2000)))
		b.Status = shoal.PendingExpired
		updatePending(c, b)
		storecase.Equal(c, "the next after it was settled", next(), storecase.Ptr(storecase.Time(-1000)))
		a.Due = nil
		updatePending(c, a)
		storecase.Equal(c, "none is due any more", due(-1000, 9), []shoal.PendingID{})
	},
}
