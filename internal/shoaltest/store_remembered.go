package shoaltest

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// remembered returns a decision about a tool in which every field is set.
func (c *storeCase) remembered(id shoal.RememberedID, agent shoal.EntityID, tool string, expires int) shoal.RememberedDecision {
	return shoal.RememberedDecision{
		ID: id, AgentID: agent, ToolName: tool, SpaceID: ref(shoal.SpaceID("shop")), Requesters: []shoal.EntityID{"ann", hostile},
		Decision: shoal.RememberAllow, Scope: shoal.RememberCall, ArgsHash: hostile, Args: rawJSON, EntityID: ref(shoal.EntityID("bob")),
		CreatedAt: storeTime(1), ExpiresAt: storeTime(expires),
	}
}

// remember stores decisions in one transaction.
func (c *storeCase) remember(all ...shoal.RememberedDecision) {
	c.Helper()
	c.update(func(tx hub.Tx) error {
		for _, d := range all {
			if err := tx.InsertRemembered(c.session, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// rememberedIDs lists the ids of the case's session that a filter chooses.
func (c *storeCase) rememberedIDs(filter hub.RememberedFilter) []shoal.RememberedID {
	c.Helper()
	ids := []shoal.RememberedID{}
	for _, d := range seen(c, func(tx hub.Tx) ([]shoal.RememberedDecision, error) { return tx.RememberedDecisions(c.session, filter) }) {
		ids = append(ids, d.ID)
	}
	return ids
}

var rememberedTests = map[string]func(*storeCase){
	"every field comes back as it was stored": func(c *storeCase) {
		full, bare := c.remembered("rem_1", "bot", hostile, 5), c.remembered("rem_2", "bot", "ask", 5)
		bare.SpaceID, bare.EntityID, bare.Requesters, bare.Args = nil, nil, []shoal.EntityID{}, nil
		c.remember(full, bare)
		for _, want := range []shoal.RememberedDecision{full, bare} {
			same(c, string(want.ID), seen(c, func(tx hub.Tx) (shoal.RememberedDecision, error) { return tx.Remembered(c.session, want.ID) }), want)
		}
	},

	"a missing one is NotFound, a taken id AlreadyExists, in each session for itself": func(c *storeCase) {
		d := c.remembered("rem_1", "bot", "ask", 5)
		c.absent(func(tx hub.Tx) error { _, err := tx.Remembered(c.session, "rem_1"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteRemembered(c.session, "rem_1") })
		c.remember(d)
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertRemembered(c.session, d) })
		other := newStoreCase(c.T, c.store)
		other.absent(func(tx hub.Tx) error { _, err := tx.Remembered(other.session, "rem_1"); return err })
		other.remember(d)
		c.update(func(tx hub.Tx) error { return tx.DeleteRemembered(c.session, "rem_1") })
		same(c, "revoked", c.rememberedIDs(hub.RememberedFilter{}), []shoal.RememberedID{})
		same(c, "the other session's", other.rememberedIDs(hub.RememberedFilter{}), []shoal.RememberedID{"rem_1"})
	},

	"they are listed in the order of ids, by agent, tool and time": func(c *storeCase) {
		type ids = []shoal.RememberedID
		c.remember(c.remembered("r4", "bot", "ask", 9), c.remembered("r2", "bot", "sell", 5), c.remembered("r3", "imp", "ask", 5), c.remembered("r1", "bot", "ask", 2))
		for _, f := range []struct {
			filter hub.RememberedFilter
			want   ids
		}{
			{hub.RememberedFilter{}, ids{"r1", "r2", "r3", "r4"}},
			{hub.RememberedFilter{Limit: 2}, ids{"r1", "r2"}},
			{hub.RememberedFilter{Limit: 2, After: "r2"}, ids{"r3", "r4"}},
			{hub.RememberedFilter{Agent: "bot"}, ids{"r1", "r2", "r4"}},
			{hub.RememberedFilter{Agent: "bot", Tool: "ask"}, ids{"r1", "r4"}},
			{hub.RememberedFilter{Until: ref(storeTime(2))}, ids{"r2", "r3", "r4"}},
		} {
			same(c, "those chosen", c.rememberedIDs(f.filter), f.want)
		}
	},

	"those that have expired are dropped": func(c *storeCase) {
		c.remember(c.remembered("r1", "bot", "ask", 2), c.remembered("r2", "bot", "ask", 3))
		c.update(func(tx hub.Tx) error { return tx.DropRemembered(storeTime(2)) })
		same(c, "those left", c.rememberedIDs(hub.RememberedFilter{}), []shoal.RememberedID{"r2"})
	},
}
