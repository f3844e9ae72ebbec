package shoaltest

import (
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// finish stores a composite message as it stays, with one text.
func (c *storeCase) finish(m shoal.Message, text string) shoal.Message {
	c.Helper()
	m.Status, m.UpdatedAt = shoal.MessageCompleted, storeTime(9)
	m.Parts = []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: text, Status: shoal.PartDone}}
	c.update(func(tx hub.Tx) error { return tx.UpdateMessage(m, nil) })
	return m
}

func composed(c *storeCase, run shoal.RunID) []hub.ComposedMessage {
	c.Helper()
	return seen(c, func(tx hub.Tx) ([]hub.ComposedMessage, error) { return tx.Composed(c.session, run) })
}

var composedTests = map[string]func(*storeCase){
	"it is stored as it grows, with its composer's state": func(c *storeCase) {
		c.entities("ann", "bot")
		c.space("shop", "ann", "bot")
		m := c.wrote("shop", "r1")
		get := func() shoal.Message {
			return seen(c, func(tx hub.Tx) (shoal.Message, error) { return tx.Message(c.session, "shop", m.ID) })
		}
		same(c, "the message at first", get(), m)
		same(c, "without a state", composed(c, "r1"), []hub.ComposedMessage{{Message: m}})
		m.UpdatedAt, m.Mentions = storeTime(7), []shoal.EntityID{"ann"}
		m.Parts = []shoal.Part{
			{ID: "p1", Type: shoal.TextPart, Text: hostile + "\x00", Status: shoal.PartStreaming},
			{
				ID: "p2", Type: shoal.ToolPart, Status: shoal.PartRequiresAction, ToolName: hostile, ToolCallID: "call<1>",
				Args: []byte(`{"b":"<ü> & \u2028 𝄞","a":1.50e+3,"a":[]}`), Result: []byte(`"<>&"`), Error: hostile,
				Display: []byte(`{"customUI":"<Card>"}`), AnsweredBy: "ann", Target: "ann",
			},
			{ID: "p3", Type: shoal.ToolPart, Status: shoal.PartInputStreaming, ToolName: "t", ToolCallID: "call-2"},
			{ID: "p4", Type: shoal.DataPart, Name: "n", Data: []byte(`null`)},
		}
		c.update(func(tx hub.Tx) error { return tx.UpdateMessage(m, rawJSON) })
		same(c, "the message in progress", get(), m)
		same(c, "with its state", composed(c, "r1"), []hub.ComposedMessage{{Message: m, State: rawJSON}})
		m = c.finish(m, "a text with a \x00")
		same(c, "the closed message", get(), m)
		same(c, "the timeline", seen(c, func(tx hub.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.session, "shop", hub.Page{Limit: 9})
		}), []shoal.Message{m})
		same(c, "the state is gone", composed(c, "r1"), []hub.ComposedMessage{{Message: m}})
	},

	"a missing one is NotFound, also for another space or session": func(c *storeCase) {
		c.space("shop")
		c.space("yard")
		m := c.wrote("shop", "r1")
		posted := c.say("shop", "ann", "plain")
		same(c, "a posted message", seen(c, func(tx hub.Tx) (shoal.Message, error) { return tx.Message(c.session, "shop", posted.ID) }), posted)
		c.absent(func(tx hub.Tx) error { _, err := tx.Message(c.session, "shop", "msg_x"); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.Message(c.session, "yard", m.ID); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.Message("nowhere", "shop", m.ID); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.UpdateMessage(posted, nil) })
		m.SpaceID = "yard"
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.UpdateMessage(m, nil) })
	},

	"those of a run in the order of their opening, those in progress by space": func(c *storeCase) {
		c.space("a")
		c.space("b")
		b1, a1, b2 := c.wrote("b", "r1"), c.wrote("a", "r1"), c.wrote("b", "r1")
		other := c.wrote("b", "r2")
		c.say("a", "ann", "plain")
		ids := func(all []hub.ComposedMessage) (ids []shoal.MessageID) {
			for _, m := range all {
				ids = append(ids, m.ID)
			}
			return ids
		}
		same(c, "those of the run", ids(composed(c, "r1")), []shoal.MessageID{b1.ID, a1.ID, b2.ID})
		same(c, "those of no run", composed(c, "r3"), []hub.ComposedMessage{})
		streaming := func(space shoal.SpaceID) []shoal.Message {
			return seen(c, func(tx hub.Tx) ([]shoal.Message, error) { return tx.Streaming(c.session, space) })
		}
		same(c, "in progress anywhere", streaming(""), []shoal.Message{a1, b1, b2, other})
		same(c, "in progress in b", streaming("b"), []shoal.Message{b1, b2, other})
		c.finish(b1, "done")
		same(c, "after one was closed", streaming("b"), []shoal.Message{b2, other})
		same(c, "in no space", streaming("x"), []shoal.Message{})
	},

	"it is found by its words from the moment it is closed, and once": func(c *storeCase) {
		c.space("shop")
		c.say("shop", "ann", "needle before")
		m := c.wrote("shop", "r1")
		draft := m
		draft.Parts = []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: "needle dr", Status: shoal.PartStreaming}}
		c.update(func(tx hub.Tx) error { return tx.UpdateMessage(draft, nil) })
		c.say("shop", "ann", "needle after")
		query := hub.SearchQuery{Query: Words("needle")}
		for _, when := range []string{"at once", "later"} {
			same(c, "while it is open, "+when, find(c, query), []string{"needle after", "needle before"})
			feedIndex(c)
		}
		m = c.finish(m, "needle closed")
		c.say("shop", "ann", "needle at last")
		want := []string{"needle at last", "needle after", "needle closed", "needle before"}
		for _, when := range []string{"at once", "later", "much later"} {
			same(c, "when it is closed, "+when, find(c, query), want)
			same(c, "the first two, "+when, find(c, hub.SearchQuery{Query: query.Query, Limit: 2}), want[:2])
			same(c, "those after the first two, "+when, find(c, hub.SearchQuery{
				Query: query.Query, Before: foundAt(c, query)[1],
			}), want[2:])
			feedIndex(c)
		}
		c.finish(m, "other words")
		for _, when := range []string{"at once", "later"} {
			same(c, "by its old words, "+when, find(c, query), []string{"needle at last", "needle after", "needle before"})
			same(c, "by its new words, "+when, find(c, hub.SearchQuery{Query: Words("words other")}), []string{"other words"})
			feedIndex(c)
		}
		// An index may lag: this must not be visible at any time.
		c.finish(m, "thimble")
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
			if got := find(c, hub.SearchQuery{Query: Words("thimble")}); len(got) != 1 {
				c.Fatalf("%d were found", len(got))
			}
		}
	},

	"one that is deleted before the index has it again leaves nothing": func(c *storeCase) {
		c.space("shop")
		m := c.wrote("shop", "r1")
		feedIndex(c)
		c.finish(m, "needle")
		c.update(func(tx hub.Tx) error { return tx.DeleteSession(c.session) })
		feedIndex(c)
		same(c, "what is found", find(c, hub.SearchQuery{Query: Words("needle")}), []string{})
	},

	"it reaches the inboxes when it is complete, after messages that follow it in the timeline": func(c *storeCase) {
		c.entities("ann", "bob", "bot")
		c.space("shop", "ann", "bob", "bot")
		m := c.wrote("shop", "r1")
		c.say("shop", "ann", "later", "bob")
		unread := func() (texts []string) {
			for _, e := range seen(c, func(tx hub.Tx) ([]hub.InboxEntry, error) { return tx.Unread(c.session, "bob", hub.InboxFilter{}, 9) }) {
				texts = append(texts, string(e.Reason)+" "+e.Message.Text())
			}
			return texts
		}
		same(c, "while it is open", unread(), []string{"mention later"})
		c.update(func(tx hub.Tx) error { return tx.AcknowledgeSpace(c.session, "shop", "bob", 2) })
		m.Mentions = []shoal.EntityID{"bob"}
		m = c.finish(m, "at last")
		same(c, "the receivers", len(done(c, func(tx hub.Tx) ([]hub.Receiver, error) { return tx.Deliver(m) })), 2)
		same(c, "what bob has not read", unread(), []string{"mention at last"})
		counts := seen(c, func(tx hub.Tx) (map[shoal.SpaceID]hub.Unread, error) {
			return tx.Counts(c.session, "bob", []shoal.SpaceID{"shop"})
		})
		same(c, "the counts", counts, map[shoal.SpaceID]hub.Unread{"shop": {Messages: 1, Mentions: 1}})
		c.update(func(tx hub.Tx) error { return tx.Acknowledge(c.session, "bob", hub.InboxFilter{}, 2) })
		same(c, "after acknowledging", unread(), nil)
	},

	"the cause of a message": func(c *storeCase) {
		get := func(id shoal.MessageID) hub.Cause {
			return seen(c, func(tx hub.Tx) (hub.Cause, error) { return tx.Cause(c.session, id) })
		}
		cause := hub.Cause{Root: hostile, Depth: 3, Linked: true, ActingFor: []shoal.EntityID{"ann", hostile}}
		c.update(func(tx hub.Tx) error { return tx.InsertCause(c.session, "msg_1", cause) })
		same(c, "as it was stored", get("msg_1"), cause)
		same(c, "of another message", get("msg_2"), hub.Cause{})
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertCause(c.session, "msg_1", hub.Cause{}) })
		other := newStoreCase(c.T, c.store)
		same(c, "in another session", seen(other, func(tx hub.Tx) (hub.Cause, error) { return tx.Cause(other.session, "msg_1") }), hub.Cause{})
	},
}
