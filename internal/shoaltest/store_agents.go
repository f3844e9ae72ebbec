package shoaltest

import (
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// rawJSON is JSON that must be preserved byte for byte: spaces, the order of keys, the
// format of numbers, and characters that need escaping in some format.
var rawJSON = []byte(`{ "b" : "<ü> & \u2028 ' \"; DROP TABLE runs; --  𝄞 \\u0000 $1 ?" , "a":1.50e+3,"a":[ ],"big":"` + strings.Repeat("é<", 100<<10) + `" }`)

// hostile is a text of that kind.
const hostile = "it's \"<b>\" & \u2028 \\ $1 ? 𝄞 '; DROP TABLE runs; --\r\n\t\x7f"

// host stores the next version of an entity's configuration as a hosted agent.
func (c *storeCase) host(id shoal.EntityID, version int) hub.StoredAgent {
	c.Helper()
	a := hub.StoredAgent{
		HostedAgent: shoal.HostedAgent{ID: id, SessionID: c.session, Version: version, Hash: hostile, Config: rawJSON, CreatedAt: storeTime(version)},
		Name:        strings.ToUpper(string(id)), OnNewMessage: "enqueue", SettleMs: 1500, MaxSteps: 5,
	}
	c.update(func(tx hub.Tx) error { return tx.PutHostedAgent(a) })
	return a
}

func hostedMembers(c *storeCase, space shoal.SpaceID) []shoal.EntityID {
	c.Helper()
	return seen(c, func(tx hub.Tx) ([]shoal.EntityID, error) { return tx.HostedMembers(c.session, space) })
}

func botIsHosted(c *storeCase) bool {
	c.Helper()
	return seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "bot") }).Hosted
}

var agentTests = map[string]func(*storeCase){
	"every version comes back as it was stored, the newest by default": func(c *storeCase) {
		c.entities("bot")
		first, second := c.host("bot", 1), c.host("bot", 2)
		at := func(version int) hub.StoredAgent {
			return seen(c, func(tx hub.Tx) (hub.StoredAgent, error) { return tx.HostedAgentAt(c.session, "bot", version) })
		}
		same(c, "the first version", at(1), first)
		same(c, "the second version", at(2), second)
		same(c, "the newest", seen(c, func(tx hub.Tx) (hub.StoredAgent, error) { return tx.HostedAgent(c.session, "bot") }), second)
		c.absent(func(tx hub.Tx) error { _, err := tx.HostedAgentAt(c.session, "bot", 3); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.HostedAgent("nowhere", "bot"); return err })
	},

	"the versions are listed, the newest first, also when it is hosted no more": func(c *storeCase) {
		c.entities("bot", "bee")
		first, second, third := c.host("bot", 1), c.host("bot", 2), c.host("bot", 3)
		c.host("bee", 1)
		versions := func(id shoal.EntityID, before, limit int) []hub.StoredAgent {
			return seen(c, func(tx hub.Tx) ([]hub.StoredAgent, error) {
				return tx.HostedAgentVersions(c.session, id, before, limit)
			})
		}
		same(c, "all", versions("bot", 0, 9), []hub.StoredAgent{third, second, first})
		same(c, "two", versions("bot", 0, 2), []hub.StoredAgent{third, second})
		same(c, "those below", versions("bot", 3, 9), []hub.StoredAgent{second, first})
		same(c, "nobody's", versions("nobody", 0, 9), []hub.StoredAgent{})
		c.update(func(tx hub.Tx) error { return tx.DeleteHostedAgent(c.session, "bot") })
		same(c, "of one that was hosted", len(versions("bot", 0, 9)), 3)
	},

	"a version must follow the last one, of an entity that is there": func(c *storeCase) {
		c.entities("bot")
		a := c.host("bot", 1)
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.PutHostedAgent(a) })
		a.Version = 3
		c.refused(shoal.Conflict, func(tx hub.Tx) error { return tx.PutHostedAgent(a) })
		a.ID, a.Version = "nobody", 1
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.PutHostedAgent(a) })
	},

	"they are listed in the order of the bytes of their ids, page by page": func(c *storeCase) {
		c.entities("connected")
		var want []shoal.EntityID
		for _, id := range trickyIDs {
			want = append(want, shoal.EntityID(id))
			c.entities(shoal.EntityID(id))
			c.host(shoal.EntityID(id), 1)
		}
		c.host("B", 2)
		var got []shoal.EntityID
		for after := shoal.EntityID(""); ; {
			page := seen(c, func(tx hub.Tx) ([]hub.StoredAgent, error) { return tx.HostedAgents(c.session, after, 5) })
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
		same(c, "the list", got, want)
	},

	"the entity is hosted from then on, until that ends; its versions stay": func(c *storeCase) {
		c.entities("bot")
		same(c, "before", botIsHosted(c), false)
		first := c.host("bot", 1)
		same(c, "then", botIsHosted(c), true)
		c.update(func(tx hub.Tx) error { return tx.DeleteHostedAgent(c.session, "bot") })
		same(c, "after", botIsHosted(c), false)
		c.absent(func(tx hub.Tx) error { _, err := tx.HostedAgent(c.session, "bot"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteHostedAgent(c.session, "bot") })
		same(c, "the old version", seen(c, func(tx hub.Tx) (hub.StoredAgent, error) { return tx.HostedAgentAt(c.session, "bot", 1) }), first)
		same(c, "the list", seen(c, func(tx hub.Tx) ([]hub.StoredAgent, error) { return tx.HostedAgents(c.session, "", 9) }), []hub.StoredAgent{})
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.PutHostedAgent(first) })
		c.host("bot", 2)
		same(c, "hosted again", botIsHosted(c), true)
		c.update(func(tx hub.Tx) error { return tx.DeleteEntity(c.session, "bot", storeTime(9)) })
		c.absent(func(tx hub.Tx) error { _, err := tx.HostedAgent(c.session, "bot"); return err })
		same(c, "the version of the deleted one", seen(c, func(tx hub.Tx) (hub.StoredAgent, error) { return tx.HostedAgentAt(c.session, "bot", 1) }), first)
	},

	"the hosted members of a space, in the order of joining": func(c *storeCase) {
		c.entities("zed", "ann", "bot", "bee")
		c.host("zed", 1)
		c.space("shop", "zed", "ann", "bot")
		c.space("yard", "bot")
		same(c, "at first", hostedMembers(c, "shop"), []shoal.EntityID{"zed"})
		c.host("bot", 1) // a member becomes a hosted agent
		same(c, "with bot", hostedMembers(c, "shop"), []shoal.EntityID{"zed", "bot"})
		same(c, "in the yard", hostedMembers(c, "yard"), []shoal.EntityID{"bot"})
		c.host("bee", 1)
		c.update(func(tx hub.Tx) error {
			return tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "bee", JoinedAt: storeTime(1)})
		})
		c.update(func(tx hub.Tx) error { return tx.DeleteMember(c.session, "shop", "zed") })
		same(c, "after one came and one went", hostedMembers(c, "shop"), []shoal.EntityID{"bot", "bee"})
		c.update(func(tx hub.Tx) error { return tx.DeleteHostedAgent(c.session, "bot") })
		same(c, "without bot", hostedMembers(c, "shop"), []shoal.EntityID{"bee"})
		same(c, "in no space", hostedMembers(c, "nowhere"), []shoal.EntityID{})
	},

	"a message reaches no inbox of a hosted agent": func(c *storeCase) {
		c.entities("ann", "bob", "bot")
		c.host("bot", 1)
		c.space("shop", "ann", "bob", "bot")
		m := c.message("shop", "ann", "hi")
		m.Seq, m.Mentions = 1, []shoal.EntityID{"bot", "bob"}
		same(c, "the receivers", done(c, func(tx hub.Tx) ([]hub.Receiver, error) {
			if err := tx.InsertMessage(m, hub.PostKey{}); err != nil {
				return nil, err
			}
			return tx.Deliver(m)
		}), []hub.Receiver{{ID: "bob", Place: 1, Reason: shoal.ReasonMention}})
		same(c, "the inbox of bot", places(c, "bot", hub.InboxFilter{}), nil)
		same(c, "the inbox of bob", places(c, "bob", hub.InboxFilter{}), []int64{1})
	},

	"the clock of the database stands near that of the process, and goes on": func(c *storeCase) {
		now := func() shoal.Time { return seen(c, func(tx hub.Tx) (shoal.Time, error) { return tx.Now() }) }
		first := now()
		if off := first.Sub(shoal.Now().Time).Abs().Hours(); off > 1 {
			c.Errorf("it is %v hours off", off)
		}
		if again := now(); again.Before(first.Time) {
			c.Errorf("it went back from %v to %v", first, again)
		}
	},
}
