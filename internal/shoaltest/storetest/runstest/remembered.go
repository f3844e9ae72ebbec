package runstest

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// newRemembered returns a decision about a tool in which every field is set.
func newRemembered(id shoal.RememberedID, agent shoal.EntityID, tool string, expires int) shoal.RememberedDecision {
	return shoal.RememberedDecision{
		ID: id, AgentID: agent, ToolName: tool, SpaceID: storecase.Ptr(shoal.SpaceID("shop")), Requesters: []shoal.EntityID{"ann", storecase.Hostile},
		Decision: shoal.RememberAllow, Scope: shoal.RememberCall, ArgsHash: storecase.Hostile, Args: storecase.RawJSON, EntityID: storecase.Ptr(shoal.EntityID("bob")),
		CreatedAt: storecase.Time(1), ExpiresAt: storecase.Time(expires),
	}
}

// addRemembered stores decisions in one transaction.
func addRemembered(c *storecase.Case, all ...shoal.RememberedDecision) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		for _, d := range all {
			if err := tx.InsertRemembered(c.Session, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// rememberedIDs lists the ids of the case's session that a filter chooses.
func rememberedIDs(c *storecase.Case, filter storage.RememberedFilter) []shoal.RememberedID {
	c.Helper()
	ids := []shoal.RememberedID{}
	for _, d := range storecase.Read(c, func(tx storage.Tx) ([]shoal.RememberedDecision, error) {
		return tx.RememberedDecisions(c.Session, filter)
	}) {
		ids = append(ids, d.ID)
	}
	return ids
}

var rememberedTests = map[string]func(*storecase.Case){
	"every field is read as it was stored": func(c *storecase.Case) {
		full, bare := newRemembered("rem_1", "bot", storecase.Hostile, 5), newRemembered("rem_2", "bot", "ask", 5)
		bare.SpaceID, bare.EntityID, bare.Requesters, bare.Args = nil, nil, []shoal.EntityID{}, nil
		addRemembered(c, full, bare)
		for _, want := range []shoal.RememberedDecision{full, bare} {
			storecase.Equal(c, string(want.ID), storecase.Read(c, func(tx storage.Tx) (shoal.RememberedDecision, error) { return tx.Remembered(c.Session, want.ID) }), want)
		}
	},

	"a missing id is NotFound and a used one AlreadyExists, in each session separately": func(c *storecase.Case) {
		d := newRemembered("rem_1", "bot", "ask", 5)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Remembered(c.Session, "rem_1"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteRemembered(c.Session, "rem_1") })
		addRemembered(c, d)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertRemembered(c.Session, d) })
		other := storecase.New(c.T, c.Store)
		other.WantNotFound(func(tx storage.Tx) error { _, err := tx.Remembered(other.Session, "rem_1"); return err })
		addRemembered(other, d)
		c.Update(func(tx storage.Tx) error { return tx.DeleteRemembered(c.Session, "rem_1") })
		storecase.Equal(c, "revoked", rememberedIDs(c, storage.RememberedFilter{}), []shoal.RememberedID{})
		storecase.Equal(c, "the other session's", rememberedIDs(other, storage.RememberedFilter{}), []shoal.RememberedID{"rem_1"})
	},

	"lists are in the order of ids, by agent, tool and time": func(c *storecase.Case) {
		type ids = []shoal.RememberedID
		addRemembered(c, newRemembered("r4", "bot", "ask", 9), newRemembered("r2", "bot", "sell", 5), newRemembered("r3", "imp", "ask", 5), newRemembered("r1", "bot", "ask", 2))
		for _, f := range []struct {
			filter storage.RememberedFilter
			want   ids
		}{
			{storage.RememberedFilter{}, ids{"r1", "r2", "r3", "r4"}},
			{storage.RememberedFilter{Limit: 2}, ids{"r1", "r2"}},
			{storage.RememberedFilter{Limit: 2, After: "r2"}, ids{"r3", "r4"}},
			{storage.RememberedFilter{Agent: "bot"}, ids{"r1", "r2", "r4"}},
			{storage.RememberedFilter{Agent: "bot", Tool: "ask"}, ids{"r1", "r4"}},
			{storage.RememberedFilter{Until: storecase.Ptr(storecase.Time(2))}, ids{"r2", "r3", "r4"}},
		} {
			storecase.Equal(c, "those chosen", rememberedIDs(c, f.filter), f.want)
		}
	},

	"expired decisions are dropped": func(c *storecase.Case) {
		addRemembered(c, newRemembered("r1", "bot", "ask", 2), newRemembered("r2", "bot", "ask", 3))
		c.Update(func(tx storage.Tx) error { return tx.DropRemembered(storecase.Time(2)) })
		storecase.Equal(c, "those left", rememberedIDs(c, storage.RememberedFilter{}), []shoal.RememberedID{"r2"})
	},
}
