package coretest

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// messageIn returns the data of an event about a message.
func messageIn(c *storecase.Case, e storage.Event) (d shoal.MessageData) {
	c.Helper()
	if err := json.Unmarshal(e.Data, &d); err != nil {
		c.Fatalf("the event is %s: %v", e.Data, err)
	}
	return d
}

// editTests specify what an edit changes and what it keeps.
var editTests = map[string]func(*storecase.Case){
	"every read returns the current text": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "eve")
		c.AddSpace("shop", "ann", "bob", "eve")
		m := c.NewMessage("shop", "ann", "green tea", "bob", "eve")
		m.Seq = 1
		key := storage.PostKey{Scope: "entity:ann", Key: "k1", Hash: "h1"}
		c.Update(func(tx storage.Tx) error {
			if err := tx.PostMessage(m, key); err != nil {
				return err
			}
			_, err := tx.Deliver(m, nil)
			return err
		})
		storecase.UpdateIndex(c)
		now := storecase.Edit(m, "black coffee", 50, "bob")
		c.Update(func(tx storage.Tx) error { return tx.EditMessage(now) })
		storecase.Equal(c, "the message", storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) { return tx.MessageByID(c.Session, m.ID) }), now)
		storecase.Equal(c, "the timeline", storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.Session, "shop", storage.Page{Limit: 9})
		}), []shoal.Message{now})
		storecase.Equal(c, "under its key", storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) {
			found, _, err := tx.MessageByKey(c.Session, "entity:ann", "k1")
			return found, err
		}), now)
		for _, who := range []struct {
			id     shoal.EntityID
			reason shoal.Reason
		}{{"bob", shoal.ReasonMention}, {"eve", shoal.ReasonMessage}} {
			unread := storecase.Read(c, func(tx storage.Tx) ([]storage.InboxEntry, error) {
				return tx.Unread(c.Session, who.id, storage.InboxFilter{Kind: shoal.WaitMessages}, 9)
			})
			if len(unread) != 1 || unread[0].Reason != who.reason || unread[0].Message.Text() != "black coffee" {
				c.Errorf("unread of %s is %+v", who.id, unread)
			}
		}
		for query, want := range map[string]int{"green": 0, "tea": 0, "black": 1, "coffee": 1} {
			if found := storecase.FindAll(c, storage.SearchQuery{Query: storecase.Query(query), Limit: 9}); len(found) != want {
				c.Errorf("a search for %q finds %+v", query, found)
			}
		}
		storecase.UpdateIndex(c)
		if found := storecase.FindAll(c, storage.SearchQuery{Query: storecase.Query("coffee"), Limit: 9}); len(found) != 1 {
			c.Errorf("once it is indexed, a search finds %+v", found)
		}
	},

	"events contain the message as it is when they are read": func(c *storecase.Case) {
		c.AddEntities("ann")
		c.AddSpace("shop", "ann")
		m := c.Say("shop", "ann", "one")
		for i, text := range []string{"two", "three"} {
			c.Update(func(tx storage.Tx) error {
				if err := tx.EditMessage(storecase.Edit(m, text, 50+i)); err != nil {
					return err
				}
				_, err := tx.AppendEvent(storage.Event{
					Session: c.Session, Space: "shop", Type: shoal.EventMessageUpdated, Message: m.ID,
					Data: []byte(fmt.Sprintf(`{"type":"message.updated","spaceId":"shop","runId":null,"at":%q}`, storecase.Time(50+i))),
				})
				return err
			})
		}
		events := storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) {
			return tx.Events(c.Session, storage.EventFilter{Space: "shop"}, 0, 9)
		})
		if len(events) != 3 {
			c.Fatalf("the events are %+v", events)
		}
		for i, e := range events {
			d := messageIn(c, e)
			if d.Message.Text() != "three" || d.Type != e.Type || *d.SpaceID != "shop" {
				c.Errorf("event %d is %s", i, e.Data)
			}
		}
		c.Update(func(tx storage.Tx) error { return tx.EraseMessage(c.Session, m.ID, storecase.Time(60)) })
		for _, e := range storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) {
			return tx.Events(c.Session, storage.EventFilter{Space: "shop"}, 0, 9)
		}) {
			if d := messageIn(c, e); d.Message.DeletedAt == nil {
				c.Errorf("after the deletion an event is %s", e.Data)
			}
		}
	},

	"versions are kept until the message is deleted": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		m := c.NewMessage("shop", "ann", "v1", "bob")
		m.Seq = 1
		c.Update(func(tx storage.Tx) error { return tx.PostMessage(m, storage.PostKey{}) })
		versions := func(before int64, limit int) []shoal.MessageVersion {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.MessageVersion, error) {
				return tx.MessageVersions(c.Session, m.ID, before, limit)
			})
		}
		storecase.Equal(c, "the versions of one that was not edited", versions(0, 9), []shoal.MessageVersion{})
		for i := 2; i <= shoal.MaxVersions+3; i++ {
			c.Update(func(tx storage.Tx) error { return tx.EditMessage(storecase.Edit(m, fmt.Sprintf("v%d", i), 50+i)) })
		}
		all := versions(0, 2*shoal.MaxVersions)
		if len(all) != shoal.MaxVersions {
			c.Errorf("%d versions are kept", len(all))
		}
		newest, oldest := all[0], all[len(all)-1]
		if newest.Version != shoal.MaxVersions+2 || (shoal.Message{Parts: newest.Parts}).Text() != fmt.Sprintf("v%d", newest.Version) || newest.At != storecase.Time(50+shoal.MaxVersions+2) {
			c.Errorf("the newest version is %+v", newest)
		}
		storecase.Equal(c, "the first version", oldest, shoal.MessageVersion{
			Version: 1, At: m.CreatedAt, Mentions: []shoal.EntityID{"bob"}, DroppedMentions: []shoal.EntityID{}, Parts: m.Parts,
		})
		storecase.Equal(c, "a page", versions(all[2].Version, 2), all[3:5])
		c.Update(func(tx storage.Tx) error { return tx.EraseMessage(c.Session, m.ID, storecase.Time(200)) })
		storecase.Equal(c, "the versions of a deleted one", versions(0, 9), []shoal.MessageVersion{})
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.EditMessage(storecase.Edit(m, "again", 201)) })
	},

	"reactions are kept by an edit and removed with the message": func(c *storecase.Case) {
		c.AddEntities("ann")
		c.AddSpace("shop", "ann")
		m := c.Say("shop", "ann", "tea?")
		m.Reactions = []shoal.Reaction{{Emoji: "👍🏽", EntityIDs: []shoal.EntityID{"ann", "bob"}}, {Emoji: "❤️", EntityIDs: []shoal.EntityID{"bob"}}}
		read := func() shoal.Message {
			return storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) { return tx.MessageByID(c.Session, m.ID) })
		}
		c.Update(func(tx storage.Tx) error { return tx.SetReactions(c.Session, m.ID, m.Reactions) })
		storecase.Equal(c, "the message", read(), m)
		c.Update(func(tx storage.Tx) error { return tx.EditMessage(storecase.Edit(m, "coffee?", 50)) })
		storecase.Equal(c, "the reactions", read().Reactions, m.Reactions)
		c.Update(func(tx storage.Tx) error { return tx.SetReactions(c.Session, m.ID, nil) })
		storecase.Equal(c, "without", read().Reactions, []shoal.Reaction{})
		c.Update(func(tx storage.Tx) error {
			if err := tx.SetReactions(c.Session, m.ID, m.Reactions); err != nil {
				return err
			}
			return tx.EraseMessage(c.Session, m.ID, storecase.Time(60))
		})
		storecase.Equal(c, "those of a deleted message", read().Reactions, []shoal.Reaction{})
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.SetReactions(c.Session, "msg_none", m.Reactions) })
	},

	"an edited reply keeps the message that it replies to": func(c *storecase.Case) {
		c.AddEntities("ann")
		c.AddSpace("shop", "ann")
		m := c.Say("shop", "ann", "tea?")
		reply := c.NewMessage("shop", "ann", "yes")
		reply.ReplyTo = &m.ID
		reply = c.Post(reply)
		c.Update(func(tx storage.Tx) error { return tx.EraseMessage(c.Session, m.ID, storecase.Time(50)) })
		storecase.Equal(c, "the reply", storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) { return tx.MessageByID(c.Session, reply.ID) }), reply)
		if got := storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) { return tx.MessageByID(c.Session, m.ID) }); got.ReplyTo != nil {
			c.Errorf("the first message is a reply to %s", *got.ReplyTo)
		}
	},

	"only posted messages can be edited": func(c *storecase.Case) {
		c.AddSpace("shop")
		composed := c.AddComposite("shop", "r1")
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.EditMessage(storecase.Edit(composed, "else", 50)) })
		missing := composed
		missing.ID = "msg_none"
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.EditMessage(storecase.Edit(missing, "else", 50)) })
	},
}
