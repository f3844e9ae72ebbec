package coretest

import (
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var sessionTests = map[string]func(*storecase.Case){
	"all fields are read as they were stored": func(c *storecase.Case) {
		s := shoal.Session{ID: c.Session + "x", Name: "Läden & mehr", Status: shoal.SessionStatusOpen, CreatedAt: storecase.Time(7), Limits: shoal.Limits{MaxCostPerRequest: 0.1, MaxTokensPerRequest: 1 << 39}, SpaceRights: shoal.SpaceRightsModerators, Retention: shoal.Retention{MessagesForMs: 1, RunsForMs: 2, PromptsForMs: 1 << 41}}
		c.Update(func(tx storage.Tx) error { return tx.InsertSession(s) })
		storecase.Equal(c, "the session", storecase.Read(c, func(tx storage.Tx) (shoal.Session, error) { return tx.Session(s.ID) }), s)
		s.Limits, s.SpaceRights, s.Retention = shoal.Limits{MaxCostPerRequest: 1e6}, shoal.SpaceRightsMembers, shoal.Retention{MessagesForMs: 4}
		c.Update(func(tx storage.Tx) error { return tx.UpdateSession(s) })
		storecase.Equal(c, "the session with other limits and rights", storecase.Read(c, func(tx storage.Tx) (shoal.Session, error) { return tx.Session(s.ID) }), s)
		c.Update(func(tx storage.Tx) error { return tx.CloseSession(s.ID, storecase.Time(9)) })
		s.Status, s.ClosedAt = shoal.SessionStatusClosed, storecase.Ptr(storecase.Time(9))
		storecase.Equal(c, "the closed session", storecase.Read(c, func(tx storage.Tx) (shoal.Session, error) { return tx.Session(s.ID) }), s)
	},

	"lists are in the byte order of ids, page by page": func(c *storecase.Case) {
		var want []string
		for _, id := range storecase.TrickyIDs {
			id = string(c.Session) + id
			want = append(want, id)
			c.Update(func(tx storage.Tx) error {
				return tx.InsertSession(shoal.Session{ID: shoal.SessionID(id), Status: shoal.SessionStatusOpen})
			})
		}
		var got []string
		for after := c.Session; ; {
			page := storecase.Read(c, func(tx storage.Tx) ([]shoal.Session, error) { return tx.Sessions(after, 5) })
			if len(page) > 5 {
				c.Fatalf("a page of 5 holds %d", len(page))
			}
			for _, s := range page {
				got = append(got, string(s.ID))
				after = s.ID
			}
			if len(page) == 0 {
				break
			}
		}
		storecase.Equal(c, "the list", got[:min(len(want), len(got))], want)
	},

	"a missing id is NotFound": func(c *storecase.Case) {
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Session("nowhere"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.CloseSession("nowhere", storecase.Time(0)) })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.UpdateSession(shoal.Session{ID: "nowhere"}) })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteSession("nowhere") })
	},

	"deleting a session erases all of its rows and no others, and its id cannot be used again": func(c *storecase.Case) {
		other := storecase.New(c.T, c.Store)
		for _, s := range []*storecase.Case{c, other} {
			s.AddEntities("ann", "bob")
			s.AddSpace("shop", "ann", "bob")
			s.Say("shop", "ann", "hello", "bob")
			s.Say("shop", "ann", "hello again", "bob")
			s.Update(func(tx storage.Tx) error {
				if err := tx.TrimEvents(s.Session, "shop", 1); err != nil {
					return err
				}
				key := shoal.Key{ID: shoal.KeyID("key-" + s.Session), Role: shoal.RoleEntity, SessionID: &s.Session, EntityID: storecase.Ptr(shoal.EntityID("bob"))}
				if err := tx.InsertKey(key, "hash-"+string(s.Session)); err != nil {
					return err
				}
				if err := tx.SetExplicit(s.Session, "bob", key.ID); err != nil {
					return err
				}
				return tx.InsertAnswer(storage.AnswerKey{Session: s.Session, Key: "k"}, storage.Answer{Hash: "h", Body: []byte("{}")})
			})
		}
		c.Update(func(tx storage.Tx) error { return tx.DeleteSession(c.Session) })
		storecase.Equal(c, "what is left of the deleted session", contents(c), sessionContents{})
		storecase.Equal(c, "what is left of the other one", contents(other), sessionContents{
			Session: true, Entities: 2, Names: 1, Spaces: 1, Members: 2, Messages: 2, Unread: 2, InboxEnd: 2, Found: 2, EventEnd: 2, Floor: 1,
			Key: true, Explicit: true, Answer: true,
		})
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error {
			return tx.InsertSession(shoal.Session{ID: c.Session, Status: shoal.SessionStatusOpen})
		})
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteSession(c.Session) })
		page := storecase.Read(c, func(tx storage.Tx) ([]shoal.Session, error) { return tx.Sessions("", 1000) })
		if slices.ContainsFunc(page, func(s shoal.Session) bool { return s.ID == c.Session }) {
			c.Error("the deleted session is listed")
		}
	},
}

// sessionContents counts the records of a session.
type sessionContents struct {
	Session, Key, Explicit, Answer                    bool
	Entities, Names, Spaces, Members, Messages, Found int
	Unread                                            int
	InboxEnd, EventEnd, Floor                         int64
}

func contents(c *storecase.Case) (n sessionContents) {
	c.Helper()
	storecase.Read(c, func(tx storage.Tx) (struct{}, error) {
		_, err := tx.Session(c.Session)
		n.Session = err == nil
		_, err = tx.KeyByHash("hash-" + string(c.Session))
		n.Key = err == nil
		_, err = tx.Answer(storage.AnswerKey{Session: c.Session, Key: "k"})
		n.Answer = err == nil
		var failed [11]error
		var entities []shoal.Entity
		var names map[shoal.EntityID]string
		var spaces []shoal.Space
		var members []shoal.Member
		var messages []shoal.Message
		var found storage.SearchResult
		var unread []storage.InboxEntry
		n.Explicit, failed[0] = tx.Explicit(c.Session, "bob", shoal.KeyID("key-"+c.Session))
		entities, failed[1] = tx.Entities(c.Session, "", 100)
		names, failed[2] = tx.EntityNames(c.Session, []shoal.EntityID{"ann"})
		spaces, failed[3] = tx.Spaces(c.Session, storage.SpaceFilter{})
		members, failed[4] = tx.Members(c.Session, "shop", "", 100)
		messages, failed[5] = tx.Messages(c.Session, "shop", storage.Page{Limit: 10})
		found, failed[6] = tx.Search(c.Session, storage.SearchQuery{Query: storecase.Query("hello"), Limit: 10})
		unread, failed[7] = tx.Unread(c.Session, "bob", storage.InboxFilter{}, 10)
		n.InboxEnd, failed[8] = tx.InboxEnd(c.Session)
		n.EventEnd, failed[9] = tx.EventEnd(c.Session)
		n.Floor, failed[10] = tx.EventFloor(c.Session, storage.EventFilter{})
		n.Entities, n.Names, n.Spaces, n.Members = len(entities), len(names), len(spaces), len(members)
		n.Messages, n.Found, n.Unread = len(messages), len(found.Found), len(unread)
		return struct{}{}, errors.Join(failed[:]...)
	})
	return n
}
