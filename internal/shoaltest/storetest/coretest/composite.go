package coretest

import (
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// finish completes a composite message with one text.
func finish(c *storecase.Case, m shoal.Message, text string) shoal.Message {
	c.Helper()
	m.Status, m.UpdatedAt = shoal.MessageCompleted, storecase.Time(9)
	m.Parts = []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: text, Status: shoal.PartDone}}
	c.Update(func(tx storage.Tx) error { return tx.UpdateMessage(m, nil) })
	return m
}

func composed(c *storecase.Case, run shoal.RunID) []storage.ComposedMessage {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) ([]storage.ComposedMessage, error) { return tx.Composed(c.Session, run) })
}

var composedTests = map[string]func(*storecase.Case){
	"a streaming message is stored with the state of its composer": func(c *storecase.Case) {
		c.AddEntities("ann", "bot")
		c.AddSpace("shop", "ann", "bot")
		m := c.AddComposite("shop", "r1")
		get := func() shoal.Message {
			return storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) { return tx.Message(c.Session, "shop", m.ID) })
		}
		storecase.Equal(c, "the message at first", get(), m)
		storecase.Equal(c, "without a state", composed(c, "r1"), []storage.ComposedMessage{{Message: m}})
		m.UpdatedAt, m.Mentions = storecase.Time(7), []shoal.EntityID{"ann"}
		m.Parts = []shoal.Part{
			{ID: "p1", Type: shoal.TextPart, Text: storecase.Hostile + "\x00", Status: shoal.PartStreaming},
			{
				ID: "p2", Type: shoal.ToolPart, Status: shoal.PartRequiresAction, ToolName: storecase.Hostile, ToolCallID: "call<1>",
				Args: []byte(`{"b":"<ü> & \u2028 𝄞","a":1.50e+3,"a":[]}`), Result: []byte(`"<>&"`), Error: storecase.Hostile,
				Display: []byte(`{"customUI":"<Card>"}`), AnsweredBy: "ann", Target: "ann",
			},
			{ID: "p3", Type: shoal.ToolPart, Status: shoal.PartInputStreaming, ToolName: "t", ToolCallID: "call-2"},
			{ID: "p4", Type: shoal.DataPart, Name: "n", Data: []byte(`null`)},
		}
		c.Update(func(tx storage.Tx) error { return tx.UpdateMessage(m, storecase.RawJSON) })
		storecase.Equal(c, "the message in progress", get(), m)
		storecase.Equal(c, "with its state", composed(c, "r1"), []storage.ComposedMessage{{Message: m, State: storecase.RawJSON}})
		m = finish(c, m, "a text with a \x00")
		storecase.Equal(c, "the closed message", get(), m)
		storecase.Equal(c, "the timeline", storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.Session, "shop", storage.Page{Limit: 9})
		}), []shoal.Message{m})
		storecase.Equal(c, "the state is gone", composed(c, "r1"), []storage.ComposedMessage{{Message: m}})
	},

	"a missing message is NotFound, also in another space or session": func(c *storecase.Case) {
		c.AddSpace("shop")
		c.AddSpace("yard")
		m := c.AddComposite("shop", "r1")
		posted := c.Say("shop", "ann", "plain")
		storecase.Equal(c, "a posted message", storecase.Read(c, func(tx storage.Tx) (shoal.Message, error) { return tx.Message(c.Session, "shop", posted.ID) }), posted)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Message(c.Session, "shop", "msg_x"); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Message(c.Session, "yard", m.ID); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Message("nowhere", "shop", m.ID); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.UpdateMessage(posted, nil) })
		m.SpaceID = "yard"
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.UpdateMessage(m, nil) })
	},

	"messages of a run are listed in the order of creation, streaming ones by space": func(c *storecase.Case) {
		c.AddSpace("a")
		c.AddSpace("b")
		b1, a1, b2 := c.AddComposite("b", "r1"), c.AddComposite("a", "r1"), c.AddComposite("b", "r1")
		other := c.AddComposite("b", "r2")
		c.Say("a", "ann", "plain")
		ids := func(all []storage.ComposedMessage) (ids []shoal.MessageID) {
			for _, m := range all {
				ids = append(ids, m.ID)
			}
			return ids
		}
		storecase.Equal(c, "those of the run", ids(composed(c, "r1")), []shoal.MessageID{b1.ID, a1.ID, b2.ID})
		storecase.Equal(c, "those of no run", composed(c, "r3"), []storage.ComposedMessage{})
		streaming := func(space shoal.SpaceID) []shoal.Message {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) { return tx.Streaming(c.Session, space) })
		}
		storecase.Equal(c, "in progress anywhere", streaming(""), []shoal.Message{a1, b1, b2, other})
		storecase.Equal(c, "in progress in b", streaming("b"), []shoal.Message{b1, b2, other})
		finish(c, b1, "done")
		storecase.Equal(c, "after one was closed", streaming("b"), []shoal.Message{b2, other})
		storecase.Equal(c, "in no space", streaming("x"), []shoal.Message{})
	},

	"a message is found by its words once it is complete, and only once": func(c *storecase.Case) {
		c.AddSpace("shop")
		c.Say("shop", "ann", "needle before")
		m := c.AddComposite("shop", "r1")
		draft := m
		draft.Parts = []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: "needle dr", Status: shoal.PartStreaming}}
		c.Update(func(tx storage.Tx) error { return tx.UpdateMessage(draft, nil) })
		c.Say("shop", "ann", "needle after")
		query := storage.SearchQuery{Query: storecase.Query("needle")}
		for _, when := range []string{"at once", "later"} {
			storecase.Equal(c, "while it is open, "+when, storecase.Find(c, query), []string{"needle after", "needle before"})
			storecase.UpdateIndex(c)
		}
		m = finish(c, m, "needle closed")
		c.Say("shop", "ann", "needle at last")
		want := []string{"needle at last", "needle after", "needle closed", "needle before"}
		for _, when := range []string{"at once", "later", "much later"} {
			storecase.Equal(c, "when it is closed, "+when, storecase.Find(c, query), want)
			storecase.Equal(c, "the first two, "+when, storecase.Find(c, storage.SearchQuery{Query: query.Query, Limit: 2}), want[:2])
			storecase.Equal(c, "those after the first two, "+when, storecase.Find(c, storage.SearchQuery{
				Query: query.Query, Before: foundAt(c, query)[1],
			}), want[2:])
			storecase.UpdateIndex(c)
		}
		finish(c, m, "other words")
		for _, when := range []string{"at once", "later"} {
			storecase.Equal(c, "by its old words, "+when, storecase.Find(c, query), []string{"needle at last", "needle after", "needle before"})
			storecase.Equal(c, "by its new words, "+when, storecase.Find(c, storage.SearchQuery{Query: storecase.Query("words other")}), []string{"other words"})
			storecase.UpdateIndex(c)
		}
		// The index may be updated later, which must never be visible.
		finish(c, m, "thimble")
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
			if got := storecase.Find(c, storage.SearchQuery{Query: storecase.Query("thimble")}); len(got) != 1 {
				c.Fatalf("%d were found", len(got))
			}
		}
	},

	"a message that is deleted before it is indexed again leaves nothing": func(c *storecase.Case) {
		c.AddSpace("shop")
		m := c.AddComposite("shop", "r1")
		storecase.UpdateIndex(c)
		finish(c, m, "needle")
		c.Update(func(tx storage.Tx) error { return tx.DeleteSession(c.Session) })
		storecase.UpdateIndex(c)
		storecase.Equal(c, "what is found", storecase.Find(c, storage.SearchQuery{Query: storecase.Query("needle")}), []string{})
	},

	"a message reaches inboxes when it is complete, after later messages of the timeline": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "bot")
		c.AddSpace("shop", "ann", "bob", "bot")
		m := c.AddComposite("shop", "r1")
		c.Say("shop", "ann", "later", "bob")
		unread := func() (texts []string) {
			for _, e := range storecase.Read(c, func(tx storage.Tx) ([]storage.InboxEntry, error) {
				return tx.Unread(c.Session, "bob", storage.InboxFilter{}, 9)
			}) {
				texts = append(texts, string(e.Reason)+" "+e.Message.Text())
			}
			return texts
		}
		storecase.Equal(c, "while it is open", unread(), []string{"mention later"})
		c.Update(func(tx storage.Tx) error { return tx.AcknowledgeSpace(c.Session, "shop", "bob", 2) })
		m.Mentions = []shoal.EntityID{"bob"}
		m = finish(c, m, "at last")
		storecase.Equal(c, "the receivers", len(storecase.Do(c, func(tx storage.Tx) (storage.Delivered, error) { return tx.Deliver(m, entitySet{"ann"}) }).Receivers), 2)
		storecase.Equal(c, "what bob has not read", unread(), []string{"mention at last"})
		counts := storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID]storage.Unread, error) {
			return tx.Counts(c.Session, "bob", []shoal.SpaceID{"shop"})
		})
		storecase.Equal(c, "the counts", counts, map[shoal.SpaceID]storage.Unread{"shop": {Messages: 1, Mentions: 1, First: 1}})
		acknowledge(c, "bob", 2)
		storecase.Equal(c, "after acknowledging", unread(), nil)
	},

	"the cause of a message is stored": func(c *storecase.Case) {
		get := func(id shoal.MessageID) storage.Cause {
			return storecase.Read(c, func(tx storage.Tx) (storage.Cause, error) { return tx.Cause(c.Session, id) })
		}
		cause := storage.Cause{Root: storecase.Hostile, Depth: 3, Linked: true, ActingFor: []shoal.EntityID{"ann", storecase.Hostile}}
		c.Update(func(tx storage.Tx) error { return tx.InsertCause(c.Session, "msg_1", cause) })
		storecase.Equal(c, "as it was stored", get("msg_1"), cause)
		storecase.Equal(c, "of another message", get("msg_2"), storage.Cause{})
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertCause(c.Session, "msg_1", storage.Cause{}) })
		other := storecase.New(c.T, c.Store)
		storecase.Equal(c, "in another session", storecase.Read(other, func(tx storage.Tx) (storage.Cause, error) { return tx.Cause(other.Session, "msg_1") }), storage.Cause{})
	},
}
