package runstest

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

func botIsHosted(c *storecase.Case) bool {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "bot") }).Hosted
}

var agentTests = map[string]func(*storecase.Case){
	"every version is read as it was stored, the newest by default": func(c *storecase.Case) {
		c.AddEntities("bot")
		first, second := c.AddHostedAgent("bot", 1), c.AddHostedAgent("bot", 2)
		at := func(version int) storage.Agent {
			return storecase.Read(c, func(tx storage.Tx) (storage.Agent, error) { return tx.HostedAgentAt(c.Session, "bot", version) })
		}
		storecase.Equal(c, "the first version", at(1), first)
		storecase.Equal(c, "the second version", at(2), second)
		storecase.Equal(c, "the newest", storecase.Read(c, func(tx storage.Tx) (storage.Agent, error) { return tx.HostedAgent(c.Session, "bot") }), second)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.HostedAgentAt(c.Session, "bot", 3); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.HostedAgent("nowhere", "bot"); return err })
	},

	"versions are listed, the newest first, also of an agent that is no longer hosted": func(c *storecase.Case) {
		c.AddEntities("bot", "bee")
		first, second, third := c.AddHostedAgent("bot", 1), c.AddHostedAgent("bot", 2), c.AddHostedAgent("bot", 3)
		c.AddHostedAgent("bee", 1)
		versions := func(id shoal.EntityID, before, limit int) []storage.Agent {
			return storecase.Read(c, func(tx storage.Tx) ([]storage.Agent, error) {
				return tx.HostedAgentVersions(c.Session, id, before, limit)
			})
		}
		storecase.Equal(c, "all", versions("bot", 0, 9), []storage.Agent{third, second, first})
		storecase.Equal(c, "two", versions("bot", 0, 2), []storage.Agent{third, second})
		storecase.Equal(c, "those below", versions("bot", 3, 9), []storage.Agent{second, first})
		storecase.Equal(c, "nobody's", versions("nobody", 0, 9), []storage.Agent{})
		c.Update(func(tx storage.Tx) error { return tx.DeleteHostedAgent(c.Session, "bot") })
		storecase.Equal(c, "of one that was hosted", len(versions("bot", 0, 9)), 3)
	},

	"a version must follow the last one of an existing entity": func(c *storecase.Case) {
		c.AddEntities("bot")
		a := c.AddHostedAgent("bot", 1)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.PutHostedAgent(a) })
		a.Version = 3
		c.WantError(shoal.Conflict, func(tx storage.Tx) error { return tx.PutHostedAgent(a) })
		a.ID, a.Version = "nobody", 1
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.PutHostedAgent(a) })
	},

	"lists are in the byte order of ids, page by page": func(c *storecase.Case) {
		c.AddEntities("connected")
		var want []shoal.EntityID
		for _, id := range storecase.TrickyIDs {
			want = append(want, shoal.EntityID(id))
			c.AddEntities(shoal.EntityID(id))
			c.AddHostedAgent(shoal.EntityID(id), 1)
		}
		c.AddHostedAgent("B", 2)
		var got []shoal.EntityID
		for after := shoal.EntityID(""); ; {
			page := storecase.Read(c, func(tx storage.Tx) ([]storage.Agent, error) { return tx.HostedAgents(c.Session, after, 5) })
			if len(page) == 0 {
				break
			}
			for _, a := range page {
				got = append(got, a.ID)
				if after = a.ID; a.ID == "B" && a.Version != 2 {
					c.Errorf("the list has version %d of B", a.Version)
				}
			}
		}
		storecase.Equal(c, "the list", got, want)
	},

	"the entity is hosted until its configuration is deleted; its versions remain": func(c *storecase.Case) {
		c.AddEntities("bot")
		storecase.Equal(c, "before", botIsHosted(c), false)
		first := c.AddHostedAgent("bot", 1)
		storecase.Equal(c, "then", botIsHosted(c), true)
		c.Update(func(tx storage.Tx) error { return tx.DeleteHostedAgent(c.Session, "bot") })
		storecase.Equal(c, "after", botIsHosted(c), false)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.HostedAgent(c.Session, "bot"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteHostedAgent(c.Session, "bot") })
		storecase.Equal(c, "the old version", storecase.Read(c, func(tx storage.Tx) (storage.Agent, error) { return tx.HostedAgentAt(c.Session, "bot", 1) }), first)
		storecase.Equal(c, "the list", storecase.Read(c, func(tx storage.Tx) ([]storage.Agent, error) { return tx.HostedAgents(c.Session, "", 9) }), []storage.Agent{})
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.PutHostedAgent(first) })
		c.AddHostedAgent("bot", 2)
		storecase.Equal(c, "hosted again", botIsHosted(c), true)
		c.Update(func(tx storage.Tx) error { return tx.DeleteEntity(c.Session, "bot", storecase.Time(9)) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.HostedAgent(c.Session, "bot"); return err })
		storecase.Equal(c, "the version of the deleted one", storecase.Read(c, func(tx storage.Tx) (storage.Agent, error) { return tx.HostedAgentAt(c.Session, "bot", 1) }), first)
	},

	"the hosted members of a space, in the order of joining": func(c *storecase.Case) {
		c.AddEntities("zed", "ann", "bot", "bee")
		c.AddHostedAgent("zed", 1)
		c.AddSpace("shop", "zed", "ann", "bot")
		c.AddSpace("yard", "bot")
		storecase.Equal(c, "at first", storecase.HostedMembers(c, "shop"), []shoal.EntityID{"zed"})
		c.AddHostedAgent("bot", 1) // a member becomes a hosted agent
		storecase.Equal(c, "with bot", storecase.HostedMembers(c, "shop"), []shoal.EntityID{"zed", "bot"})
		storecase.Equal(c, "in the yard", storecase.HostedMembers(c, "yard"), []shoal.EntityID{"bot"})
		c.AddHostedAgent("bee", 1)
		c.Update(func(tx storage.Tx) error {
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "bee", JoinedAt: storecase.Time(1)})
		})
		c.Update(func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "zed") })
		storecase.Equal(c, "after one came and one went", storecase.HostedMembers(c, "shop"), []shoal.EntityID{"bot", "bee"})
		c.Update(func(tx storage.Tx) error { return tx.DeleteHostedAgent(c.Session, "bot") })
		storecase.Equal(c, "without bot", storecase.HostedMembers(c, "shop"), []shoal.EntityID{"bee"})
		storecase.Equal(c, "in no space", storecase.HostedMembers(c, "nowhere"), []shoal.EntityID{})
	},

	"a message reaches no inbox of a hosted agent": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "bot")
		c.AddHostedAgent("bot", 1)
		c.AddSpace("shop", "ann", "bob", "bot")
		m := c.NewMessage("shop", "ann", "hi")
		m.Seq, m.Mentions = 1, []shoal.EntityID{"bot", "bob"}
		storecase.Equal(c, "the receivers", storecase.Do(c, func(tx storage.Tx) (storage.Delivered, error) {
			if err := tx.InsertMessage(m, storage.PostKey{}); err != nil {
				return storage.Delivered{}, err
			}
			return tx.Deliver(m, nil)
		}), storage.Delivered{Place: 1, Receivers: []storage.Receiver{{ID: "bob", Reason: shoal.ReasonMention}}})
		storecase.Equal(c, "the inbox of bot", storecase.InboxPlaces(c, "bot", storage.InboxFilter{}), nil)
		storecase.Equal(c, "the inbox of bob", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{1})
	},

	"the clock of the database is close to that of the process, and advances": func(c *storecase.Case) {
		now := func() shoal.Time {
			return storecase.Read(c, func(tx storage.Tx) (shoal.Time, error) { return tx.Now() })
		}
		first := now()
		if off := first.Sub(shoal.Now().Time).Abs().Hours(); off > 1 {
			c.Errorf("it is %v hours off", off)
		}
		if again := now(); again.Before(first.Time) {
			c.Errorf("it went back from %v to %v", first, again)
		}
	},
}
