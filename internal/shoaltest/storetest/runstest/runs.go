package runstest

import (
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// updateRuns stores changed runs.
func updateRuns(c *storecase.Case, all ...storage.Run) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		for _, r := range all {
			if err := tx.UpdateRun(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func storedRun(c *storecase.Case, id shoal.RunID) storage.Run {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) (storage.Run, error) { return tx.Run(c.Session, id) })
}

func listed(c *storecase.Case, filter storage.RunFilter) []shoal.RunID {
	c.Helper()
	return storecase.OwnRuns(c, storecase.Read(c, func(tx storage.Tx) ([]storage.Run, error) { return tx.Runs(c.Session, filter) }))
}

var runTests = map[string]func(*storecase.Case){
	"every field is read as it was stored": func(c *storecase.Case) {
		full, bare := c.FullRun(), c.NewRun("run_bare", "bot", "")
		bare.Trigger = shoal.Trigger{Type: shoal.PlanTrigger}
		c.AddRuns(full, bare)
		storecase.Equal(c, "the full run", storedRun(c, full.ID), full)
		storecase.Equal(c, "the bare run", storedRun(c, bare.ID), bare)
	},

	"an update stores everything that can change": func(c *storecase.Case) {
		full := c.FullRun()
		before := c.NewRun(full.ID, full.AgentID, "")
		before.CreatedAt = full.CreatedAt
		c.AddRuns(before)
		updateRuns(c, full)
		storecase.Equal(c, "the changed run", storedRun(c, full.ID), full)
		updateRuns(c, before)
		storecase.Equal(c, "the run changed back", storedRun(c, full.ID), before)
	},

	"a missing id is NotFound and a used one AlreadyExists, in each session separately": func(c *storecase.Case) {
		r := c.NewRun("run_1", "bot", "shop")
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.UpdateRun(r) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Run(c.Session, "run_1"); return err })
		c.AddRuns(r)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertRun(r) })
		other := storecase.New(c.T, c.Store)
		other.WantNotFound(func(tx storage.Tx) error { _, err := tx.Run(other.Session, "run_1"); return err })
		other.AddRuns(other.NewRun("run_1", "bot", "shop"))
		storecase.Equal(c, "the list", listed(c, storage.RunFilter{}), []shoal.RunID{"run_1"})
	},

	"a failed transaction leaves nothing": func(c *storecase.Case) {
		c.AddRuns(c.NewRun("run_1", "bot", "shop"))
		failed := errors.New("no")
		err := c.Store.Update(c.Context(), storage.Global, func(tx storage.Tx) error {
			r := c.NewRun("run_1", "bot", "shop")
			r.Status = shoal.RunCompleted
			return errors.Join(tx.UpdateRun(r), tx.InsertRun(c.NewRun("run_2", "bot", "shop")),
				tx.PutStep(c.Session, "run_1", storage.Step{}), tx.PutGoal(c.Session, "bot", shoal.Goal{ID: "g"}), failed)
		})
		if !errors.Is(err, failed) {
			c.Fatalf("got %v", err)
		}
		storecase.Equal(c, "the run", storedRun(c, "run_1").Status, shoal.RunQueued)
		storecase.Equal(c, "the list", listed(c, storage.RunFilter{}), []shoal.RunID{"run_1"})
		storecase.Equal(c, "the steps", len(storecase.Read(c, func(tx storage.Tx) ([]storage.Step, error) { return tx.RunSteps(c.Session, "run_1") })), 0)
		storecase.Equal(c, "the goals", len(storecase.Read(c, func(tx storage.Tx) ([]shoal.Goal, error) { return tx.Goals(c.Session, "bot") })), 0)
	},

	"lists begin with the newest, page by page, regardless of ids and times": func(c *storecase.Case) {
		want := []shoal.RunID{}
		for i := range 12 {
			r := c.NewRun(shoal.RunID(fmt.Sprintf("run_%d", 99-i*7%12)), "bot", "shop")
			r.CreatedAt = storecase.Time(-i)
			c.AddRuns(r)
			want = append([]shoal.RunID{r.ID}, want...)
		}
		got := []shoal.RunID{}
		for before := shoal.RunID(""); ; {
			page := listed(c, storage.RunFilter{Before: before, Limit: 5})
			got = append(got, page...)
			if len(page) < 5 {
				break
			}
			before = page[4]
		}
		storecase.Equal(c, "all pages", got, want)
		storecase.Equal(c, "without a limit", listed(c, storage.RunFilter{}), want)
		storecase.Equal(c, "before one that is not there", listed(c, storage.RunFilter{Before: "run_x"}), []shoal.RunID{})
	},

	"runs by agent, status, space and reader": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "bot")
		c.AddSpace("shop", "ann", "bot")
		c.AddSpace("yard", "bob", "bot")
		status := func(id shoal.RunID, agent shoal.EntityID, space shoal.SpaceID, s shoal.RunStatus) storage.Run {
			r := c.NewRun(id, agent, space)
			if r.Status = s; s.Ended() {
				r.EndedAt = storecase.Ptr(storecase.Time(3))
			}
			return r
		}
		c.AddRuns(status("r1", "bot", "shop", shoal.RunCompleted), status("r2", "bee", "shop", shoal.RunQueued),
			status("r3", "bot", "yard", shoal.RunRunning), status("r4", "bot", "", shoal.RunWaitingTool))
		c.AddComposite("shop", "r3") // r3 writes elsewhere, too
		c.AddComposite("shop", "r3")
		c.AddComposite("yard", "r4")
		type ids = []shoal.RunID
		for _, f := range []struct {
			filter storage.RunFilter
			want   ids
		}{
			{storage.RunFilter{}, ids{"r4", "r3", "r2", "r1"}},
			{storage.RunFilter{Limit: 2}, ids{"r4", "r3"}},
			{storage.RunFilter{Agent: "bot"}, ids{"r4", "r3", "r1"}},
			{storage.RunFilter{Status: []shoal.RunStatus{shoal.RunQueued}}, ids{"r2"}},
			{storage.RunFilter{Status: []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool}}, ids{"r4", "r3", "r2"}},
			{storage.RunFilter{Status: []shoal.RunStatus{shoal.RunQueued, shoal.RunCompleted}}, ids{"r2", "r1"}},
			{storage.RunFilter{Space: "shop"}, ids{"r3", "r2", "r1"}},
			{storage.RunFilter{Space: "shop", Limit: 1, Before: "r3"}, ids{"r2"}},
			{storage.RunFilter{Space: "yard"}, ids{"r4", "r3"}},
			{storage.RunFilter{Space: "shop", Agent: "bot", Status: []shoal.RunStatus{shoal.RunRunning, shoal.RunQueued}}, ids{"r3"}},
			{storage.RunFilter{Space: "shop", Agent: "bot", Status: []shoal.RunStatus{shoal.RunCompleted}}, ids{"r1"}},
			{storage.RunFilter{Reader: "ann"}, ids{"r3", "r2", "r1"}},
			{storage.RunFilter{Reader: "bob"}, ids{"r4", "r3"}},
			{storage.RunFilter{Reader: "bob", Space: "shop"}, ids{"r3"}},
			{storage.RunFilter{Reader: "nobody"}, ids{}},
			{storage.RunFilter{Agent: "nobody"}, ids{}},
		} {
			storecase.Equal(c, fmt.Sprintf("the runs of %+v", f.filter), listed(c, f.filter), f.want)
		}
	},

	"runs by trigger and time of creation": func(c *storecase.Case) {
		made := func(id shoal.RunID, by shoal.TriggerType, at int) storage.Run {
			r := c.NewRun(id, "bot", "")
			r.Trigger = shoal.Trigger{Type: by, ServiceName: `{"Type":"plan"`}
			r.CreatedAt = storecase.Time(at)
			return r
		}
		other := storecase.New(c.T, c.Store)
		other.AddRuns(other.NewRun("r9", "bot", ""))
		c.AddRuns(made("r1", shoal.PlanTrigger, 10), made("r2", shoal.ServiceTrigger, 30), made("r3", shoal.SpaceMessageTrigger, 20), made("r4", shoal.PlanTrigger, 40))
		at := func(n int) *shoal.Time { return storecase.Ptr(storecase.Time(n)) }
		type ids = []shoal.RunID
		for _, f := range []struct {
			filter storage.RunFilter
			want   ids
		}{
			{storage.RunFilter{Trigger: shoal.PlanTrigger}, ids{"r4", "r1"}},
			{storage.RunFilter{Trigger: shoal.ServiceTrigger}, ids{"r2"}},
			{storage.RunFilter{Trigger: shoal.SpaceMessageTrigger}, ids{"r3"}},
			{storage.RunFilter{Since: at(20)}, ids{"r4", "r3", "r2"}},
			{storage.RunFilter{Since: at(21)}, ids{"r4", "r2"}},
			{storage.RunFilter{Since: at(41)}, ids{}},
			{storage.RunFilter{Until: at(30)}, ids{"r3", "r1"}},
			{storage.RunFilter{Until: at(10)}, ids{}},
			{storage.RunFilter{Since: at(11), Until: at(40)}, ids{"r3", "r2"}},
			{storage.RunFilter{Since: at(11), Until: at(40), Before: "r3", Limit: 1}, ids{"r2"}},
			{storage.RunFilter{Since: at(10), Trigger: shoal.PlanTrigger, Limit: 1}, ids{"r4"}},
		} {
			storecase.Equal(c, fmt.Sprintf("the runs of %+v", f.filter), listed(c, f.filter), f.want)
		}
	},

	"the spaces that a run wrote to, in the order of its messages": func(c *storecase.Case) {
		c.AddSpace("shop")
		c.AddSpace("yard")
		c.AddSpace("attic")
		c.AddRuns(c.NewRun("r1", "bot", "attic"), c.NewRun("r2", "bot", "shop"))
		for _, space := range []shoal.SpaceID{"yard", "shop", "yard"} {
			c.AddComposite(space, "r1")
		}
		spaces := func(id shoal.RunID) []shoal.SpaceID {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.SpaceID, error) { return tx.RunSpaces(c.Session, id) })
		}
		storecase.Equal(c, "of one that wrote", spaces("r1"), []shoal.SpaceID{"yard", "shop"})
		storecase.Equal(c, "of one that did not", spaces("r2"), []shoal.SpaceID{})
	},

	"a run remains when its agent is deleted": func(c *storecase.Case) {
		c.AddEntities("bot")
		c.AddSpace("shop", "bot")
		c.AddRuns(c.NewRun("r1", "bot", "shop"))
		c.Update(func(tx storage.Tx) error { return tx.DeleteEntity(c.Session, "bot", storecase.Time(1)) })
		storecase.Equal(c, "the list", listed(c, storage.RunFilter{Agent: "bot"}), []shoal.RunID{"r1"})
	},
}
