package runstest

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var planTests = map[string]func(*storecase.Case){
	"all fields are read as they were stored and changed": func(c *storecase.Case) {
		bare := storecase.NewPlan("p1")
		full := shoal.Plan{
			ID: "p1", AgentID: "bot", Name: storecase.Hostile, Description: storecase.Hostile, Instruction: storecase.Hostile, Cron: storecase.Ptr("0 9 * * 1"), TimeZone: "Europe/Berlin",
			ScheduledAt: storecase.Ptr(storecase.Time(2)), Status: shoal.PlanPaused, NextRunAt: storecase.Ptr(storecase.Time(3)), LastRunAt: storecase.Ptr(storecase.Time(4)),
			LastRunID: storecase.Ptr(shoal.RunID("r1")), CreatedAt: storecase.Time(1), ActingFor: []shoal.EntityID{"ann", "service:a b"},
		}
		get := func() shoal.Plan {
			return storecase.Read(c, func(tx storage.Tx) (shoal.Plan, error) { return tx.Plan(c.Session, "p1") })
		}
		c.AddPlans(bare)
		storecase.Equal(c, "the bare plan", get(), bare)
		c.Update(func(tx storage.Tx) error { return tx.UpdatePlan(c.Session, full) })
		storecase.Equal(c, "the full plan", get(), full)
		c.Update(func(tx storage.Tx) error { return tx.DeletePlan(c.Session, "p1") })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Plan(c.Session, "p1"); return err })
		c.AddPlans(full)
		storecase.Equal(c, "the full plan, stored at once", get(), full)
	},

	"a missing id is NotFound and a used one AlreadyExists, in each session separately": func(c *storecase.Case) {
		p := storecase.NewPlan("p1")
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.UpdatePlan(c.Session, p) })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeletePlan(c.Session, "p1") })
		c.AddPlans(p)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertPlan(c.Session, p) })
		storecase.New(c.T, c.Store).AddPlans(p)
	},

	"lists are in the byte order of ids, of an agent or of all": func(c *storecase.Case) {
		var all []shoal.Plan
		for _, id := range storecase.TrickyIDs {
			p := storecase.NewPlan(shoal.PlanID(id))
			if id == "B" {
				p.AgentID = "bee"
			}
			all = append(all, p)
		}
		c.AddPlans(all[9:]...)
		c.AddPlans(all[:9]...)
		list := func(agent shoal.EntityID) []shoal.Plan {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.Plan, error) { return tx.Plans(c.Session, agent) })
		}
		storecase.Equal(c, "all", list(""), all)
		storecase.Equal(c, "one agent's", list("bee"), []shoal.Plan{all[6]})
		storecase.Equal(c, "nobody's", list("nobody"), []shoal.Plan{})
	},

	"due pending schedules, and the time of the next one": func(c *storecase.Case) {
		due := func(at, limit int) []shoal.Plan {
			all := []shoal.Plan{}
			for _, p := range storecase.Read(c, func(tx storage.Tx) ([]storage.DuePlan, error) { return tx.DuePlans(storecase.Time(at), limit) }) {
				storecase.Equal(c, "its session", p.Session, c.Session)
				all = append(all, p.Plan)
			}
			return all
		}
		next := func() *shoal.Time {
			return storecase.Read(c, func(tx storage.Tx) (*shoal.Time, error) { return tx.NextPlan() })
		}
		storecase.Equal(c, "the next of none", next(), nil)
		a, b, paused, over := storecase.NewPlan("a"), storecase.NewPlan("b"), storecase.NewPlan("c"), storecase.NewPlan("d")
		a.NextRunAt, b.NextRunAt, paused.NextRunAt, paused.Status = storecase.Ptr(storecase.Time(20)), storecase.Ptr(storecase.Time(10)), storecase.Ptr(storecase.Time(5)), shoal.PlanPaused
		c.AddPlans(a, b, paused, over)
		storecase.Equal(c, "too early", due(9, 9), []shoal.Plan{})
		storecase.Equal(c, "the first", due(10, 9), []shoal.Plan{b})
		storecase.Equal(c, "both", due(20, 9), []shoal.Plan{b, a})
		storecase.Equal(c, "only one", due(20, 1), []shoal.Plan{b})
		storecase.Equal(c, "the next", next(), storecase.Ptr(storecase.Time(10)))
		c.Update(func(tx storage.Tx) error { return tx.DeletePlan(c.Session, "b") })
		storecase.Equal(c, "the next after that", next(), storecase.Ptr(storecase.Time(20)))
		c.Update(func(tx storage.Tx) error { return tx.DeleteSession(c.Session) })
		storecase.Equal(c, "the next after the session", next(), nil)
	},
}
