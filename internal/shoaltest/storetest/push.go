package storetest

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// subscription returns one of an entity, made by a key, that expires at 9.
func subscription(c *storecase.Case, name string, entity shoal.EntityID, key shoal.KeyID) storage.Push {
	at := name + "-" + string(c.Session)
	s := storage.Push{
		Session: c.Session, Entity: entity, Key: key, Place: 3, OpenedAt: storecase.Time(2),
		Target: storage.PushTarget{Endpoint: "https://push.example/" + at, P256dh: "a key", Auth: "a secret"},
	}
	s.ID, s.Device, s.CreatedAt, s.ExpiresAt = storage.PushID(at), storecase.Hostile, storecase.Time(1), storecase.Time(9)
	return s
}

var pushTests = map[string]func(*storecase.Case){
	"a subscription is that of its endpoint, until it expires": func(c *storecase.Case) {
		s := subscription(c, "one", "ann", "key")
		c.Update(func(tx storage.Tx) error { return tx.SavePush(s) })
		at := func(t int) []storage.Push {
			return storecase.Read(c, func(tx storage.Tx) ([]storage.Push, error) { return tx.Pushes(c.Session, "ann", storecase.Time(t)) })
		}
		storecase.Equal(c, "stored", at(8), []storage.Push{s})
		storecase.Equal(c, "expired", len(at(9)), 0)
		s.ID, s.Place, s.ExpiresAt = "two-"+s.ID, 5, storecase.Time(20)
		c.Update(func(tx storage.Tx) error { return tx.SavePush(s) })
		storecase.Equal(c, "replaced", at(8), []storage.Push{s})
		sent := storecase.Time(7)
		c.Update(func(tx storage.Tx) error { return tx.MovePush(s.ID, 6, storecase.Time(5), &sent) })
		c.Update(func(tx storage.Tx) error { return tx.MovePush(s.ID, 8, storecase.Time(6), nil) })
		s.Place, s.OpenedAt, s.LastSentAt = 8, storecase.Time(6), &sent
		storecase.Equal(c, "moved", storecase.Read(c, func(tx storage.Tx) (storage.Push, error) { return tx.PushAt(s.Target.Endpoint) }), s)
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeletePush(c.Session, "bob", s.ID) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteExpiredPushes(storecase.Time(19)) })
		c.Update(func(tx storage.Tx) error { return tx.DeletePush(c.Session, "", s.ID) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.PushAt(s.Target.Endpoint); return err })
	},

	"subscriptions end with keys, sign-ins and entities": func(c *storecase.Case) {
		id := func(name string) shoal.KeyID { return shoal.KeyID(name + "-" + string(c.Session)) }
		c.Update(func(tx storage.Tx) (err error) {
			for _, name := range []string{"root", "browser", "other"} {
				key := shoal.Key{ID: id(name), Role: shoal.RoleEntity, SessionID: &c.Session, EntityID: storecase.Ptr(shoal.EntityID("ann")), CreatedAt: storecase.Time(1)}
				if name == "root" {
					err = errors.Join(err, tx.InsertKey(key, string(key.ID)))
				} else {
					err = errors.Join(err, tx.InsertSignIn(key, string(key.ID), id("root")))
				}
				err = errors.Join(err, tx.SavePush(subscription(c, name, "ann", key.ID)))
			}
			return errors.Join(err, tx.SavePush(subscription(c, "bob", "bob", "none")))
		})
		left := func() (n int) {
			for _, e := range []shoal.EntityID{"ann", "bob"} {
				n += len(storecase.Read(c, func(tx storage.Tx) ([]storage.Push, error) { return tx.Pushes(c.Session, e, storecase.Time(2)) }))
			}
			return n
		}
		storecase.Equal(c, "at first", left(), 4)
		c.Update(func(tx storage.Tx) error { return tx.DeleteKey("", id("browser")) })
		storecase.Equal(c, "signed out", left(), 3)
		c.Update(func(tx storage.Tx) error { return tx.DeletePushesBy(id("root")) })
		storecase.Equal(c, "signed out everywhere", left(), 2)
		c.Update(func(tx storage.Tx) error { return tx.SavePush(subscription(c, "again", "ann", id("other"))) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteKey("", id("root")) })
		storecase.Equal(c, "the key is revoked", left(), 1)
		c.Update(func(tx storage.Tx) error { return tx.DeleteEntityKeys(c.Session, "bob") })
		storecase.Equal(c, "the entity is deleted", left(), 0)
	},

	"what an entity has not seen makes its subscription due": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		due := func(at int) (ids []storage.PushID) {
			for _, s := range storecase.Read(c, func(tx storage.Tx) ([]storage.Push, error) {
				return tx.PushDue(storecase.Time(at), storecase.Time(3), 100)
			}) {
				if s.Session == c.Session {
					ids = append(ids, s.ID)
				}
			}
			return ids
		}
		s := subscription(c, "one", "bob", "key")
		s.Place = 0
		c.Update(func(tx storage.Tx) error { return tx.SavePush(s) })
		c.Say("shop", "ann", "to nobody")
		storecase.Equal(c, "no mention", len(due(3)), 0)
		c.Say("shop", "ann", "to bob", "bob")
		storecase.Equal(c, "a mention", due(3), []storage.PushID{s.ID})
		storecase.Equal(c, "expired", len(due(9)), 0)
		c.Update(func(tx storage.Tx) error { return tx.MovePush(s.ID, 2, storecase.Time(2), nil) })
		storecase.Equal(c, "notified", len(due(3)), 0)
	},

	"one server holds the right to send, and all have one key": func(c *storecase.Case) {
		hold := func(who string, now, until int) (held bool) {
			c.Update(func(tx storage.Tx) (err error) {
				held, err = tx.HoldPush(who, storecase.Time(now), storecase.Time(until))
				return err
			})
			return held
		}
		for i, step := range []struct {
			who        string
			now, until int
			want       bool
		}{{"one", 1, 5, true}, {"two", 4, 9, false}, {"one", 4, 8, true}, {"two", 8, 9, true}, {"one", 8, 9, false}} {
			if got := hold(step.who, step.now, step.until); got != step.want {
				c.Errorf("step %d: %s holds it: %v", i, step.who, got)
			}
		}
		key := func(candidate string) (key string) {
			c.Update(func(tx storage.Tx) (err error) { key, err = tx.PushKey(candidate); return err })
			return key
		}
		storecase.Equal(c, "before", key(""), "")
		storecase.Equal(c, "the first", key("first"), "first")
		storecase.Equal(c, "of another server", key("second"), "first")
		storecase.Equal(c, "read", key(""), "first")
	},
}
