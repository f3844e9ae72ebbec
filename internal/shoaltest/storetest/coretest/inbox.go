package coretest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// deliver marks positions of bob as delivered once more.
func deliver(c *storecase.Case, places ...int64) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		return tx.MarkDelivered(c.Session, "bob", storecase.DeliveredNow(places...))
	})
}

// entitySet is a set of entities.
type entitySet []shoal.EntityID

// Len implements [storage.EntitySet].
func (s entitySet) Len() int { return len(s) }

// Has implements [storage.EntitySet].
func (s entitySet) Has(id shoal.EntityID) bool { return slices.Contains(s, id) }

// All implements [storage.EntitySet].
func (s entitySet) All() []shoal.EntityID { return s }

// deliverNew inserts a message and delivers it.
func deliverNew(c *storecase.Case, m shoal.Message, watching ...shoal.EntityID) storage.Delivered {
	c.Helper()
	return storecase.Do(c, func(tx storage.Tx) (storage.Delivered, error) {
		if err := tx.InsertMessage(m, storage.PostKey{}); err != nil {
			return storage.Delivered{}, err
		}
		return tx.Deliver(m, entitySet(watching))
	})
}

// acknowledge acknowledges up to a position.
func acknowledge(c *storecase.Case, entity shoal.EntityID, upTo int64) {
	c.Helper()
	c.Update(func(tx storage.Tx) error {
		_, err := tx.Acknowledge(c.Session, entity, storage.InboxFilter{}, upTo, nil)
		return err
	})
}

var inboxTests = map[string]func(*storecase.Case){
	"a message reaches every member except its sender, and Deliver returns the recipients": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid", "out")
		c.AddSpace("shop", "ann", "bob", "cid")
		c.AddSpace("yard", "ann", "cid")
		c.Say("yard", "ann", "for cid alone")
		m := c.NewMessage("shop", "ann", "hi")
		m.Seq, m.Mentions = 1, []shoal.EntityID{"bob"}
		receivers := deliverNew(c, m, "ann", "cid", "out")
		slices.SortFunc(receivers.Receivers, func(a, b storage.Receiver) int { return cmp.Compare(a.ID, b.ID) })
		storecase.Equal(c, "the receivers", receivers, storage.Delivered{Place: 2, Receivers: []storage.Receiver{{ID: "bob", Reason: shoal.ReasonMention}, {ID: "cid", Reason: shoal.ReasonMessage}}})
		for id, want := range map[shoal.EntityID][]int64{"ann": nil, "bob": {2}, "cid": {1, 2}, "out": nil} {
			storecase.Equal(c, "the inbox of "+string(id), storecase.InboxPlaces(c, id, storage.InboxFilter{}), want)
		}
	},

	"a member that has muted the space receives its mentions only": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann", "bob", "cid")
		c.Update(func(tx storage.Tx) error { return tx.MuteMember(c.Session, "shop", "bob", true) })
		c.Say("shop", "ann", "for cid")
		c.Say("shop", shoal.System, "for all")
		c.Say("shop", "ann", "for bob, too", "bob")
		c.Say("shop", shoal.System, "for bob alone", "bob")
		storecase.Equal(c, "the inbox of bob", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{3, 4})
		storecase.Equal(c, "the inbox of cid", storecase.InboxPlaces(c, "cid", storage.InboxFilter{}), []int64{1, 2, 3})
		c.Update(func(tx storage.Tx) error { return tx.MuteMember(c.Session, "shop", "bob", false) })
		c.Say("shop", "ann", "for all again")
		storecase.Equal(c, "the inbox of bob, unmuted", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{3, 4, 5})
	},

	"read messages are marked unread from a seq on, at new positions": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann", "bob", "cid")
		c.Say("shop", "ann", "1")
		c.Say("shop", "ann", "2", "bob")
		c.Say("shop", "bob", "3")
		c.Say("shop", shoal.System, "4", "cid")
		c.Say("shop", shoal.System, "5")
		acknowledge(c, "bob", 2)
		unread := func(seq int64, limit int) {
			c.Update(func(tx storage.Tx) error { return tx.MarkUnread(c.Session, "shop", "bob", seq, limit) })
		}
		storecase.Equal(c, "before", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{5})
		unread(2, 100)
		storecase.Equal(c, "from 2 on", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{5, 6})
		storecase.Equal(c, "the mention", storecase.InboxPlaces(c, "bob", storage.InboxFilter{Kind: shoal.WaitMentions}), []int64{5, 6})
		unread(1, 100)
		unread(1, 100)
		storecase.Equal(c, "from 1 on, twice", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{5, 6, 7})
		acknowledge(c, "bob", 7)
		unread(1, 1)
		storecase.Equal(c, "the newest one", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{8})
		c.Say("shop", "ann", "6")
		storecase.Equal(c, "and a message", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{8, 9})
	},

	"a space of one has no receivers": func(c *storecase.Case) {
		c.AddEntities("ann")
		c.AddSpace("shop", "ann")
		m := c.NewMessage("shop", "ann", "hi")
		m.Seq = 1
		storecase.Equal(c, "the receivers", deliverNew(c, m, "ann"), storage.Delivered{Place: 1})
	},

	"an entry has its reason, message and space": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann", "bob", "cid")
		var many []shoal.EntityID // as many as a message may mention
		for i := range 99 {
			many = append(many, shoal.EntityID(fmt.Sprintf("x%d", i)))
		}
		posted := []shoal.Message{
			c.Say("shop", "ann", "plain"),
			c.Say("shop", "ann", "mention", "bob"),
			c.Say("shop", shoal.System, "system"),
			c.Say("shop", shoal.System, "system and mention", "bob"),
			c.Say("shop", "ann", "another is mentioned", "cid", "ann"),
			c.Say("shop", "ann", "one of many", append(many, "bob")...),
		}
		reasons := []shoal.Reason{
			shoal.ReasonMessage, shoal.ReasonMention, shoal.ReasonSystem, shoal.ReasonSystem, shoal.ReasonMessage, shoal.ReasonMention,
		}
		var want []storage.InboxEntry
		for i, m := range posted {
			want = append(want, storage.InboxEntry{
				Place: int64(i + 1), Reason: reasons[i], Space: shoal.SpaceRef{ID: "shop", Name: "The shop", Status: shoal.SpaceStatusOpen}, Message: m, EventPosition: int64(i + 1),
			})
		}
		storecase.Equal(c, "the inbox", storecase.Read(c, func(tx storage.Tx) ([]storage.InboxEntry, error) {
			return tx.Unread(c.Session, "bob", storage.InboxFilter{}, 100)
		}), want)
		storecase.Equal(c, "the first two", storecase.Read(c, func(tx storage.Tx) ([]storage.InboxEntry, error) {
			return tx.Unread(c.Session, "bob", storage.InboxFilter{}, 2)
		}), want[:2])
		storecase.Equal(c, "what the sender has of the system", storecase.InboxPlaces(c, "ann", storage.InboxFilter{}), []int64{3})
	},

	"filters": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann", "bob", "cid")
		c.AddSpace("yard", "ann", "bob", "cid")
		c.Say("shop", "ann", "1")
		c.Say("yard", "ann", "2", "bob")
		c.Say("shop", "cid", "3", "bob")
		c.Say("yard", "cid", "4")
		c.Say("shop", shoal.System, "5")
		mentions, messages := shoal.WaitMentions, shoal.WaitMessages
		for _, f := range []struct {
			filter storage.InboxFilter
			want   []int64
		}{
			{storage.InboxFilter{Kind: messages}, []int64{1, 2, 3, 4, 5}},
			{storage.InboxFilter{Kind: mentions}, []int64{2, 3, 5}},
			{storage.InboxFilter{Kind: messages, Space: "yard"}, []int64{2, 4}},
			{storage.InboxFilter{Kind: mentions, Space: "shop"}, []int64{3, 5}},
			{storage.InboxFilter{Kind: messages, From: []shoal.EntityID{"ann"}}, []int64{1, 2, 5}},
			{storage.InboxFilter{Kind: messages, From: []shoal.EntityID{"nobody"}}, []int64{5}},
			{storage.InboxFilter{Kind: messages, From: []shoal.EntityID{"ann", "x", "cid"}}, []int64{1, 2, 3, 4, 5}},
			{storage.InboxFilter{Kind: mentions, Space: "yard", From: []shoal.EntityID{"ann", "cid"}}, []int64{2}},
			{storage.InboxFilter{Kind: mentions, Space: "nowhere"}, nil},
		} {
			storecase.Equal(c, fmt.Sprintf("what matches %+v", f.filter), storecase.InboxPlaces(c, "bob", f.filter), f.want)
			// Acknowledging takes exactly the same entries.
			refuseAfter(c, func(tx storage.Tx) error {
				if err := tx.MarkDelivered(c.Session, "bob", storecase.DeliveredNow(1, 2, 3, 4, 5)); err != nil {
					return err
				}
				if _, err := tx.Acknowledge(c.Session, "bob", f.filter, 5, nil); err != nil {
					return err
				}
				left, err := tx.Unread(c.Session, "bob", storage.InboxFilter{}, 10)
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
				return storecase.ErrCaller
			})
		}
	},

	"acknowledging removes the entries up to a position, delivered or not, and never restores any": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		for range 6 {
			c.Say("shop", "ann", "x")
		}
		deliver(c, 1, 2, 4, 5, 77)
		deliver(c, 2)
		entries := storecase.Read(c, func(tx storage.Tx) ([]storage.InboxEntry, error) {
			return tx.Unread(c.Session, "bob", storage.InboxFilter{}, 10)
		})
		var deliveries []int
		for _, e := range entries {
			deliveries = append(deliveries, e.Delivery)
		}
		storecase.Equal(c, "the deliveries", deliveries, []int{1, 2, 0, 1, 1, 0})
		acknowledge(c, "bob", 4)
		storecase.Equal(c, "what is left", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{5, 6})
		acknowledge(c, "bob", 1)
		acknowledge(c, "nobody", 9)
		storecase.Equal(c, "what is left", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{5, 6})
		acknowledge(c, "bob", 5)
		storecase.Equal(c, "what is left", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{6})
		c.Say("shop", "ann", "y")
		storecase.Equal(c, "places go on", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{6, 7})
	},

	"reading a space acknowledges it up to a seq, delivered or not": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		c.AddSpace("yard", "ann", "bob")
		for range 3 {
			c.Say("shop", "ann", "x")
			c.Say("yard", "ann", "x")
		}
		deliver(c, 1)
		c.Update(func(tx storage.Tx) error { return tx.AcknowledgeSpace(c.Session, "shop", "bob", 2) })
		storecase.Equal(c, "what is left", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{2, 4, 5, 6})
	},

	"the end of an inbox outlives its entries": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		end := func() int64 {
			return storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.InboxEnd(c.Session) })
		}
		storecase.Equal(c, "the end at first", end(), 0)
		c.Say("shop", "ann", "x")
		c.Say("shop", "ann", "x")
		c.Update(func(tx storage.Tx) error { return tx.AcknowledgeSpace(c.Session, "shop", "bob", 9) })
		storecase.Equal(c, "the end when all is read", end(), 2)
	},

	"counts": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		spaces := []shoal.SpaceID{"shop", "yard", "nowhere"}
		c.AddSpace("shop", "ann", "bob")
		c.AddSpace("yard", "ann", "bob")
		c.AddSpace("other", "ann", "bob")
		c.Say("shop", "ann", "x")
		c.Say("shop", "ann", "x", "bob")
		c.Say("shop", shoal.System, "x")
		c.Say("other", "ann", "x", "bob")
		for i := range 150 {
			spaces = append(spaces, shoal.SpaceID(fmt.Sprintf("none%d", i)))
		}
		counts := storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID]storage.Unread, error) {
			return tx.Counts(c.Session, "bob", spaces)
		})
		storecase.Equal(c, "the shop", counts["shop"], storage.Unread{Messages: 3, Mentions: 1, First: 1})
		storecase.Equal(c, "the yard", counts["yard"], storage.Unread{})
		storecase.Equal(c, "a space that was not asked for", counts["other"], storage.Unread{})

		first := func() storage.Unread {
			return storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID]storage.Unread, error) {
				return tx.Counts(c.Session, "bob", []shoal.SpaceID{"shop"})
			})["shop"]
		}
		c.Update(func(tx storage.Tx) error { return tx.AcknowledgeSpace(c.Session, "shop", "bob", 2) })
		storecase.Equal(c, "after two were read", first(), storage.Unread{Messages: 1, First: 3})
		c.Update(func(tx storage.Tx) error { return tx.MarkUnread(c.Session, "shop", "bob", 2, 9) })
		storecase.Equal(c, "after one was marked unread, at a later position of the inbox", first(), storage.Unread{Messages: 2, Mentions: 1, First: 2})
	},

	"a key acknowledges explicitly permanently": func(c *storecase.Case) {
		explicit := func(entity shoal.EntityID, key shoal.KeyID) bool {
			return storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.Explicit(c.Session, entity, key) })
		}
		storecase.Equal(c, "at first", explicit("bob", "k1"), false)
		for range 2 {
			c.Update(func(tx storage.Tx) error { return tx.SetExplicit(c.Session, "bob", "k1") })
		}
		storecase.Equal(c, "then", explicit("bob", "k1"), true)
		storecase.Equal(c, "another key", explicit("bob", "k2"), false)
		storecase.Equal(c, "another entity", explicit("ann", "k1"), false)
	},
}

// refuseAfter runs fn, which checks something and then returns ErrCaller, so that its changes
// are rolled back.
func refuseAfter(c *storecase.Case, fn func(storage.Tx) error) {
	c.Helper()
	if err := c.Store.Update(c.Context(), storage.Global, fn); err != storecase.ErrCaller { //nolint:errorlint // the very error is promised
		c.Errorf("got %v", err)
	}
}
