package coretest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var entityTests = map[string]func(*storecase.Case){
	"all fields are read as they were stored": func(c *storecase.Case) {
		full := shoal.Entity{
			SessionID: c.Session, ID: "ann", Kind: shoal.Human, Name: "Ann Ω", Description: "likes\r\ntea", ExternalID: storecase.Ptr("idp|1"),
			SessionRole: shoal.SessionOwner, OwnerID: storecase.Ptr(shoal.EntityID("boss")),
			LastSeenAt: storecase.Ptr(storecase.Time(3)), Metadata: []byte(`{"b": 1,  "a":[ ]}`), CreatedAt: storecase.Time(4),
		}
		empty := shoal.Entity{SessionID: c.Session, ID: "bot", Kind: shoal.Agent, CreatedAt: storecase.Time(0)}
		c.Update(func(tx storage.Tx) error {
			if err := tx.InsertEntity(full); err != nil {
				return err
			}
			return tx.InsertEntity(empty)
		})
		empty.Metadata, empty.SessionRole = []byte(`{}`), shoal.SessionMember
		storecase.Equal(c, "the full one", storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "ann") }), full)
		storecase.Equal(c, "the empty one", storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "bot") }), empty)
	},

	"the last failure is stored and removed": func(c *storecase.Case) {
		c.AddEntities("bot")
		last := func() *shoal.Failure {
			return storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "bot") }).LastFailure
		}
		f := shoal.Failure{Code: "timeout", Message: storecase.Hostile, RunID: "run_1", At: storecase.Time(3000), MessageID: "msg_1"}
		c.Update(func(tx storage.Tx) error { return tx.SetLastFailure(c.Session, "bot", &f) })
		storecase.Equal(c, "the failure", last(), &f)
		c.Update(func(tx storage.Tx) error { return tx.SetLastFailure(c.Session, "bot", nil) })
		storecase.Equal(c, "the failure afterwards", last(), (*shoal.Failure)(nil))
	},

	"the proof of a wake-up is stored and replaced": func(c *storecase.Case) {
		c.AddEntities("bot")
		for _, p := range []shoal.WakeProof{
			{At: storecase.Time(3000), Answered: true, Ms: 340, Steps: []shoal.WakeStep{{Step: "delivered", Ms: 2}, {Step: "answered", Ms: 340}}},
			{At: storecase.Time(4000), Ms: 60000, Steps: []shoal.WakeStep{}},
		} {
			c.Update(func(tx storage.Tx) error { return tx.SetWakeProof(c.Session, "bot", p) })
			got := storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "bot") })
			storecase.Equal(c, "the proof", got.WakeProof, &p)
		}
	},

	"a change stores kind, role, owner, name, description, external id and metadata": func(c *storecase.Case) {
		c.AddEntities("ann")
		e := storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "ann") })
		e.Name, e.Description, e.ExternalID, e.Metadata = "Anna", "new", storecase.Ptr("idp|2"), []byte(`{"x":true}`)
		e.Kind, e.SessionRole, e.OwnerID = shoal.Human, shoal.SessionGuest, storecase.Ptr(shoal.EntityID("bob"))
		c.Update(func(tx storage.Tx) error { return tx.UpdateEntity(e) })
		storecase.Equal(c, "the entity", storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "ann") }), e)
		e.ExternalID = nil
		c.Update(func(tx storage.Tx) error { return tx.UpdateEntity(e) })
		storecase.Equal(c, "without external id", storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "ann") }), e)
	},

	"ids and external ids are unique": func(c *storecase.Case) {
		entity := func(id shoal.EntityID, external string) shoal.Entity {
			return shoal.Entity{SessionID: c.Session, ID: id, Kind: shoal.Agent, ExternalID: &external}
		}
		c.Update(func(tx storage.Tx) error { return tx.InsertEntity(entity("ann", "x1")) })
		c.Update(func(tx storage.Tx) error { return tx.InsertEntity(entity("bob", "x2")) })
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertEntity(entity("ann", "x3")) })
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertEntity(entity("cid", "x1")) })
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.UpdateEntity(entity("bob", "x1")) })
		c.Update(func(tx storage.Tx) error { return tx.UpdateEntity(entity("bob", "x2")) })

		elsewhere := storecase.New(c.T, c.Store)
		elsewhere.Update(func(tx storage.Tx) error {
			e := entity("ann", "x1")
			e.SessionID = elsewhere.Session
			return tx.InsertEntity(e)
		})
	},

	"lists are in the byte order of ids": func(c *storecase.Case) {
		for _, id := range slices.Backward(storecase.TrickyIDs) {
			c.AddEntities(shoal.EntityID(id))
		}
		var got []string
		for after := shoal.EntityID(""); ; {
			page := storecase.Read(c, func(tx storage.Tx) ([]shoal.Entity, error) { return tx.Entities(c.Session, after, 4) })
			for _, e := range page {
				got = append(got, string(e.ID))
				after = e.ID
			}
			if len(page) < 4 {
				break
			}
		}
		storecase.Equal(c, "the list", got, storecase.TrickyIDs)
		storecase.Equal(c, "a list of nothing", storecase.Read(c, func(tx storage.Tx) ([]shoal.Entity, error) { return tx.Entities(c.Session, "zz", 4) }), []shoal.Entity{})
	},

	"a deleted entity is not found, but its id, name and messages remain": func(c *storecase.Case) {
		c.Update(func(tx storage.Tx) error {
			return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "bob", Kind: shoal.Agent, Name: "Bob", ExternalID: storecase.Ptr("x1")})
		})
		c.AddEntities("ann")
		c.AddSpace("shop", "ann", "bob")
		mine := c.Say("shop", "bob", "I was here")
		c.Say("shop", "ann", "hello", "bob")
		c.Update(func(tx storage.Tx) error { return tx.SetExplicit(c.Session, "bob", "key1") })
		c.Update(func(tx storage.Tx) error { return tx.DeleteEntity(c.Session, "bob", storecase.Time(5)) })

		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Entity(c.Session, "bob"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.UpdateEntity(shoal.Entity{SessionID: c.Session, ID: "bob"}) })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteEntity(c.Session, "bob", storecase.Time(6)) })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error {
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "bob", JoinedAt: storecase.Time(6)})
		})
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "bob"}) })
		storecase.Equal(c, "the members", memberIDs(c, "shop"), []shoal.EntityID{"ann"})
		storecase.Equal(c, "its inbox", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), nil)
		storecase.Equal(c, "its way to acknowledge", storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.Explicit(c.Session, "bob", "key1") }), false)
		storecase.Equal(c, "its message", storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.Session, "shop", storage.Page{Before: 2, Limit: 1})
		}), []shoal.Message{mine})
		c.Update(func(tx storage.Tx) error { // nobody has its external id any more
			return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "cid", Kind: shoal.Agent, ExternalID: storecase.Ptr("x1")})
		})
		names := storecase.Read(c, func(tx storage.Tx) (map[shoal.EntityID]string, error) {
			return tx.EntityNames(c.Session, []shoal.EntityID{"ann", "bob", "nobody", "ann"})
		})
		storecase.Equal(c, "the names", names, map[shoal.EntityID]string{"ann": "ANN", "bob": "Bob"})
	},

	"the names of humans, without agents and deleted entities": func(c *storecase.Case) {
		c.Update(func(tx storage.Tx) error {
			return errors.Join(
				tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "p1", Kind: shoal.Human, Name: "Ann"}),
				tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "p2", Kind: shoal.Human, Name: "Eve"}),
				tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "p3", Kind: shoal.Agent, Name: "Bot"}),
				tx.DeleteEntity(c.Session, "p2", storecase.Time(1)),
			)
		})
		names := storecase.Read(c, func(tx storage.Tx) (map[shoal.EntityID]string, error) { return tx.HumanNames(c.Session) })
		storecase.Equal(c, "the names", names, map[shoal.EntityID]string{"p1": "Ann"})
	},

	"names of many entities at once": func(c *storecase.Case) {
		var ids []shoal.EntityID
		want := map[shoal.EntityID]string{}
		for i := range 300 {
			id := shoal.EntityID(fmt.Sprintf("e%d", i))
			ids = append(ids, id)
			want[id] = fmt.Sprintf("E%d", i)
		}
		c.AddEntities(ids...)
		storecase.Equal(c, "the names", storecase.Read(c, func(tx storage.Tx) (map[shoal.EntityID]string, error) { return tx.EntityNames(c.Session, ids) }), want)
		none := storecase.Read(c, func(tx storage.Tx) (map[shoal.EntityID]string, error) { return tx.EntityNames(c.Session, nil) })
		storecase.Equal(c, "the names of nobody", none, map[shoal.EntityID]string{})
	},

	"sightings are stored, and unknown entities ignored": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.Update(func(tx storage.Tx) error {
			return tx.SetLastSeen([]storage.LastSeen{
				{Session: c.Session, Entity: "ann", At: storecase.Time(1)},
				{Session: c.Session, Entity: "nobody", At: storecase.Time(2)},
				{Session: c.Session, Entity: "bob", At: storecase.Time(3)},
			})
		})
		e := storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "bob") })
		storecase.Equal(c, "when bob was seen", e.LastSeenAt, storecase.Ptr(storecase.Time(3)))
	},
}
