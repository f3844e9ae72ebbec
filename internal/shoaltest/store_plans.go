package shoaltest

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// planOf returns a plan of bot with nothing but what it needs.
func planOf(id shoal.PlanID) shoal.Plan {
	return shoal.Plan{ID: id, AgentID: "bot", TimeZone: "UTC", Status: shoal.PlanPending, CreatedAt: storeTime(1), ActingFor: []shoal.EntityID{}}
}

// plans stores plans in one transaction.
func (c *storeCase) plans(all ...shoal.Plan) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		for _, p := range all {
			if err := tx.InsertPlan(c.session, p); err != nil {
				return err
			}
		}
		return nil
	})
}

var planTests = map[string]func(*storeCase){
	"it comes back as it was stored, and as it was changed": func(c *storeCase) {
		bare := planOf("p1")
		full := shoal.Plan{
			ID: "p1", AgentID: "bot", Name: hostile, Description: hostile, Instruction: hostile, Cron: ref("0 9 * * 1"), TimeZone: "Europe/Berlin",
			ScheduledAt: ref(storeTime(2)), Status: shoal.PlanPaused, NextRunAt: ref(storeTime(3)), LastRunAt: ref(storeTime(4)),
			LastRunID: ref(shoal.RunID("r1")), CreatedAt: storeTime(1), ActingFor: []shoal.EntityID{"ann", "service:a b"},
		}
		get := func() shoal.Plan {
			return seen(c, func(tx hub.Tx) (shoal.Plan, error) { return tx.Plan(c.session, "p1") })
		}
		c.plans(bare)
		same(c, "the bare plan", get(), bare)
		c.update(func(tx hub.Tx) error { return tx.UpdatePlan(c.session, full) })
		same(c, "the full plan", get(), full)
		c.update(func(tx hub.Tx) error { return tx.DeletePlan(c.session, "p1") })
		c.absent(func(tx hub.Tx) error { _, err := tx.Plan(c.session, "p1"); return err })
		c.plans(full)
		same(c, "the full plan, stored at once", get(), full)
	},

	"a missing one is NotFound, a taken id AlreadyExists, in each session for itself": func(c *storeCase) {
		p := planOf("p1")
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.UpdatePlan(c.session, p) })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeletePlan(c.session, "p1") })
		c.plans(p)
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertPlan(c.session, p) })
		newStoreCase(c.T, c.store).plans(p)
	},

	"they are listed in the order of the bytes of their ids, of an agent or of all": func(c *storeCase) {
		var all []shoal.Plan
		for _, id := range trickyIDs {
			p := planOf(shoal.PlanID(id))
			if id == "B" {
				p.AgentID = "bee"
			}
			all = append(all, p)
		}
		c.plans(all[9:]...)
		c.plans(all[:9]...)
		list := func(agent shoal.EntityID) []shoal.Plan {
			return seen(c, func(tx hub.Tx) ([]shoal.Plan, error) { return tx.Plans(c.session, agent) })
		}
		same(c, "all", list(""), all)
		same(c, "one agent's", list("bee"), []shoal.Plan{all[6]})
		same(c, "nobody's", list("nobody"), []shoal.Plan{})
	},

	"pending ones that are due, and when the next one is": func(c *storeCase) {
		due := func(at, limit int) []shoal.Plan {
			all := []shoal.Plan{}
			for _, p := range seen(c, func(tx hub.Tx) ([]hub.DuePlan, error) { return tx.DuePlans(storeTime(at), limit) }) {
				same(c, "its session", p.Session, c.session)
				all = append(all, p.Plan)
			}
			return all
		}
		next := func() *shoal.Time { return seen(c, func(tx hub.Tx) (*shoal.Time, error) { return tx.NextPlan() }) }
		same(c, "the next of none", next(), nil)
		a, b, paused, over := planOf("a"), planOf("b"), planOf("c"), planOf("d")
		a.NextRunAt, b.NextRunAt, paused.NextRunAt, paused.Status = ref(storeTime(20)), ref(storeTime(10)), ref(storeTime(5)), shoal.PlanPaused
		c.plans(a, b, paused, over)
		same(c, "too early", due(9, 9), []shoal.Plan{})
		same(c, "the first", due(10, 9), []shoal.Plan{b})
		same(c, "both", due(20, 9), []shoal.Plan{b, a})
		same(c, "only one", due(20, 1), []shoal.Plan{b})
		same(c, "the next", next(), ref(storeTime(10)))
		c.update(func(tx hub.Tx) error { return tx.DeletePlan(c.session, "b") })
		same(c, "the next after that", next(), ref(storeTime(20)))
		c.update(func(tx hub.Tx) error { return tx.DeleteSession(c.session) })
		same(c, "the next after the session", next(), nil)
	},
}

var noteTests = map[string]func(*storeCase){
	"goals come back as they were stored, in the order of creation, of each agent for itself": func(c *storeCase) {
		put := func(agent shoal.EntityID, g shoal.Goal) {
			c.update(func(tx hub.Tx) error { return tx.PutGoal(c.session, agent, g) })
		}
		goals := func(agent shoal.EntityID) []shoal.Goal {
			return seen(c, func(tx hub.Tx) ([]shoal.Goal, error) { return tx.Goals(c.session, agent) })
		}
		full := shoal.Goal{ID: "z", Description: hostile, Priority: -3, IsLongTerm: true, IsCompleted: true, CreatedAt: storeTime(3), UpdatedAt: storeTime(4)}
		bare := shoal.Goal{ID: "a", CreatedAt: storeTime(1), UpdatedAt: storeTime(1)}
		put("bot", full)
		put("bot", bare)
		put("bee", bare)
		same(c, "the goals", goals("bot"), []shoal.Goal{full, bare})
		full.Description, full.IsCompleted, full.UpdatedAt = "changed", false, storeTime(9)
		put("bot", full)
		same(c, "after one was replaced", goals("bot"), []shoal.Goal{full, bare})
		c.update(func(tx hub.Tx) error { return tx.DeleteGoal(c.session, "bot", "z") })
		same(c, "after one was deleted", goals("bot"), []shoal.Goal{bare})
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteGoal(c.session, "bot", "z") })
		same(c, "another agent's", goals("bee"), []shoal.Goal{bare})
		same(c, "nobody's", goals("nobody"), []shoal.Goal{})
	},

	"memories come back as they were stored, in the order of creation, of each agent for itself": func(c *storeCase) {
		put := func(agent shoal.EntityID, m shoal.Memory) {
			c.update(func(tx hub.Tx) error { return tx.PutMemory(c.session, agent, m) })
		}
		memories := func(agent shoal.EntityID) []shoal.Memory {
			return seen(c, func(tx hub.Tx) ([]shoal.Memory, error) { return tx.Memories(c.session, agent) })
		}
		full := shoal.Memory{ID: "z", Topic: hostile, Content: hostile, Metadata: rawJSON, CreatedAt: storeTime(3), UpdatedAt: storeTime(4), SpaceID: ref(shoal.SpaceID("shop"))}
		bare := shoal.Memory{ID: "a", Metadata: []byte(`{}`), CreatedAt: storeTime(1), UpdatedAt: storeTime(1)}
		put("bot", full)
		put("bot", bare)
		put("bee", bare)
		same(c, "the memories", memories("bot"), []shoal.Memory{full, bare})
		full.Content, full.UpdatedAt = "changed", storeTime(9)
		put("bot", full)
		same(c, "after one was replaced", memories("bot"), []shoal.Memory{full, bare})
		c.update(func(tx hub.Tx) error { return tx.DeleteMemory(c.session, "bot", "z") })
		same(c, "after one was deleted", memories("bot"), []shoal.Memory{bare})
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteMemory(c.session, "bot", "z") })
		same(c, "another agent's", memories("bee"), []shoal.Memory{bare})
	},
}
