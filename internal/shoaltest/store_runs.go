package shoaltest

import (
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// run returns a queued run with nothing but what it needs.
func (c *storeCase) run(id shoal.RunID, agent shoal.EntityID, space shoal.SpaceID) hub.StoredRun {
	r := hub.StoredRun{Version: 1, Space: space, NotBefore: storeTime(0)}
	r.ID, r.SessionID, r.AgentID, r.Status, r.CreatedAt = id, c.session, agent, shoal.RunQueued, storeTime(1)
	r.Trigger = shoal.Trigger{Type: shoal.SpaceMessageTrigger, SpaceID: space}
	r.PendingToolCalls, r.ActingFor = []shoal.PendingToolCall{}, []shoal.EntityID{}
	return r
}

// runs stores runs in one transaction.
func (c *storeCase) runs(all ...hub.StoredRun) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		for _, r := range all {
			if err := tx.InsertRun(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// rerun stores changed runs.
func (c *storeCase) rerun(all ...hub.StoredRun) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		for _, r := range all {
			if err := tx.UpdateRun(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func storedRun(c *storeCase, id shoal.RunID) hub.StoredRun {
	c.Helper()
	return seen(c, func(tx hub.Tx) (hub.StoredRun, error) { return tx.Run(c.session, id) })
}

// mine returns the ids of those runs that are of the case's session.
func mine(c *storeCase, all []hub.StoredRun) []shoal.RunID {
	ids := []shoal.RunID{}
	for _, r := range all {
		if r.SessionID == c.session {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func listed(c *storeCase, filter hub.RunFilter) []shoal.RunID {
	c.Helper()
	return mine(c, seen(c, func(tx hub.Tx) ([]hub.StoredRun, error) { return tx.Runs(c.session, filter) }))
}

// wrote stores a composite message of a run.
func (c *storeCase) wrote(space shoal.SpaceID, run shoal.RunID) shoal.Message {
	c.Helper()
	m := c.message(space, "bot", "")
	m.RunID, m.Status, m.Parts = &run, shoal.MessageStreaming, []shoal.Part{}
	return done(c, func(tx hub.Tx) (shoal.Message, error) {
		s, err := tx.LockSpace(c.session, space)
		if err != nil {
			return m, err
		}
		m.Seq = s.LastSeq + 1
		return m, tx.InsertMessage(m, hub.PostKey{})
	})
}

// fullRun returns a run in which every field is set.
func (c *storeCase) fullRun() hub.StoredRun {
	return hub.StoredRun{
		Run: shoal.Run{
			ID: "run_full", SessionID: c.session, AgentID: "bot", Status: shoal.RunFailed,
			Trigger: shoal.Trigger{
				Type: shoal.ServiceTrigger, SpaceID: "shop", SpaceName: hostile, MessageID: "msg_1", MessageContent: hostile, SenderEntityID: "ann",
				SenderName: hostile, SenderType: shoal.Human, MentionReason: hostile, PlanID: "pln_1", PlanName: hostile, ScheduledAt: storeTime(5),
				Instruction: hostile, ServiceName: hostile, Payload: []byte(`{"a":"<b>&","n":1.50}`),
			},
			CauseRoot: hostile, Depth: 3, ActingFor: []shoal.EntityID{"ann", hostile}, Steps: 4, MaxSteps: 5,
			Usage: shoal.Usage{
				InputTokens: 1 << 50, CachedInputTokens: 2, OutputTokens: 3, ReasoningTokens: 4, Cost: 0.1 + 0.2, Currency: shoal.Currency,
			},
			PendingToolCalls: []shoal.PendingToolCall{},
			Error:            &shoal.RunError{Code: "timeout", Message: hostile, Retryable: true},
			CreatedAt:        storeTime(1), StartedAt: ref(storeTime(2)), EndedAt: ref(storeTime(3)),
			Activity: &shoal.RunActivity{At: storeTime(2000), Kind: shoal.ActivityTool}, StalledSince: ref(storeTime(2)),
		},
		Version: 7, Space: "shop", Requester: hostile, Linked: true, Awake: false, NotBefore: storeTime(4), Cancel: true,
		Owner: "one", LeaseUntil: ref(storeTime(6)), Generation: 8, Conversation: "bot/shop", Began: 9, Ended: 10, Turn: rawJSON, Revision: 11,
	}
}

var runTests = map[string]func(*storeCase){
	"every field comes back as it was stored": func(c *storeCase) {
		full, bare := c.fullRun(), c.run("run_bare", "bot", "")
		bare.Trigger = shoal.Trigger{Type: shoal.PlanTrigger}
		c.runs(full, bare)
		same(c, "the full run", storedRun(c, full.ID), full)
		same(c, "the bare run", storedRun(c, bare.ID), bare)
	},

	"everything that can change is stored again": func(c *storeCase) {
		full := c.fullRun()
		before := c.run(full.ID, full.AgentID, "")
		before.CreatedAt = full.CreatedAt
		c.runs(before)
		c.rerun(full)
		same(c, "the changed run", storedRun(c, full.ID), full)
		c.rerun(before)
		same(c, "the run changed back", storedRun(c, full.ID), before)
	},

	"a missing one is NotFound, a taken id AlreadyExists, in each session for itself": func(c *storeCase) {
		r := c.run("run_1", "bot", "shop")
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.UpdateRun(r) })
		c.absent(func(tx hub.Tx) error { _, err := tx.Run(c.session, "run_1"); return err })
		c.runs(r)
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertRun(r) })
		other := newStoreCase(c.T, c.store)
		other.absent(func(tx hub.Tx) error { _, err := tx.Run(other.session, "run_1"); return err })
		other.runs(other.run("run_1", "bot", "shop"))
		same(c, "the list", listed(c, hub.RunFilter{}), []shoal.RunID{"run_1"})
	},

	"a failed transaction leaves nothing of it": func(c *storeCase) {
		c.runs(c.run("run_1", "bot", "shop"))
		failed := errors.New("no")
		err := c.store.Update(c.Context(), func(tx hub.Tx) error {
			r := c.run("run_1", "bot", "shop")
			r.Status = shoal.RunCompleted
			return errors.Join(tx.UpdateRun(r), tx.InsertRun(c.run("run_2", "bot", "shop")),
				tx.PutStep(c.session, "run_1", hub.StoredStep{}), tx.PutGoal(c.session, "bot", shoal.Goal{ID: "g"}), failed)
		})
		if !errors.Is(err, failed) {
			c.Fatalf("got %v", err)
		}
		same(c, "the run", storedRun(c, "run_1").Status, shoal.RunQueued)
		same(c, "the list", listed(c, hub.RunFilter{}), []shoal.RunID{"run_1"})
		same(c, "the steps", len(seen(c, func(tx hub.Tx) ([]hub.StoredStep, error) { return tx.RunSteps(c.session, "run_1") })), 0)
		same(c, "the goals", len(seen(c, func(tx hub.Tx) ([]shoal.Goal, error) { return tx.Goals(c.session, "bot") })), 0)
	},

	"the newest come first, page by page, whatever their ids and times": func(c *storeCase) {
		want := []shoal.RunID{}
		for i := range 12 {
			r := c.run(shoal.RunID(fmt.Sprintf("run_%d", 99-i*7%12)), "bot", "shop")
			r.CreatedAt = storeTime(-i)
			c.runs(r)
			want = append([]shoal.RunID{r.ID}, want...)
		}
		got := []shoal.RunID{}
		for before := shoal.RunID(""); ; {
			page := listed(c, hub.RunFilter{Before: before, Limit: 5})
			got = append(got, page...)
			if len(page) < 5 {
				break
			}
			before = page[4]
		}
		same(c, "all pages", got, want)
		same(c, "without a limit", listed(c, hub.RunFilter{}), want)
		same(c, "before one that is not there", listed(c, hub.RunFilter{Before: "run_x"}), []shoal.RunID{})
	},

	"by agent, status, space and reader": func(c *storeCase) {
		c.entities("ann", "bob", "bot")
		c.space("shop", "ann", "bot")
		c.space("yard", "bob", "bot")
		status := func(id shoal.RunID, agent shoal.EntityID, space shoal.SpaceID, s shoal.RunStatus) hub.StoredRun {
			r := c.run(id, agent, space)
			if r.Status = s; s.Ended() {
				r.EndedAt = ref(storeTime(3))
			}
			return r
		}
		c.runs(status("r1", "bot", "shop", shoal.RunCompleted), status("r2", "bee", "shop", shoal.RunQueued),
			status("r3", "bot", "yard", shoal.RunRunning), status("r4", "bot", "", shoal.RunWaitingTool))
		c.wrote("shop", "r3") // r3 writes elsewhere, too
		c.wrote("shop", "r3")
		c.wrote("yard", "r4")
		type ids = []shoal.RunID
		for _, f := range []struct {
			filter hub.RunFilter
			want   ids
		}{
			{hub.RunFilter{}, ids{"r4", "r3", "r2", "r1"}},
			{hub.RunFilter{Limit: 2}, ids{"r4", "r3"}},
			{hub.RunFilter{Agent: "bot"}, ids{"r4", "r3", "r1"}},
			{hub.RunFilter{Status: []shoal.RunStatus{shoal.RunQueued}}, ids{"r2"}},
			{hub.RunFilter{Status: []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool}}, ids{"r4", "r3", "r2"}},
			{hub.RunFilter{Status: []shoal.RunStatus{shoal.RunQueued, shoal.RunCompleted}}, ids{"r2", "r1"}},
			{hub.RunFilter{Space: "shop"}, ids{"r3", "r2", "r1"}},
			{hub.RunFilter{Space: "shop", Limit: 1, Before: "r3"}, ids{"r2"}},
			{hub.RunFilter{Space: "yard"}, ids{"r4", "r3"}},
			{hub.RunFilter{Space: "shop", Agent: "bot", Status: []shoal.RunStatus{shoal.RunRunning, shoal.RunQueued}}, ids{"r3"}},
			{hub.RunFilter{Space: "shop", Agent: "bot", Status: []shoal.RunStatus{shoal.RunCompleted}}, ids{"r1"}},
			{hub.RunFilter{Reader: "ann"}, ids{"r3", "r2", "r1"}},
			{hub.RunFilter{Reader: "bob"}, ids{"r4", "r3"}},
			{hub.RunFilter{Reader: "bob", Space: "shop"}, ids{"r3"}},
			{hub.RunFilter{Reader: "nobody"}, ids{}},
			{hub.RunFilter{Agent: "nobody"}, ids{}},
		} {
			same(c, fmt.Sprintf("the runs of %+v", f.filter), listed(c, f.filter), f.want)
		}
	},

	"by trigger and by the time of their creation": func(c *storeCase) {
		made := func(id shoal.RunID, by shoal.TriggerType, at int) hub.StoredRun {
			r := c.run(id, "bot", "")
			r.Trigger = shoal.Trigger{Type: by, ServiceName: `{"Type":"plan"`}
			r.CreatedAt = storeTime(at)
			return r
		}
		other := newStoreCase(c.T, c.store)
		other.runs(other.run("r9", "bot", ""))
		c.runs(made("r1", shoal.PlanTrigger, 10), made("r2", shoal.ServiceTrigger, 30), made("r3", shoal.SpaceMessageTrigger, 20), made("r4", shoal.PlanTrigger, 40))
		at := func(n int) *shoal.Time { return ref(storeTime(n)) }
		type ids = []shoal.RunID
		for _, f := range []struct {
			filter hub.RunFilter
			want   ids
		}{
			{hub.RunFilter{Trigger: shoal.PlanTrigger}, ids{"r4", "r1"}},
			{hub.RunFilter{Trigger: shoal.ServiceTrigger}, ids{"r2"}},
			{hub.RunFilter{Trigger: shoal.SpaceMessageTrigger}, ids{"r3"}},
			{hub.RunFilter{Since: at(20)}, ids{"r4", "r3", "r2"}},
			{hub.RunFilter{Since: at(21)}, ids{"r4", "r2"}},
			{hub.RunFilter{Since: at(41)}, ids{}},
			{hub.RunFilter{Until: at(30)}, ids{"r3", "r1"}},
			{hub.RunFilter{Until: at(10)}, ids{}},
			{hub.RunFilter{Since: at(11), Until: at(40)}, ids{"r3", "r2"}},
			{hub.RunFilter{Since: at(11), Until: at(40), Before: "r3", Limit: 1}, ids{"r2"}},
			{hub.RunFilter{Since: at(10), Trigger: shoal.PlanTrigger, Limit: 1}, ids{"r4"}},
		} {
			same(c, fmt.Sprintf("the runs of %+v", f.filter), listed(c, f.filter), f.want)
		}
	},

	"the spaces that it wrote to, in the order of its messages": func(c *storeCase) {
		c.space("shop")
		c.space("yard")
		c.space("attic")
		c.runs(c.run("r1", "bot", "attic"), c.run("r2", "bot", "shop"))
		for _, space := range []shoal.SpaceID{"yard", "shop", "yard"} {
			c.wrote(space, "r1")
		}
		spaces := func(id shoal.RunID) []shoal.SpaceID {
			return seen(c, func(tx hub.Tx) ([]shoal.SpaceID, error) { return tx.RunSpaces(c.session, id) })
		}
		same(c, "of one that wrote", spaces("r1"), []shoal.SpaceID{"yard", "shop"})
		same(c, "of one that did not", spaces("r2"), []shoal.SpaceID{})
	},

	"it stays when its agent goes": func(c *storeCase) {
		c.entities("bot")
		c.space("shop", "bot")
		c.runs(c.run("r1", "bot", "shop"))
		c.update(func(tx hub.Tx) error { return tx.DeleteEntity(c.session, "bot", storeTime(1)) })
		same(c, "the list", listed(c, hub.RunFilter{Agent: "bot"}), []shoal.RunID{"r1"})
	},
}

// claimTests read the runs of all sessions, so each must leave no awake or leased run.
var claimTests = map[string]func(*storeCase){
	"awake, due and held by nobody, the oldest first": func(c *storeCase) {
		claimable := func(at, limit int) []shoal.RunID {
			return mine(c, seen(c, func(tx hub.Tx) ([]hub.StoredRun, error) { return tx.ClaimableRuns(storeTime(at), limit) }))
		}
		next := func() *shoal.Time {
			return seen(c, func(tx hub.Tx) (*shoal.Time, error) { return tx.NextClaim() })
		}
		same(c, "when nothing is awake", next(), nil)
		asleep, late, held, plain := c.run("r1", "bot", ""), c.run("r2", "bot", ""), c.run("r3", "bot", ""), c.run("r4", "bot", "")
		late.Awake, late.NotBefore = true, storeTime(10)
		held.Awake, held.NotBefore, held.Owner, held.LeaseUntil = true, storeTime(1), "one", ref(storeTime(20))
		c.runs(asleep, late, held)
		same(c, "the next", next(), ref(storeTime(10)))
		plain.Awake, plain.NotBefore = true, storeTime(5)
		c.runs(plain)
		for at, want := range map[int][]shoal.RunID{4: {}, 5: {"r4"}, 9: {"r4"}, 10: {"r2", "r4"}, 19: {"r2", "r4"}, 20: {"r2", "r3", "r4"}} {
			same(c, fmt.Sprintf("what is claimable at %d", at), claimable(at, 9), want)
		}
		same(c, "only two", claimable(20, 2), []shoal.RunID{"r2", "r3"})
		same(c, "the next of all", next(), ref(storeTime(5)))
		late.Awake, plain.Awake = false, false
		c.rerun(late, plain)
		same(c, "the next when only a held one is awake", next(), ref(storeTime(20)))
		held.Awake, held.LeaseUntil, held.Owner = false, nil, ""
		c.rerun(held)
		same(c, "the next at the end", next(), nil)
	},

	"requesters take turns": func(c *storeCase) {
		claimable := func(limit int) []shoal.RunID {
			return mine(c, seen(c, func(tx hub.Tx) ([]hub.StoredRun, error) { return tx.ClaimableRuns(storeTime(9), limit) }))
		}
		var all []hub.StoredRun
		for i, requester := range []string{"greedy", "greedy", "greedy", "greedy", "ann", "bob", "ann", ""} {
			r := c.run(shoal.RunID(fmt.Sprintf("r%d", i)), "bot", "")
			r.Awake, r.NotBefore, r.Requester = true, storeTime(1), requester
			all = append(all, r)
		}
		c.runs(all...)
		same(c, "all", claimable(9), []shoal.RunID{"r0", "r4", "r5", "r7", "r1", "r6", "r2", "r3"})
		same(c, "the first three", claimable(3), []shoal.RunID{"r0", "r4", "r5"})
		all[0].Awake, all[0].Owner, all[0].LeaseUntil = false, "one", ref(storeTime(20))
		c.rerun(all[0])
		same(c, "while one of greedy is held", claimable(9), []shoal.RunID{"r4", "r5", "r7", "r1", "r6", "r2", "r3"})
		all[1].Awake, all[1].Owner, all[1].LeaseUntil = false, "two", ref(storeTime(5)) // that server is gone
		c.rerun(all[1])
		same(c, "while another's lease has run out", claimable(4), []shoal.RunID{"r4", "r5", "r7", "r2"})
		for i := range all {
			all[i].Awake, all[i].Owner, all[i].LeaseUntil = false, "", nil
		}
		c.rerun(all...)
	},

	"those of an owner, or all that have a lease": func(c *storeCase) {
		held := func(owner string) []shoal.RunID {
			return mine(c, seen(c, func(tx hub.Tx) ([]hub.StoredRun, error) { return tx.HeldRuns(owner) }))
		}
		a, b, free := c.run("r1", "bot", ""), c.run("r2", "bot", ""), c.run("r3", "bot", "")
		a.Owner, a.LeaseUntil = "one", ref(storeTime(1))
		b.Owner, b.LeaseUntil = "two", ref(storeTime(2))
		c.runs(a, b, free)
		same(c, "the first's", held("one"), []shoal.RunID{"r1"})
		same(c, "the second's", held("two"), []shoal.RunID{"r2"})
		same(c, "another's", held("three"), []shoal.RunID{})
		same(c, "everybody's", held(""), []shoal.RunID{"r1", "r2"})
		a.Owner, a.LeaseUntil = "", nil
		c.rerun(a)
		same(c, "after one was given up", held(""), []shoal.RunID{"r2"})
		c.update(func(tx hub.Tx) error { return tx.DeleteSession(c.session) })
		same(c, "after the session was deleted", held(""), []shoal.RunID{})
	},
}
