package shoaltest

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// pending returns an open pending action with the required fields only.
func (c *storeCase) pending(id shoal.PendingID, kind shoal.PendingKind, run shoal.RunID, space shoal.SpaceID) hub.StoredPending {
	p := hub.StoredPending{Session: c.session}
	p.ID, p.Kind, p.RunID, p.AgentID, p.Status, p.CreatedAt = id, kind, run, "bot", shoal.PendingOpen, storeTime(1)
	if space != "" {
		p.SpaceID = &space
	}
	return p
}

// open stores pending actions in one transaction.
func (c *storeCase) open(all ...hub.StoredPending) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		for _, p := range all {
			if err := tx.InsertPending(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle stores changed pending actions.
func (c *storeCase) settle(all ...hub.StoredPending) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		for _, p := range all {
			if err := tx.UpdatePending(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// pendings returns the ids of those that are of the case's session.
func pendings(c *storeCase, read func(hub.Tx) ([]hub.StoredPending, error)) []shoal.PendingID {
	c.Helper()
	ids := []shoal.PendingID{}
	for _, p := range seen(c, read) {
		if p.Session == c.session {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// fullPending returns a pending action with every field set.
func (c *storeCase) fullPending() hub.StoredPending {
	return hub.StoredPending{
		PendingAction: shoal.PendingAction{
			ID: "pnd_full", Kind: shoal.PendingQuestion, RunID: "r1", AgentID: "bot", SpaceID: ref(shoal.SpaceID("shop")),
			MessageID: ref(shoal.MessageID("msg_1")), PartID: ref(shoal.PartID("prt_1")), ToolCallID: hostile, ToolName: hostile, Args: rawJSON,
			Question: ref(hostile), Options: []string{hostile, "", "b"}, ResultSchema: rawJSON, Status: shoal.PendingAnswered,
			ExpiresAt: ref(storeTime(2)), CreatedAt: storeTime(1), AnsweredBy: ref(shoal.EntityID("ann")), AnsweredAt: ref(storeTime(3)),
		},
		Session: c.session, Request: hostile, Hash: hostile, Requester: hostile, Target: "ann",
		Policy: hub.Policy{By: []shoal.EntityID{"ann", "bob"}, Quorum: 2, NotRequester: true, Targeted: true, Requesters: []shoal.EntityID{"ann"}, Votes: []hub.StoredVote{
			{EntityID: "bob", At: storeTime(5_000), Answer: shoal.PendingAnswer{Approved: ref(true), Args: []byte(`{"a":"<b> & c","n":1.50e+3}`)}}, {EntityID: "ann", At: storeTime(6_000)},
		}},
		Reply: &hub.ReplyWait{Space: "shop", After: 7, For: []hub.ReplyFrom{{Type: "entity", EntityID: "ann"}, {Type: "any"}}},
		Due:   ref(storeTime(4)),
		Answer: &shoal.PendingAnswer{
			Result: []byte(`{"a":"<b> & c","n":1.50e+3}`), Error: ref(hostile), Approved: ref(true), Reason: ref(""), Remember: &shoal.Remember{Decision: "allow", Scope: "tool", ForMs: 7}, Answer: ref(hostile),
		},
		AnswerHash: hostile, Taken: true,
	}
}

var pendingTests = map[string]func(*storeCase){
	"every field comes back as it was stored": func(c *storeCase) {
		full, bare := c.fullPending(), c.pending("pnd_bare", shoal.PendingClientTool, "r1", "")
		empty := bare
		empty.ID, empty.Options = "pnd_empty", []string{}
		c.open(full, bare, empty)
		for _, want := range []hub.StoredPending{full, bare, empty} {
			same(c, string(want.ID), seen(c, func(tx hub.Tx) (hub.StoredPending, error) { return tx.Pending(c.session, want.ID) }), want)
		}
	},

	"everything that can change is stored again": func(c *storeCase) {
		full := c.fullPending()
		before := c.pending(full.ID, full.Kind, full.RunID, "")
		get := func() hub.StoredPending {
			return seen(c, func(tx hub.Tx) (hub.StoredPending, error) { return tx.Pending(c.session, full.ID) })
		}
		c.open(before)
		c.settle(full)
		same(c, "the settled one", get(), full)
		c.settle(before)
		same(c, "changed back", get(), before)
	},

	"a missing one is NotFound, a taken id AlreadyExists, in each session for itself": func(c *storeCase) {
		p := c.pending("pnd_1", shoal.PendingPermission, "r1", "shop")
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.UpdatePending(p) })
		c.absent(func(tx hub.Tx) error { _, err := tx.Pending(c.session, "pnd_1"); return err })
		c.open(p)
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertPending(p) })
		other := newStoreCase(c.T, c.store)
		other.absent(func(tx hub.Tx) error { _, err := tx.Pending(other.session, "pnd_1"); return err })
		other.open(other.pending("pnd_1", shoal.PendingPermission, "r1", "shop"))
	},

	"those of a run in the order of their opening, in any state and of any kind": func(c *storeCase) {
		first, second, third := c.pending("z", shoal.PendingClientTool, "r1", ""), c.pending("a", hub.PendingTimer, "r1", ""), c.pending("m", hub.PendingReply, "r1", "")
		second.Status = shoal.PendingExpired
		c.open(first, c.pending("x", shoal.PendingClientTool, "r2", ""), second)
		c.open(third)
		same(c, "the run's", seen(c, func(tx hub.Tx) ([]hub.StoredPending, error) { return tx.PendingOf(c.session, "r1") }),
			[]hub.StoredPending{first, second, third})
		same(c, "no run's", seen(c, func(tx hub.Tx) ([]hub.StoredPending, error) { return tx.PendingOf(c.session, "r3") }), []hub.StoredPending{})
	},

	"pending actions are listed in the order of ids, by status, space, run and reader": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann")
		c.space("yard", "bob")
		answered := c.pending("p4", shoal.PendingPermission, "r1", "shop")
		answered.Status = shoal.PendingAnswered
		c.open(c.pending("p5", shoal.PendingQuestion, "r2", "shop"), answered, c.pending("p3", hub.PendingReply, "r1", "shop"),
			c.pending("p2", shoal.PendingClientTool, "r1", "yard"), c.pending("p1", shoal.PendingClientTool, "r1", ""), c.pending("p6", hub.PendingTimer, "r1", "shop"))
		type ids = []shoal.PendingID
		for _, f := range []struct {
			filter hub.PendingFilter
			want   ids
		}{
			{hub.PendingFilter{}, ids{"p1", "p2", "p4", "p5"}},
			{hub.PendingFilter{Limit: 2}, ids{"p1", "p2"}},
			{hub.PendingFilter{Limit: 2, After: "p2"}, ids{"p4", "p5"}},
			{hub.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}}, ids{"p1", "p2", "p5"}},
			{hub.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingAnswered}}, ids{"p4"}},
			{hub.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingExpired}}, ids{}},
			{hub.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingAnswered, shoal.PendingOpen}, Limit: 3}, ids{"p1", "p2", "p4"}},
			{hub.PendingFilter{Newest: true}, ids{"p5", "p4", "p2", "p1"}},
			{hub.PendingFilter{Newest: true, Limit: 2}, ids{"p5", "p4"}},
			{hub.PendingFilter{Newest: true, Limit: 2, After: "p4"}, ids{"p2", "p1"}},
			{hub.PendingFilter{Newest: true, After: "p1"}, ids{}},
			{hub.PendingFilter{Newest: true, Status: []shoal.PendingStatus{shoal.PendingAnswered, shoal.PendingExpired}}, ids{"p4"}},
			{hub.PendingFilter{Space: "shop"}, ids{"p4", "p5"}},
			{hub.PendingFilter{Space: "shop", Status: []shoal.PendingStatus{shoal.PendingOpen}}, ids{"p5"}},
			{hub.PendingFilter{Run: "r1"}, ids{"p1", "p2", "p4"}},
			{hub.PendingFilter{Run: "r1", Space: "yard"}, ids{"p2"}},
			{hub.PendingFilter{Reader: "ann"}, ids{"p4", "p5"}},
			{hub.PendingFilter{Reader: "ann", Status: []shoal.PendingStatus{shoal.PendingOpen}, Limit: 1}, ids{"p5"}},
			{hub.PendingFilter{Reader: "bob", Space: "shop"}, ids{}},
		} {
			same(c, fmt.Sprintf("those of %+v", f.filter), pendings(c, func(tx hub.Tx) ([]hub.StoredPending, error) {
				return tx.PendingActions(c.session, f.filter)
			}), f.want)
		}
		c.update(func(tx hub.Tx) error { return tx.DeleteMember(c.session, "shop", "ann") })
		same(c, "what ann sees after leaving", pendings(c, func(tx hub.Tx) ([]hub.StoredPending, error) {
			return tx.PendingActions(c.session, hub.PendingFilter{Reader: "ann"})
		}), ids{})
	},

	"open waits for a reply, by the space they wait in": func(c *storeCase) {
		wait := func(id shoal.PendingID, space shoal.SpaceID) hub.StoredPending {
			p := c.pending(id, hub.PendingReply, "r1", "")
			p.Reply = &hub.ReplyWait{Space: space, After: 3, For: []hub.ReplyFrom{{Type: "any"}}}
			return p
		}
		waits := func(space shoal.SpaceID) []shoal.PendingID {
			return pendings(c, func(tx hub.Tx) ([]hub.StoredPending, error) { return tx.ReplyWaits(c.session, space) })
		}
		first, second := wait("z", "shop"), wait("a", "shop")
		c.open(first, wait("m", "yard"), second, c.pending("q", shoal.PendingQuestion, "r1", "shop"))
		same(c, "in the shop", waits("shop"), []shoal.PendingID{"z", "a"})
		same(c, "in the yard", waits("yard"), []shoal.PendingID{"m"})
		first.Status = shoal.PendingAnswered
		c.settle(first)
		same(c, "after one was settled", waits("shop"), []shoal.PendingID{"a"})
	},

	"those that are due, and when the next one is": func(c *storeCase) {
		due := func(at, limit int) []shoal.PendingID {
			return pendings(c, func(tx hub.Tx) ([]hub.StoredPending, error) { return tx.DuePending(storeTime(at), limit) })
		}
		next := func() *shoal.Time { return seen(c, func(tx hub.Tx) (*shoal.Time, error) { return tx.NextDue() }) }
		at := func(id shoal.PendingID, n int) hub.StoredPending {
			p := c.pending(id, hub.PendingTimer, "r1", "")
			p.Due = ref(storeTime(n))
			return p
		}
		// Other tests leave none before that.
		a, b := at("a", -1000), at("b", -2000)
		c.open(a, b, c.pending("never", shoal.PendingQuestion, "r1", ""))
		same(c, "too early", due(-2001, 9), []shoal.PendingID{})
		same(c, "the first", due(-2000, 9), []shoal.PendingID{"b"})
		same(c, "both", due(-1000, 9), []shoal.PendingID{"b", "a"})
		same(c, "only one", due(-1000, 1), []shoal.PendingID{"b"})
		same(c, "the next", next(), ref(storeTime(-2000)))
		b.Status = shoal.PendingExpired
		c.settle(b)
		same(c, "the next after it was settled", next(), ref(storeTime(-1000)))
		a.Due = nil
		c.settle(a)
		same(c, "none is due any more", due(-1000, 9), []shoal.PendingID{})
	},
}
