package coretest

import (
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// eraseTests specify what remains of an erased message.
var eraseTests = map[string]func(*storecase.Case){
	"a message is found by its id alone": func(c *storecase.Case) {
		c.AddSpace("shop")
		m := c.Say("shop", "ann", "tea")
		composed := c.AddComposite("shop", "r1")
		for _, want := range []shoal.Message{m, composed} {
			storecase.Equal(c, "the message", storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) { return tx.MessageByID(c.Session, want.ID) }), want)
		}
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.MessageByID("nowhere", m.ID); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.MessageByID(c.Session, "msg_none"); return err })
	},

	"an erased message keeps its position without its content": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		before := c.Say("shop", "ann", "sugar")
		m := c.NewMessage("shop", "ann", "green tea", "bob")
		m.Seq = before.Seq + 1
		key := storage.PostKey{Scope: "entity:ann", Key: "k1", Hash: "h1"}
		c.Update(func(tx storage.Tx) error {
			if err := tx.PostMessage(m, key); err != nil {
				return err
			}
			_, err := tx.Deliver(m, nil)
			return err
		})
		storecase.UpdateIndex(c)
		c.Update(func(tx storage.Tx) error { return tx.EraseMessage(c.Session, m.ID, storecase.Time(50)) })
		gone := m
		gone.Parts, gone.Mentions, gone.DroppedMentions = []shoal.Part{}, []shoal.EntityID{}, []shoal.EntityID{}
		gone.UpdatedAt, gone.DeletedAt = storecase.Time(50), storecase.Ptr(storecase.Time(50))
		storecase.Equal(c, "the timeline", storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.Session, "shop", storage.Page{Limit: 9})
		}), []shoal.Message{before, gone})
		again := storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) {
			found, hash, err := tx.MessageByKey(c.Session, "entity:ann", "k1")
			if hash != "h1" {
				c.Errorf("the hash is %q", hash)
			}
			return found, err
		})
		storecase.Equal(c, "under its key", again, gone)
		events := storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) {
			return tx.Events(c.Session, storage.EventFilter{Space: "shop"}, 0, 9)
		})
		for _, e := range events {
			if strings.Contains(string(e.Data), "green") {
				c.Errorf("the event is %s", e.Data)
			}
		}
		unread := storecase.Read(c, func(tx storage.Tx) ([]storage.InboxEntry, error) {
			return tx.Unread(c.Session, "bob", storage.InboxFilter{Kind: shoal.WaitMessages}, 9)
		})
		if len(unread) != 2 || unread[1].Reason != shoal.ReasonMessage || unread[1].Message.DeletedAt == nil {
			c.Errorf("unread is %+v", unread)
		}
		for _, query := range []storage.SearchQuery{{Query: storecase.Query("green"), Limit: 9}, {Query: storecase.Query("tea"), Limit: 9}} {
			if found := storecase.FindAll(c, query); len(found) > 0 {
				c.Errorf("found %+v", found)
			}
		}
		if found := storecase.FindAll(c, storage.SearchQuery{Query: storecase.Query("sugar"), Limit: 9}); len(found) > 0 {
			storecase.Equal(c, "what stays", found[0].Message, before)
		}
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.EraseMessage(c.Session, "msg_none", storecase.Time(51)) })
	},

	"copies are rewritten that contain the id or text of a message or belong to its run": func(c *storecase.Case) {
		c.AddEntities("ann", "bot")
		c.AddSpace("shop", "ann", "bot")
		c.AddRuns(c.NewRun("r1", "bot", "shop"), c.NewRun("r2", "bot", "shop"), c.NewRun("r3", "bot", "shop"))
		step := func(text string) storage.Step {
			return storage.Step{Step: shoal.Step{StartedAt: storecase.Time(1)}, Data: []byte(`{"text":"` + text + `"}`)}
		}
		c.AddSteps("r1", step("of its own run"))
		c.AddSteps("r2", step("says green tea here"))
		c.AddSteps("r3", step("something else"))
		c.Update(func(tx storage.Tx) error {
			if err := tx.PutConversation(storage.Conversation{Session: c.Session, ID: "cnv", Agent: "bot", Data: []byte(`{"text":"reads msg_9"}`)}); err != nil {
				return err
			}
			return tx.RewriteCopies(c.Session, storage.MessageCopies{Message: "msg_9", Run: "r1", Pieces: []string{"green tea"}}, func(text string) string {
				return strings.NewReplacer("own run", "X", "green tea", "X", "something else", "wrong", "msg_9", "X").Replace(text)
			})
		})
		for run, want := range map[shoal.RunID]string{"r1": `{"text":"of its X"}`, "r2": `{"text":"says X here"}`, "r3": `{"text":"something else"}`} {
			steps := storecase.Read(c, func(tx storage.Tx) ([]storage.Step, error) { return tx.RunSteps(c.Session, run) })
			if len(steps) != 1 || string(steps[0].Data) != want {
				c.Errorf("the steps of %s are %+v", run, steps)
			}
		}
		kept := storecase.Read(c, func(tx storage.Tx) (storage.Conversation, error) { return tx.Conversation(c.Session, "cnv") })
		storecase.Equal(c, "the conversation", string(kept.Data), `{"text":"reads X"}`)
	},
}
