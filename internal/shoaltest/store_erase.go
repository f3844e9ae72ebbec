package shoaltest

import (
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// eraseTests specify what remains of an erased message.
var eraseTests = map[string]func(*storeCase){
	"a message is found by its id alone": func(c *storeCase) {
		c.space("shop")
		m := c.say("shop", "ann", "tea")
		composed := c.wrote("shop", "r1")
		for _, want := range []shoal.Message{m, composed} {
			same(c, "the message", seen(c, func(tx hub.Tx) (shoal.Message, error) { return tx.MessageByID(c.session, want.ID) }), want)
		}
		c.absent(func(tx hub.Tx) error { _, err := tx.MessageByID("nowhere", m.ID); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.MessageByID(c.session, "msg_none"); return err })
	},

	"it keeps its place without what it said": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		before := c.say("shop", "ann", "sugar")
		m := c.message("shop", "ann", "green tea", "bob")
		m.Seq = before.Seq + 1
		key := hub.PostKey{Scope: "entity:ann", Key: "k1", Hash: "h1"}
		c.update(func(tx hub.Tx) error {
			if err := tx.PostMessage(m, key); err != nil {
				return err
			}
			_, err := tx.Deliver(m)
			return err
		})
		feedIndex(c)
		c.update(func(tx hub.Tx) error { return tx.EraseMessage(c.session, m.ID, storeTime(50)) })
		gone := m
		gone.Parts, gone.Mentions, gone.DroppedMentions = []shoal.Part{}, []shoal.EntityID{}, []shoal.EntityID{}
		gone.UpdatedAt, gone.DeletedAt = storeTime(50), ref(storeTime(50))
		same(c, "the timeline", seen(c, func(tx hub.Tx) ([]shoal.Message, error) { return tx.Messages(c.session, "shop", hub.Page{Limit: 9}) }), []shoal.Message{before, gone})
		again := seen(c, func(tx hub.Tx) (shoal.Message, error) {
			found, hash, err := tx.MessageByKey(c.session, "entity:ann", "k1")
			if hash != "h1" {
				c.Errorf("the hash is %q", hash)
			}
			return found, err
		})
		same(c, "under its key", again, gone)
		events := seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) {
			return tx.Events(c.session, hub.EventFilter{Space: "shop"}, 0, 9)
		})
		for _, e := range events {
			if strings.Contains(string(e.Data), "green") {
				c.Errorf("the event is %s", e.Data)
			}
		}
		unread := seen(c, func(tx hub.Tx) ([]hub.InboxEntry, error) {
			return tx.Unread(c.session, "bob", hub.InboxFilter{Kind: shoal.WaitMessages}, 9)
		})
		if len(unread) != 2 || unread[1].Reason != shoal.ReasonMessage || unread[1].Message.DeletedAt == nil {
			c.Errorf("unread is %+v", unread)
		}
		for _, query := range []hub.SearchQuery{{Query: Words("green"), Limit: 9}, {Query: Words("tea"), Limit: 9}} {
			if found := findAll(c, query); len(found) > 0 {
				c.Errorf("found %+v", found)
			}
		}
		if found := findAll(c, hub.SearchQuery{Query: Words("sugar"), Limit: 9}); len(found) > 0 {
			same(c, "what stays", found[0].Message, before)
		}
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.EraseMessage(c.session, "msg_none", storeTime(51)) })
	},

	"copies are rewritten where they name it, hold a piece of it or are of its run": func(c *storeCase) {
		c.entities("ann", "bot")
		c.space("shop", "ann", "bot")
		c.runs(c.run("r1", "bot", "shop"), c.run("r2", "bot", "shop"), c.run("r3", "bot", "shop"))
		step := func(text string) hub.StoredStep {
			return hub.StoredStep{Step: shoal.Step{StartedAt: storeTime(1)}, Data: []byte(`{"text":"` + text + `"}`)}
		}
		c.put("r1", step("of its own run"))
		c.put("r2", step("says green tea here"))
		c.put("r3", step("something else"))
		c.update(func(tx hub.Tx) error {
			if err := tx.PutConversation(hub.StoredConversation{Session: c.session, ID: "cnv", Agent: "bot", Data: []byte(`{"text":"reads msg_9"}`)}); err != nil {
				return err
			}
			return tx.RewriteTraces(c.session, hub.Traces{Message: "msg_9", Run: "r1", Pieces: []string{"green tea"}}, func(text string) string {
				return strings.NewReplacer("own run", "X", "green tea", "X", "something else", "wrong", "msg_9", "X").Replace(text)
			})
		})
		for run, want := range map[shoal.RunID]string{"r1": `{"text":"of its X"}`, "r2": `{"text":"says X here"}`, "r3": `{"text":"something else"}`} {
			steps := seen(c, func(tx hub.Tx) ([]hub.StoredStep, error) { return tx.RunSteps(c.session, run) })
			if len(steps) != 1 || string(steps[0].Data) != want {
				c.Errorf("the steps of %s are %+v", run, steps)
			}
		}
		kept := seen(c, func(tx hub.Tx) (hub.StoredConversation, error) { return tx.Conversation(c.session, "cnv") })
		same(c, "the conversation", string(kept.Data), `{"text":"reads X"}`)
	},
}
