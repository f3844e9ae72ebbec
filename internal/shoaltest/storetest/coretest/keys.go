package coretest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var keyTests = map[string]func(*storecase.Case){
	"a key is read by its hash as it was stored": func(c *storecase.Case) {
		full := shoal.Key{
			ID: "k1-" + shoal.KeyID(c.Session), Role: shoal.RoleEntity, SessionID: &c.Session, EntityID: storecase.Ptr(shoal.EntityID("ann")), Name: "laptop",
			CreatedAt: storecase.Time(1), ExpiresAt: storecase.Ptr(storecase.Time(2)), LastUsedAt: storecase.Ptr(storecase.Time(3)),
			Scopes: []string{"read", "spaces:shop,hall"}, RenewForMs: storecase.Ptr(int64(3_600_000)),
		}
		admin := shoal.Key{ID: "k2-" + shoal.KeyID(c.Session), Role: shoal.RoleAdmin, CreatedAt: storecase.Time(1), Scopes: []string{}}
		hash := "h-" + string(c.Session)
		c.Update(func(tx storage.Tx) error {
			if err := tx.InsertKey(full, hash+"1"); err != nil {
				return err
			}
			return tx.InsertKey(admin, hash+"2")
		})
		byHash := func(h string) shoal.Key {
			return storecase.Read(c, func(tx storage.Tx) (shoal.Key, error) { return tx.KeyByHash(h) })
		}
		storecase.Equal(c, "the entity's key", byHash(hash+"1"), full)
		storecase.Equal(c, "the admin's key", byHash(hash+"2"), admin)
		c.Update(func(tx storage.Tx) error {
			return tx.UsedKeys(map[shoal.KeyID]storage.KeyUse{admin.ID: {At: storecase.Time(7), Address: "192.0.2.1"}, "unknown": {At: storecase.Time(8)}})
		})
		admin.LastUsedAt, admin.Address = storecase.Ptr(storecase.Time(7)), storecase.Ptr("192.0.2.1")
		storecase.Equal(c, "the used key", byHash(hash+"2"), admin)
		c.Update(func(tx storage.Tx) error {
			return tx.UsedKeys(map[shoal.KeyID]storage.KeyUse{admin.ID: {At: storecase.Time(8)}})
		})
		admin.LastUsedAt = storecase.Ptr(storecase.Time(8))
		storecase.Equal(c, "the key that was used from an unknown address", byHash(hash+"2"), admin)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertKey(full, hash+"3") })
		c.Update(func(tx storage.Tx) error {
			if err := tx.SetExplicit(c.Session, "ann", full.ID); err != nil {
				return err
			}
			return tx.DeleteKey("", full.ID)
		})
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.KeyByHash(hash + "1"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteKey("", full.ID) })
		storecase.Equal(c, "whether the deleted one was revoked", storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.RevokedKey(hash + "1") }), true)
		storecase.Equal(c, "whether the other one was", storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.RevokedKey(hash + "2") }), false)
		c.Update(func(tx storage.Tx) error {
			return errors.Join(tx.RevokeHash(c.Session, hash+"4"), tx.RevokeHash(c.Session, hash+"4"))
		})
		storecase.Equal(c, "whether a hash was that no key has", storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.RevokedKey(hash + "4") }), true)
	},

	"a key that is renewed ends so long after its last use": func(c *storecase.Case) {
		id := func(name string) shoal.KeyID { return shoal.KeyID(name + "-" + string(c.Session)) }
		hour := int64(3_600_000)
		later := func(minutes int) shoal.Time {
			return shoal.At(storecase.Time(1).Add(time.Duration(minutes) * time.Minute))
		}
		insert := func(name string, ends *shoal.Time, renew *int64) {
			c.Update(func(tx storage.Tx) error {
				return tx.InsertKey(shoal.Key{ID: id(name), Role: shoal.RoleAdmin, CreatedAt: storecase.Time(1), ExpiresAt: ends, RenewForMs: renew}, string(id(name)))
			})
		}
		insert("renewed", storecase.Ptr(later(60)), &hour)
		insert("late", storecase.Ptr(later(30)), &hour)
		insert("long", storecase.Ptr(later(600)), &hour)
		insert("fixed", storecase.Ptr(later(60)), nil)
		insert("endless", nil, nil)
		ends := func(name string) string {
			k := storecase.Read(c, func(tx storage.Tx) (shoal.Key, error) { return tx.Key(id(name)) })
			if k.ExpiresAt == nil {
				return "never"
			}
			return k.ExpiresAt.Sub(storecase.Time(1).Time).String()
		}
		use := func(at shoal.Time) {
			used := map[shoal.KeyID]storage.KeyUse{}
			for _, name := range []string{"renewed", "late", "long", "fixed", "endless"} {
				used[id(name)] = storage.KeyUse{At: at}
			}
			c.Update(func(tx storage.Tx) error { return tx.UsedKeys(used) })
		}
		use(later(40))
		for name, want := range map[string]string{"renewed": "1h40m0s", "late": "30m0s", "long": "10h0m0s", "fixed": "1h0m0s", "endless": "never"} {
			storecase.Equal(c, name, ends(name), want)
		}
		c.Update(func(tx storage.Tx) error {
			return errors.Join(tx.ReplaceKey(id("renewed"), id("fixed"), later(50)), tx.ReplaceKey(id("long"), id("fixed"), later(700)), tx.ReplaceKey(id("endless"), id("fixed"), later(50)))
		})
		use(later(45))
		for name, want := range map[string]string{"renewed": "50m0s", "long": "10h0m0s", "endless": "50m0s"} {
			storecase.Equal(c, name+", replaced", ends(name), want)
		}
		storecase.Equal(c, "what replaces it", *storecase.Read(c, func(tx storage.Tx) (shoal.Key, error) { return tx.Key(id("long")) }).ReplacedBy, id("fixed"))
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.ReplaceKey("none", id("fixed"), later(50)) })
	},

	"sign-ins are found by their key, and removed when they have ended": func(c *storecase.Case) {
		of := shoal.KeyID("of-" + c.Session)
		id := func(name string) shoal.KeyID { return shoal.KeyID(name + "-" + string(c.Session)) }
		for name, k := range map[string]shoal.Key{
			"ended":  {CreatedAt: storecase.Time(1), ExpiresAt: storecase.Ptr(storecase.Time(5)), LastUsedAt: storecase.Ptr(storecase.Time(9))},
			"unused": {CreatedAt: storecase.Time(1), ExpiresAt: storecase.Ptr(storecase.Time(9)), LastUsedAt: storecase.Ptr(storecase.Time(3))},
			"never":  {CreatedAt: storecase.Time(3), ExpiresAt: storecase.Ptr(storecase.Time(9))},
			"fresh":  {CreatedAt: storecase.Time(4), ExpiresAt: storecase.Ptr(storecase.Time(6))},
			"used":   {CreatedAt: storecase.Time(1), ExpiresAt: storecase.Ptr(storecase.Time(6)), LastUsedAt: storecase.Ptr(storecase.Time(4))},
		} {
			k.ID, k.Role, k.Name = id(name), shoal.RoleAdmin, "console"
			c.Update(func(tx storage.Tx) error { return tx.InsertSignIn(k, "hash-"+string(k.ID), of) })
		}
		plain := shoal.Key{ID: id("plain"), Role: shoal.RoleAdmin, Name: "console", Scopes: []string{}, CreatedAt: storecase.Time(1), ExpiresAt: storecase.Ptr(storecase.Time(2))}
		c.Update(func(tx storage.Tx) error { return tx.InsertKey(plain, "hash-plain-"+string(c.Session)) })
		found := func(of shoal.KeyID) []shoal.KeyID {
			ids := storecase.Read(c, func(tx storage.Tx) ([]shoal.KeyID, error) { return tx.SignIns(of) })
			slices.Sort(ids)
			return ids
		}
		storecase.Equal(c, "the sign-ins of the key", found(of), []shoal.KeyID{id("ended"), id("fresh"), id("never"), id("unused"), id("used")})
		c.Update(func(tx storage.Tx) error { return tx.SweepSignIns(storecase.Time(5), storecase.Time(3)) })
		storecase.Equal(c, "those that are left", found(of), []shoal.KeyID{id("fresh"), id("used")})
		storecase.Equal(c, "those of another key", len(found(plain.ID)), 0)
		storecase.Equal(c, "the hash of a sign-in", storecase.Read(c, func(tx storage.Tx) (string, error) { return tx.KeyHash(id("fresh")) }), "hash-"+string(id("fresh")))
		storecase.Equal(c, "the hash of a key", storecase.Read(c, func(tx storage.Tx) (string, error) { return tx.KeyHash(plain.ID) }), "hash-plain-"+string(c.Session))
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertSignIn(plain, "other", of) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteKey("", id("fresh")) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.KeyHash(id("fresh")); return err })
		storecase.Equal(c, "those that are left then", found(of), []shoal.KeyID{id("used")})
	},

	"sign-ins are listed by the entity, the session and the server": func(c *storecase.Case) {
		other := storecase.New(c.T, c.Store)
		id := func(name string) shoal.KeyID { return shoal.KeyID(string(c.Session) + "-" + name) }
		add := func(name string, session *shoal.SessionID, entity string) shoal.Key {
			k := shoal.Key{
				ID: id(name), Role: shoal.RoleAdmin, SessionID: session, Name: "console", Scopes: []string{}, CreatedAt: storecase.Time(1),
				Device: storecase.Ptr("Firefox on Linux"), Address: storecase.Ptr("192.0.2.7"),
			}
			if entity != "" {
				k.Role, k.EntityID = shoal.RoleEntity, storecase.Ptr(shoal.EntityID(entity))
			}
			c.Update(func(tx storage.Tx) error {
				if name == "2bob" { // of a command line, not of a browser
					return tx.InsertKey(k, "hash-"+string(k.ID))
				}
				return tx.InsertSignIn(k, "hash-"+string(k.ID), "")
			})
			return k
		}
		ann := add("1ann", &c.Session, "ann")
		bob := add("2bob", &c.Session, "bob")
		foreign := add("3ann", &other.Session, "ann")
		admin := add("4admin", nil, "")
		plain := shoal.Key{ID: id("5ann"), Role: shoal.RoleEntity, SessionID: &c.Session, EntityID: ann.EntityID, Scopes: []string{}, CreatedAt: storecase.Time(1)}
		c.Update(func(tx storage.Tx) error { return tx.InsertKey(plain, "hash-"+string(plain.ID)) })
		list := func(session shoal.SessionID, entity shoal.EntityID, limit int) []shoal.Key {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.Key, error) { return tx.SignInsOf(session, entity, id(""), limit) })
		}
		storecase.Equal(c, "those of an entity", list(c.Session, "ann", 9), []shoal.Key{ann})
		storecase.Equal(c, "those of a session", list(c.Session, "", 9), []shoal.Key{ann, bob})
		storecase.Equal(c, "those of the server", list("", "", 4), []shoal.Key{ann, bob, foreign, admin})
		storecase.Equal(c, "one of them", storecase.Read(c, func(tx storage.Tx) (shoal.Key, error) { return tx.SignIn(bob.ID) }), bob)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.SignIn(plain.ID); return err })
	},

	"a sign-in keeps what its provider needs when it ends": func(c *storecase.Case) {
		id := shoal.KeyID("ended-" + c.Session)
		c.Update(func(tx storage.Tx) error {
			k := shoal.Key{ID: id, Role: shoal.RoleAdmin, Name: "console", Scopes: []string{}, CreatedAt: storecase.Time(1), Device: storecase.Ptr("Safari")}
			return tx.InsertSignIn(k, "hash-"+string(id), "")
		})
		logoutToken := func(id shoal.KeyID) string {
			return storecase.Read(c, func(tx storage.Tx) (string, error) { return tx.LogoutToken(id) })
		}
		storecase.Equal(c, "the logout token of a sign-in without one", logoutToken(id), "")
		c.Update(func(tx storage.Tx) error { return tx.SaveLogoutToken(id, "sealed") })
		storecase.Equal(c, "the logout token", logoutToken(id), "sealed")
		storecase.Equal(c, "the logout token of an unknown one", logoutToken("unknown"), "")
	},

	"an entity is found by its external id": func(c *storecase.Case) {
		other := storecase.New(c.T, c.Store)
		c.Update(func(tx storage.Tx) error {
			return tx.InsertEntity(shoal.Entity{ID: "ann", SessionID: c.Session, Kind: shoal.Human, Name: "Ann", ExternalID: storecase.Ptr("https://id.example|1"), Metadata: []byte("{}"), CreatedAt: storecase.Time(1)})
		})
		find := func(tx storage.Tx, external string, of shoal.SessionID) (shoal.EntityID, error) {
			return tx.EntityByExternal(of, external)
		}
		storecase.Equal(c, "the entity", storecase.Read(c, func(tx storage.Tx) (shoal.EntityID, error) { return find(tx, "https://id.example|1", c.Session) }), "ann")
		c.WantNotFound(func(tx storage.Tx) error { _, err := find(tx, "https://id.example|2", c.Session); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := find(tx, "https://id.example|1", other.Session); return err })
		c.Update(func(tx storage.Tx) error { return tx.DeleteEntity(c.Session, "ann", storecase.Time(2)) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := find(tx, "https://id.example|1", c.Session); return err })
	},

	"a session lists and revokes only its own keys": func(c *storecase.Case) {
		other := storecase.New(c.T, c.Store)
		for _, s := range []*storecase.Case{c, other} {
			c.Update(func(tx storage.Tx) error {
				return tx.InsertKey(shoal.Key{ID: shoal.KeyID("own-" + s.Session), Role: shoal.RoleService, SessionID: &s.Session}, "own-"+string(s.Session))
			})
		}
		own := storecase.Read(c, func(tx storage.Tx) ([]shoal.Key, error) { return tx.Keys(c.Session, "", 10) })
		if len(own) != 1 || own[0].ID != shoal.KeyID("own-"+c.Session) {
			c.Errorf("the session lists %v", own)
		}
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteKey(c.Session, shoal.KeyID("own-"+other.Session)) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteKey(other.Session, shoal.KeyID("own-"+other.Session)) })
	},

	"lists are in the byte order of ids": func(c *storecase.Case) {
		var want []string
		for _, id := range storecase.TrickyIDs {
			id = string(c.Session) + id
			want = append(want, id)
			c.Update(func(tx storage.Tx) error {
				return tx.InsertKey(shoal.Key{ID: shoal.KeyID(id), Role: shoal.RoleAdmin}, id)
			})
		}
		var got []string
		for after := shoal.KeyID(c.Session); len(got) < len(want); {
			page := storecase.Read(c, func(tx storage.Tx) ([]shoal.Key, error) { return tx.Keys("", after, 3) })
			if len(page) == 0 {
				break
			}
			for _, k := range page {
				got = append(got, string(k.ID))
				after = k.ID
			}
		}
		storecase.Equal(c, "the list", got[:min(len(want), len(got))], want)
	},

	"ended rights are found among held rights": func(c *storecase.Case) {
		id := func(name string) shoal.KeyID { return shoal.KeyID(name + "-" + string(c.Session)) }
		c.AddEntities("ann", "bob")
		for name, expires := range map[string]*shoal.Time{"stays": nil, "later": storecase.Ptr(storecase.Time(9)), "expired": storecase.Ptr(storecase.Time(8)), "revoked": nil} {
			c.Update(func(tx storage.Tx) error {
				return tx.InsertKey(shoal.Key{ID: id(name), Role: shoal.RoleAdmin, ExpiresAt: expires}, string(id(name)))
			})
		}
		c.Update(func(tx storage.Tx) error {
			ann, err := tx.Entity(c.Session, "ann")
			if err != nil {
				return err
			}
			ann.SessionRole = shoal.SessionOwner
			return errors.Join(tx.UpdateEntity(ann), tx.DeleteKey("", id("revoked")))
		})
		gone := storecase.New(c.T, c.Store)
		c.Update(func(tx storage.Tx) error { return tx.DeleteSession(gone.Session) })
		entityRef := func(e shoal.EntityID) storage.EntityRef { return storage.EntityRef{Session: c.Session, ID: e} }
		role := func(e shoal.EntityID, r shoal.SessionRole) storage.HeldRole {
			return storage.HeldRole{EntityRef: entityRef(e), Role: r}
		}
		held := storage.HeldRights{
			Keys: []shoal.KeyID{id("stays"), id("later"), id("expired"), id("revoked")}, Sessions: []shoal.SessionID{c.Session, gone.Session},
			Entities: []storage.EntityRef{entityRef("ann"), entityRef("bob"), entityRef("none")}, Roles: []storage.HeldRole{role("ann", shoal.SessionOwner), role("bob", shoal.SessionAuditor), role("bob", shoal.SessionMember), role("away", shoal.SessionMember)},
		}
		ended := func(held storage.HeldRights) storage.HeldRights {
			got := storecase.Read(c, func(tx storage.Tx) (storage.HeldRights, error) { return tx.EndedRights(held, storecase.Time(8)) })
			slices.Sort(got.Keys)
			return got
		}
		storecase.Equal(c, "what has ended", ended(held), storage.HeldRights{
			Keys: []shoal.KeyID{id("expired"), id("revoked")}, Sessions: []shoal.SessionID{gone.Session},
			Entities: []storage.EntityRef{entityRef("none"), entityRef("away")}, Roles: []storage.HeldRole{role("bob", shoal.SessionAuditor)},
		})
		storecase.Equal(c, "what has ended of nothing", ended(storage.HeldRights{}), storage.HeldRights{})
	},

	"all keys of an entity are revoked at once": func(c *storecase.Case) {
		for i, entity := range []shoal.EntityID{"ann", "ann", "bob"} {
			c.Update(func(tx storage.Tx) error {
				id := fmt.Sprintf("%s-%d", c.Session, i)
				return tx.InsertKey(shoal.Key{ID: shoal.KeyID(id), Role: shoal.RoleEntity, SessionID: &c.Session, EntityID: &entity}, id)
			})
		}
		c.Update(func(tx storage.Tx) error { return tx.DeleteEntityKeys(c.Session, "ann") })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.KeyByHash(string(c.Session) + "-0"); return err })
		storecase.Equal(c, "whether it was revoked", storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.RevokedKey(string(c.Session) + "-0") }), true)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.KeyByHash(string(c.Session) + "-1"); return err })
		storecase.Read(c, func(tx storage.Tx) (shoal.Key, error) { return tx.KeyByHash(string(c.Session) + "-2") })
	},
}
