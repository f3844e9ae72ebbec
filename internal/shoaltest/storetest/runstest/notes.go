package runstest

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var noteTests = map[string]func(*storecase.Case){
	"goals are read as they were stored, in the order of creation, of each agent separately": func(c *storecase.Case) {
		put := func(agent shoal.EntityID, g shoal.Goal) {
			c.Update(func(tx storage.Tx) error { return tx.PutGoal(c.Session, agent, g) })
		}
		goals := func(agent shoal.EntityID) []shoal.Goal {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.Goal, error) { return tx.Goals(c.Session, agent) })
		}
		full := shoal.Goal{ID: "z", Description: storecase.Hostile, Priority: -3, IsLongTerm: true, IsCompleted: true, CreatedAt: storecase.Time(3), UpdatedAt: storecase.Time(4)}
		bare := shoal.Goal{ID: "a", CreatedAt: storecase.Time(1), UpdatedAt: storecase.Time(1)}
		put("bot", full)
		put("bot", bare)
		put("bee", bare)
		storecase.Equal(c, "the goals", goals("bot"), []shoal.Goal{full, bare})
		full.Description, full.IsCompleted, full.UpdatedAt = "changed", false, storecase.Time(9)
		put("bot", full)
		storecase.Equal(c, "after one was replaced", goals("bot"), []shoal.Goal{full, bare})
		c.Update(func(tx storage.Tx) error { return tx.DeleteGoal(c.Session, "bot", "z") })
		storecase.Equal(c, "after one was deleted", goals("bot"), []shoal.Goal{bare})
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteGoal(c.Session, "bot", "z") })
		storecase.Equal(c, "another agent's", goals("bee"), []shoal.Goal{bare})
		storecase.Equal(c, "nobody's", goals("nobody"), []shoal.Goal{})
	},

	"memories are read as they were stored, in the order of creation, of each agent separately": func(c *storecase.Case) {
		put := func(agent shoal.EntityID, m shoal.Memory) {
			c.Update(func(tx storage.Tx) error { return tx.PutMemory(c.Session, agent, m) })
		}
		memories := func(agent shoal.EntityID) []shoal.Memory {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.Memory, error) { return tx.Memories(c.Session, agent) })
		}
		full := shoal.Memory{ID: "z", Topic: storecase.Hostile, Content: storecase.Hostile, Metadata: storecase.RawJSON, CreatedAt: storecase.Time(3), UpdatedAt: storecase.Time(4), SpaceID: storecase.Ptr(shoal.SpaceID("shop"))}
		bare := shoal.Memory{ID: "a", Metadata: []byte(`{}`), CreatedAt: storecase.Time(1), UpdatedAt: storecase.Time(1)}
		put("bot", full)
		put("bot", bare)
		put("bee", bare)
		storecase.Equal(c, "the memories", memories("bot"), []shoal.Memory{full, bare})
		full.Content, full.UpdatedAt = "changed", storecase.Time(9)
		put("bot", full)
		storecase.Equal(c, "after one was replaced", memories("bot"), []shoal.Memory{full, bare})
		c.Update(func(tx storage.Tx) error { return tx.DeleteMemory(c.Session, "bot", "z") })
		storecase.Equal(c, "after one was deleted", memories("bot"), []shoal.Memory{bare})
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteMemory(c.Session, "bot", "z") })
		storecase.Equal(c, "another agent's", memories("bee"), []shoal.Memory{bare})
	},
}
