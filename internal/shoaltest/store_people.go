package shoaltest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// ref returns a pointer to v, as optional fields want it.
func ref[T any](v T) *T { return &v }

// trickyIDs are in the order of their bytes, which differs from a linguistic order.
var trickyIDs = []string{"-", ".x", "0", "10", "9", "A", "B", "Z", "_", "a", "a-b", "a.b", "aB", "a_b", "ab", "b", "z"}

var sessionTests = map[string]func(*storeCase){
	"it comes back as it was stored": func(c *storeCase) {
		s := shoal.Session{ID: c.session + "x", Name: "Läden & mehr", Status: shoal.SessionOpen, CreatedAt: storeTime(7), Limits: shoal.Limits{MaxCostPerRequest: 0.1, MaxTokensPerRequest: 1 << 39}, SpaceRights: shoal.SpaceRightsModerators}
		c.update(func(tx hub.Tx) error { return tx.InsertSession(s) })
		same(c, "the session", seen(c, func(tx hub.Tx) (shoal.Session, error) { return tx.Session(s.ID) }), s)
		s.Limits, s.SpaceRights = shoal.Limits{MaxCostPerRequest: 1e6}, shoal.SpaceRightsMembers
		c.update(func(tx hub.Tx) error { return tx.UpdateSession(s) })
		same(c, "the session with other limits and rights", seen(c, func(tx hub.Tx) (shoal.Session, error) { return tx.Session(s.ID) }), s)
		c.update(func(tx hub.Tx) error { return tx.CloseSession(s.ID, storeTime(9)) })
		s.Status, s.ClosedAt = shoal.SessionShut, ref(storeTime(9))
		same(c, "the closed session", seen(c, func(tx hub.Tx) (shoal.Session, error) { return tx.Session(s.ID) }), s)
	},

	"they are listed in the order of the bytes of their ids, page by page": func(c *storeCase) {
		var want []string
		for _, id := range trickyIDs {
			id = string(c.session) + id
			want = append(want, id)
			c.update(func(tx hub.Tx) error {
				return tx.InsertSession(shoal.Session{ID: shoal.SessionID(id), Status: shoal.SessionOpen})
			})
		}
		var got []string
		for after := c.session; ; {
			page := seen(c, func(tx hub.Tx) ([]shoal.Session, error) { return tx.Sessions(after, 5) })
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
		same(c, "the list", got[:min(len(want), len(got))], want)
	},

	"a missing one is NotFound": func(c *storeCase) {
		c.absent(func(tx hub.Tx) error { _, err := tx.Session("nowhere"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.CloseSession("nowhere", storeTime(0)) })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.UpdateSession(shoal.Session{ID: "nowhere"}) })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteSession("nowhere") })
	},

	"deleting erases all of it and nothing else, and its id stays taken": func(c *storeCase) {
		other := newStoreCase(c.T, c.store)
		for _, s := range []*storeCase{c, other} {
			s.entities("ann", "bob")
			s.space("shop", "ann", "bob")
			s.say("shop", "ann", "hello", "bob")
			s.say("shop", "ann", "hello again", "bob")
			s.update(func(tx hub.Tx) error {
				if err := tx.TrimEvents(s.session, "shop", 1); err != nil {
					return err
				}
				key := shoal.Key{ID: shoal.KeyID("key-" + s.session), Role: shoal.RoleEntity, SessionID: &s.session, EntityID: ref(shoal.EntityID("bob"))}
				if err := tx.InsertKey(key, "hash-"+string(s.session)); err != nil {
					return err
				}
				if err := tx.SetExplicit(s.session, "bob", key.ID); err != nil {
					return err
				}
				return tx.InsertAnswer(hub.AnswerKey{Session: s.session, Key: "k"}, hub.Answer{Hash: "h", Body: []byte("{}")})
			})
		}
		c.update(func(tx hub.Tx) error { return tx.DeleteSession(c.session) })
		same(c, "what is left of the deleted session", contents(c), sessionContents{})
		same(c, "what is left of the other one", contents(other), sessionContents{
			Session: true, Entities: 2, Names: 1, Spaces: 1, Members: 2, Messages: 2, Unread: 2, InboxEnd: 2, Found: 2, EventEnd: 2, Floor: 1,
			Key: true, Explicit: true, Answer: true,
		})
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error {
			return tx.InsertSession(shoal.Session{ID: c.session, Status: shoal.SessionOpen})
		})
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteSession(c.session) })
		page := seen(c, func(tx hub.Tx) ([]shoal.Session, error) { return tx.Sessions("", 1000) })
		if slices.ContainsFunc(page, func(s shoal.Session) bool { return s.ID == c.session }) {
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

func contents(c *storeCase) (n sessionContents) {
	c.Helper()
	seen(c, func(tx hub.Tx) (struct{}, error) {
		_, err := tx.Session(c.session)
		n.Session = err == nil
		_, err = tx.KeyByHash("hash-" + string(c.session))
		n.Key = err == nil
		_, err = tx.Answer(hub.AnswerKey{Session: c.session, Key: "k"})
		n.Answer = err == nil
		var failed [11]error
		var entities []shoal.Entity
		var names map[shoal.EntityID]string
		var spaces []shoal.Space
		var members []shoal.Member
		var messages []shoal.Message
		var found hub.SearchResult
		var unread []hub.InboxEntry
		n.Explicit, failed[0] = tx.Explicit(c.session, "bob", shoal.KeyID("key-"+c.session))
		entities, failed[1] = tx.Entities(c.session, "", 100)
		names, failed[2] = tx.EntityNames(c.session, []shoal.EntityID{"ann"})
		spaces, failed[3] = tx.Spaces(c.session, hub.SpaceFilter{})
		members, failed[4] = tx.Members(c.session, "shop")
		messages, failed[5] = tx.Messages(c.session, "shop", hub.Page{Limit: 10})
		found, failed[6] = tx.Search(c.session, hub.SearchQuery{Query: Words("hello"), Limit: 10})
		unread, failed[7] = tx.Unread(c.session, "bob", hub.InboxFilter{}, 10)
		n.InboxEnd, failed[8] = tx.InboxEnd(c.session, "bob")
		n.EventEnd, failed[9] = tx.EventEnd(c.session)
		n.Floor, failed[10] = tx.EventFloor(c.session, hub.EventFilter{})
		n.Entities, n.Names, n.Spaces, n.Members = len(entities), len(names), len(spaces), len(members)
		n.Messages, n.Found, n.Unread = len(messages), len(found.Found), len(unread)
		return struct{}{}, errors.Join(failed[:]...)
	})
	return n
}

var entityTests = map[string]func(*storeCase){
	"it comes back as it was stored": func(c *storeCase) {
		full := shoal.Entity{
			SessionID: c.session, ID: "ann", Kind: shoal.Human, Name: "Ann Ω", Description: "likes\r\ntea", ExternalID: ref("idp|1"),
			SessionRole: shoal.SessionOwner, OwnerID: ref(shoal.EntityID("boss")),
			LastSeenAt: ref(storeTime(3)), Metadata: []byte(`{"b": 1,  "a":[ ]}`), CreatedAt: storeTime(4),
		}
		empty := shoal.Entity{SessionID: c.session, ID: "bot", Kind: shoal.Agent, CreatedAt: storeTime(0)}
		c.update(func(tx hub.Tx) error {
			if err := tx.InsertEntity(full); err != nil {
				return err
			}
			return tx.InsertEntity(empty)
		})
		empty.Metadata, empty.SessionRole = []byte(`{}`), shoal.SessionMember
		same(c, "the full one", seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "ann") }), full)
		same(c, "the empty one", seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "bot") }), empty)
	},

	"the last failure is stored, and forgotten": func(c *storeCase) {
		c.entities("bot")
		last := func() *shoal.Failure {
			return seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "bot") }).LastFailure
		}
		f := shoal.Failure{Code: "timeout", Message: hostile, RunID: "run_1", At: storeTime(3000), MessageID: "msg_1"}
		c.update(func(tx hub.Tx) error { return tx.SetLastFailure(c.session, "bot", &f) })
		same(c, "the failure", last(), &f)
		c.update(func(tx hub.Tx) error { return tx.SetLastFailure(c.session, "bot", nil) })
		same(c, "the failure afterwards", last(), (*shoal.Failure)(nil))
	},

	"a change stores kind, role, owner, name, description, external id and metadata": func(c *storeCase) {
		c.entities("ann")
		e := seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "ann") })
		e.Name, e.Description, e.ExternalID, e.Metadata = "Anna", "new", ref("idp|2"), []byte(`{"x":true}`)
		e.Kind, e.SessionRole, e.OwnerID = shoal.Human, shoal.SessionGuest, ref(shoal.EntityID("bob"))
		c.update(func(tx hub.Tx) error { return tx.UpdateEntity(e) })
		same(c, "the entity", seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "ann") }), e)
		e.ExternalID = nil
		c.update(func(tx hub.Tx) error { return tx.UpdateEntity(e) })
		same(c, "without external id", seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "ann") }), e)
	},

	"ids and external ids belong to one": func(c *storeCase) {
		entity := func(id shoal.EntityID, external string) shoal.Entity {
			return shoal.Entity{SessionID: c.session, ID: id, Kind: shoal.Agent, ExternalID: &external}
		}
		c.update(func(tx hub.Tx) error { return tx.InsertEntity(entity("ann", "x1")) })
		c.update(func(tx hub.Tx) error { return tx.InsertEntity(entity("bob", "x2")) })
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertEntity(entity("ann", "x3")) })
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertEntity(entity("cid", "x1")) })
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.UpdateEntity(entity("bob", "x1")) })
		c.update(func(tx hub.Tx) error { return tx.UpdateEntity(entity("bob", "x2")) })

		elsewhere := newStoreCase(c.T, c.store)
		elsewhere.update(func(tx hub.Tx) error {
			e := entity("ann", "x1")
			e.SessionID = elsewhere.session
			return tx.InsertEntity(e)
		})
	},

	"they are listed in the order of the bytes of their ids": func(c *storeCase) {
		for _, id := range slices.Backward(trickyIDs) {
			c.entities(shoal.EntityID(id))
		}
		var got []string
		for after := shoal.EntityID(""); ; {
			page := seen(c, func(tx hub.Tx) ([]shoal.Entity, error) { return tx.Entities(c.session, after, 4) })
			for _, e := range page {
				got = append(got, string(e.ID))
				after = e.ID
			}
			if len(page) < 4 {
				break
			}
		}
		same(c, "the list", got, trickyIDs)
		same(c, "a list of nothing", seen(c, func(tx hub.Tx) ([]shoal.Entity, error) { return tx.Entities(c.session, "zz", 4) }), []shoal.Entity{})
	},

	"a deleted one is gone, but its id, its name and its messages stay": func(c *storeCase) {
		c.update(func(tx hub.Tx) error {
			return tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "bob", Kind: shoal.Agent, Name: "Bob", ExternalID: ref("x1")})
		})
		c.entities("ann")
		c.space("shop", "ann", "bob")
		mine := c.say("shop", "bob", "I was here")
		c.say("shop", "ann", "hello", "bob")
		c.update(func(tx hub.Tx) error { return tx.SetExplicit(c.session, "bob", "key1") })
		c.update(func(tx hub.Tx) error { return tx.DeleteEntity(c.session, "bob", storeTime(5)) })

		c.absent(func(tx hub.Tx) error { _, err := tx.Entity(c.session, "bob"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.UpdateEntity(shoal.Entity{SessionID: c.session, ID: "bob"}) })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteEntity(c.session, "bob", storeTime(6)) })
		c.refused(shoal.NotFound, func(tx hub.Tx) error {
			return tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "bob", JoinedAt: storeTime(6)})
		})
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "bob"}) })
		same(c, "the members", memberIDs(c, "shop"), []shoal.EntityID{"ann"})
		same(c, "its inbox", places(c, "bob", hub.InboxFilter{}), nil)
		same(c, "its way to acknowledge", seen(c, func(tx hub.Tx) (bool, error) { return tx.Explicit(c.session, "bob", "key1") }), false)
		same(c, "its message", seen(c, func(tx hub.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.session, "shop", hub.Page{Before: 2, Limit: 1})
		}), []shoal.Message{mine})
		c.update(func(tx hub.Tx) error { // nobody has its external id any more
			return tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "cid", Kind: shoal.Agent, ExternalID: ref("x1")})
		})
		names := seen(c, func(tx hub.Tx) (map[shoal.EntityID]string, error) {
			return tx.EntityNames(c.session, []shoal.EntityID{"ann", "bob", "nobody", "ann"})
		})
		same(c, "the names", names, map[shoal.EntityID]string{"ann": "ANN", "bob": "Bob"})
	},

	"the names of people, without agents and the deleted": func(c *storeCase) {
		c.update(func(tx hub.Tx) error {
			return errors.Join(
				tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "p1", Kind: shoal.Human, Name: "Ann"}),
				tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "p2", Kind: shoal.Human, Name: "Eve"}),
				tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "p3", Kind: shoal.Agent, Name: "Bot"}),
				tx.DeleteEntity(c.session, "p2", storeTime(1)),
			)
		})
		names := seen(c, func(tx hub.Tx) (map[shoal.EntityID]string, error) { return tx.HumanNames(c.session) })
		same(c, "the names", names, map[shoal.EntityID]string{"p1": "Ann"})
	},

	"names of many at once": func(c *storeCase) {
		var ids []shoal.EntityID
		want := map[shoal.EntityID]string{}
		for i := range 300 {
			id := shoal.EntityID(fmt.Sprintf("e%d", i))
			ids = append(ids, id)
			want[id] = fmt.Sprintf("E%d", i)
		}
		c.entities(ids...)
		same(c, "the names", seen(c, func(tx hub.Tx) (map[shoal.EntityID]string, error) { return tx.EntityNames(c.session, ids) }), want)
		none := seen(c, func(tx hub.Tx) (map[shoal.EntityID]string, error) { return tx.EntityNames(c.session, nil) })
		same(c, "the names of nobody", none, map[shoal.EntityID]string{})
	},

	"sightings are stored, and unknown ones passed over": func(c *storeCase) {
		c.entities("ann", "bob")
		c.update(func(tx hub.Tx) error {
			return tx.SawEntities([]hub.Sighting{
				{Session: c.session, Entity: "ann", At: storeTime(1)},
				{Session: c.session, Entity: "nobody", At: storeTime(2)},
				{Session: c.session, Entity: "bob", At: storeTime(3)},
			})
		})
		e := seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "bob") })
		same(c, "when bob was seen", e.LastSeenAt, ref(storeTime(3)))
	},
}
