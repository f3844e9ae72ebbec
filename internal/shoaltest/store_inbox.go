package shoaltest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// places lists the positions of the unread entries.
func places(c *storeCase, entity shoal.EntityID, filter hub.InboxFilter) (all []int64) {
	c.Helper()
	for _, e := range seen(c, func(tx hub.Tx) ([]hub.InboxEntry, error) { return tx.Unread(c.session, entity, filter, 1000) }) {
		all = append(all, e.Place)
	}
	return all
}

// deliver marks positions as delivered once more.
func deliver(c *storeCase, entity shoal.EntityID, places ...int64) {
	c.Helper()
	c.update(func(tx hub.Tx) error { return tx.MarkDelivered(c.session, entity, places) })
}

// acknowledge acknowledges up to a position.
func acknowledge(c *storeCase, entity shoal.EntityID, upTo int64) {
	c.Helper()
	c.update(func(tx hub.Tx) error { return tx.Acknowledge(c.session, entity, hub.InboxFilter{}, upTo) })
}

var inboxTests = map[string]func(*storeCase){
	"a message reaches every member except its sender, and Deliver returns the recipients": func(c *storeCase) {
		c.entities("ann", "bob", "cid", "out")
		c.space("shop", "ann", "bob", "cid")
		c.space("yard", "ann", "cid")
		c.say("yard", "ann", "for cid alone")
		m := c.message("shop", "ann", "hi")
		m.Seq, m.Mentions = 1, []shoal.EntityID{"bob"}
		receivers := done(c, func(tx hub.Tx) ([]hub.Receiver, error) {
			if err := tx.InsertMessage(m, hub.PostKey{}); err != nil {
				return nil, err
			}
			return tx.Deliver(m)
		})
		slices.SortFunc(receivers, func(a, b hub.Receiver) int { return cmp.Compare(a.ID, b.ID) })
		same(c, "the receivers", receivers, []hub.Receiver{{ID: "bob", Place: 1, Reason: shoal.ReasonMention}, {ID: "cid", Place: 2, Reason: shoal.ReasonMessage}})
		for id, want := range map[shoal.EntityID][]int64{"ann": nil, "bob": {1}, "cid": {1, 2}, "out": nil} {
			same(c, "the inbox of "+string(id), places(c, id, hub.InboxFilter{}), want)
		}
	},

	"a member that has muted the space gets what mentions it": func(c *storeCase) {
		c.entities("ann", "bob", "cid")
		c.space("shop", "ann", "bob", "cid")
		c.update(func(tx hub.Tx) error { return tx.MuteMember(c.session, "shop", "bob", true) })
		c.say("shop", "ann", "for cid")
		c.say("shop", shoal.System, "for all")
		c.say("shop", "ann", "for bob, too", "bob")
		c.say("shop", shoal.System, "for bob alone", "bob")
		same(c, "the inbox of bob", places(c, "bob", hub.InboxFilter{}), []int64{1, 2})
		same(c, "the inbox of cid", places(c, "cid", hub.InboxFilter{}), []int64{1, 2, 3})
		c.update(func(tx hub.Tx) error { return tx.MuteMember(c.session, "shop", "bob", false) })
		c.say("shop", "ann", "for all again")
		same(c, "the inbox of bob, unmuted", places(c, "bob", hub.InboxFilter{}), []int64{1, 2, 3})
	},

	"what was read is marked unread from a seq on, at new places": func(c *storeCase) {
		c.entities("ann", "bob", "cid")
		c.space("shop", "ann", "bob", "cid")
		c.say("shop", "ann", "1")
		c.say("shop", "ann", "2", "bob")
		c.say("shop", "bob", "3")
		c.say("shop", shoal.System, "4", "cid")
		c.say("shop", shoal.System, "5")
		acknowledge(c, "bob", 2)
		unread := func(seq int64, limit int) {
			c.update(func(tx hub.Tx) error { return tx.MarkUnread(c.session, "shop", "bob", seq, limit) })
		}
		same(c, "before", places(c, "bob", hub.InboxFilter{}), []int64{3})
		unread(2, 100)
		same(c, "from 2 on", places(c, "bob", hub.InboxFilter{}), []int64{3, 4})
		same(c, "the mention", places(c, "bob", hub.InboxFilter{Kind: shoal.WaitMentions}), []int64{3, 4})
		unread(1, 100)
		unread(1, 100)
		same(c, "from 1 on, twice", places(c, "bob", hub.InboxFilter{}), []int64{3, 4, 5})
		acknowledge(c, "bob", 5)
		unread(1, 1)
		same(c, "the newest one", places(c, "bob", hub.InboxFilter{}), []int64{6})
		c.say("shop", "ann", "6")
		same(c, "and a message", places(c, "bob", hub.InboxFilter{}), []int64{6, 7})
	},

	"a space of one has no receivers": func(c *storeCase) {
		c.entities("ann")
		c.space("shop", "ann")
		m := c.message("shop", "ann", "hi")
		m.Seq = 1
		same(c, "the receivers", done(c, func(tx hub.Tx) ([]hub.Receiver, error) {
			if err := tx.InsertMessage(m, hub.PostKey{}); err != nil {
				return nil, err
			}
			return tx.Deliver(m)
		}), []hub.Receiver{})
	},

	"an entry says why, with its message and its space": func(c *storeCase) {
		c.entities("ann", "bob", "cid")
		c.space("shop", "ann", "bob", "cid")
		var many []shoal.EntityID // as many as a message may mention
		for i := range 99 {
			many = append(many, shoal.EntityID(fmt.Sprintf("x%d", i)))
		}
		posted := []shoal.Message{
			c.say("shop", "ann", "plain"),
			c.say("shop", "ann", "mention", "bob"),
			c.say("shop", shoal.System, "system"),
			c.say("shop", shoal.System, "system and mention", "bob"),
			c.say("shop", "ann", "another is mentioned", "cid", "ann"),
			c.say("shop", "ann", "one of many", append(many, "bob")...),
		}
		reasons := []shoal.Reason{
			shoal.ReasonMessage, shoal.ReasonMention, shoal.ReasonSystem, shoal.ReasonSystem, shoal.ReasonMessage, shoal.ReasonMention,
		}
		var want []hub.InboxEntry
		for i, m := range posted {
			want = append(want, hub.InboxEntry{
				Place: int64(i + 1), Reason: reasons[i], Space: shoal.SpaceRef{ID: "shop", Name: "The shop", Status: shoal.SpaceOpen}, Message: m, EventPlace: int64(i + 1),
			})
		}
		same(c, "the inbox", seen(c, func(tx hub.Tx) ([]hub.InboxEntry, error) {
			return tx.Unread(c.session, "bob", hub.InboxFilter{}, 100)
		}), want)
		same(c, "the first two", seen(c, func(tx hub.Tx) ([]hub.InboxEntry, error) {
			return tx.Unread(c.session, "bob", hub.InboxFilter{}, 2)
		}), want[:2])
		same(c, "what the sender has of the system", places(c, "ann", hub.InboxFilter{}), []int64{1})
	},

	"filters": func(c *storeCase) {
		c.entities("ann", "bob", "cid")
		c.space("shop", "ann", "bob", "cid")
		c.space("yard", "ann", "bob", "cid")
		c.say("shop", "ann", "1")
		c.say("yard", "ann", "2", "bob")
		c.say("shop", "cid", "3", "bob")
		c.say("yard", "cid", "4")
		c.say("shop", shoal.System, "5")
		mentions, messages := shoal.WaitMentions, shoal.WaitMessages
		for _, f := range []struct {
			filter hub.InboxFilter
			want   []int64
		}{
			{hub.InboxFilter{Kind: messages}, []int64{1, 2, 3, 4, 5}},
			{hub.InboxFilter{Kind: mentions}, []int64{2, 3, 5}},
			{hub.InboxFilter{Kind: messages, Space: "yard"}, []int64{2, 4}},
			{hub.InboxFilter{Kind: mentions, Space: "shop"}, []int64{3, 5}},
			{hub.InboxFilter{Kind: messages, From: []shoal.EntityID{"ann"}}, []int64{1, 2, 5}},
			{hub.InboxFilter{Kind: messages, From: []shoal.EntityID{"nobody"}}, []int64{5}},
			{hub.InboxFilter{Kind: messages, From: []shoal.EntityID{"ann", "x", "cid"}}, []int64{1, 2, 3, 4, 5}},
			{hub.InboxFilter{Kind: mentions, Space: "yard", From: []shoal.EntityID{"ann", "cid"}}, []int64{2}},
			{hub.InboxFilter{Kind: mentions, Space: "nowhere"}, nil},
		} {
			same(c, fmt.Sprintf("what matches %+v", f.filter), places(c, "bob", f.filter), f.want)
			// Acknowledging takes exactly the same entries.
			c.refusedAfter(func(tx hub.Tx) error {
				if err := tx.MarkDelivered(c.session, "bob", []int64{1, 2, 3, 4, 5}); err != nil {
					return err
				}
				if err := tx.Acknowledge(c.session, "bob", f.filter, 5); err != nil {
					return err
				}
				left, err := tx.Unread(c.session, "bob", hub.InboxFilter{}, 10)
				if err != nil {
					return err
				}
				for _, e := range left {
					if slices.Contains(f.want, e.Place) {
						return fmt.Errorf("with %+v place %d is left", f.filter, e.Place)
					}
				}
				if len(left)+len(f.want) != 5 {
					return fmt.Errorf("with %+v, %d entries are left", f.filter, len(left))
				}
				return errOfTheCaller
			})
		}
	},

	"acknowledging takes what stands up to a place, counted as delivered or not, and never moves back": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		for range 6 {
			c.say("shop", "ann", "x")
		}
		deliver(c, "bob", 1, 2, 4, 5, 77)
		deliver(c, "bob", 2)
		entries := seen(c, func(tx hub.Tx) ([]hub.InboxEntry, error) { return tx.Unread(c.session, "bob", hub.InboxFilter{}, 10) })
		var deliveries []int
		for _, e := range entries {
			deliveries = append(deliveries, e.Delivery)
		}
		same(c, "the deliveries", deliveries, []int{1, 2, 0, 1, 1, 0})
		acknowledge(c, "bob", 4)
		same(c, "what is left", places(c, "bob", hub.InboxFilter{}), []int64{5, 6})
		acknowledge(c, "bob", 1)
		acknowledge(c, "nobody", 9)
		same(c, "what is left", places(c, "bob", hub.InboxFilter{}), []int64{5, 6})
		acknowledge(c, "bob", 5)
		same(c, "what is left", places(c, "bob", hub.InboxFilter{}), []int64{6})
		c.say("shop", "ann", "y")
		same(c, "places go on", places(c, "bob", hub.InboxFilter{}), []int64{6, 7})
	},

	"reading a space acknowledges it up to a place, delivered or not": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		c.space("yard", "ann", "bob")
		for range 3 {
			c.say("shop", "ann", "x")
			c.say("yard", "ann", "x")
		}
		deliver(c, "bob", 1)
		c.update(func(tx hub.Tx) error { return tx.AcknowledgeSpace(c.session, "shop", "bob", 2) })
		same(c, "what is left", places(c, "bob", hub.InboxFilter{}), []int64{2, 4, 5, 6})
	},

	"the end of an inbox outlives its entries": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		end := func() int64 {
			return seen(c, func(tx hub.Tx) (int64, error) { return tx.InboxEnd(c.session, "bob") })
		}
		same(c, "the end at first", end(), 0)
		c.say("shop", "ann", "x")
		c.say("shop", "ann", "x")
		c.update(func(tx hub.Tx) error { return tx.AcknowledgeSpace(c.session, "shop", "bob", 9) })
		same(c, "the end when all is read", end(), 2)
	},

	"counts": func(c *storeCase) {
		c.entities("ann", "bob")
		spaces := []shoal.SpaceID{"shop", "yard", "nowhere"}
		c.space("shop", "ann", "bob")
		c.space("yard", "ann", "bob")
		c.space("other", "ann", "bob")
		c.say("shop", "ann", "x")
		c.say("shop", "ann", "x", "bob")
		c.say("shop", shoal.System, "x")
		c.say("other", "ann", "x", "bob")
		for i := range 150 {
			spaces = append(spaces, shoal.SpaceID(fmt.Sprintf("none%d", i)))
		}
		counts := seen(c, func(tx hub.Tx) (map[shoal.SpaceID]hub.Unread, error) { return tx.Counts(c.session, "bob", spaces) })
		same(c, "the shop", counts["shop"], hub.Unread{Messages: 3, Mentions: 1})
		same(c, "the yard", counts["yard"], hub.Unread{})
		same(c, "a space that was not asked for", counts["other"], hub.Unread{})
	},

	"a key acknowledges explicitly for good": func(c *storeCase) {
		explicit := func(entity shoal.EntityID, key shoal.KeyID) bool {
			return seen(c, func(tx hub.Tx) (bool, error) { return tx.Explicit(c.session, entity, key) })
		}
		same(c, "at first", explicit("bob", "k1"), false)
		for range 2 {
			c.update(func(tx hub.Tx) error { return tx.SetExplicit(c.session, "bob", "k1") })
		}
		same(c, "then", explicit("bob", "k1"), true)
		same(c, "another key", explicit("bob", "k2"), false)
		same(c, "another entity", explicit("ann", "k1"), false)
	},
}

// refusedAfter runs fn, which checks and then returns errOfTheCaller, so that
// nothing of it is kept.
func (c *storeCase) refusedAfter(fn func(hub.Tx) error) {
	c.Helper()
	if err := c.store.Update(c.Context(), fn); err != errOfTheCaller { //nolint:errorlint // the very error is promised
		c.Errorf("got %v", err)
	}
}
