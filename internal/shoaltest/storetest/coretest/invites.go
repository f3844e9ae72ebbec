package coretest

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var inviteTests = map[string]func(*storecase.Case){
	"an invitation ends with the key that made it": func(c *storecase.Case) {
		id := func(name string) shoal.KeyID { return shoal.KeyID(name + "-" + string(c.Session)) }
		for _, name := range []string{"one", "two", "three"} {
			c.Update(func(tx storage.Tx) error {
				key := shoal.Key{ID: id(name), Role: shoal.RoleEntity, SessionID: &c.Session, EntityID: storecase.Ptr(shoal.EntityID(name)), CreatedAt: storecase.Time(1)}
				i := shoal.Invite{ID: shoal.InviteID(id(name)), SessionID: c.Session, Spaces: []shoal.SpaceID{}, CreatedAt: storecase.Time(1), ExpiresAt: storecase.Time(9)}
				return errors.Join(tx.InsertKey(key, string(key.ID)), tx.InsertInvite(i, string(i.ID), key.ID))
			})
		}
		c.Update(func(tx storage.Tx) error { return tx.ReplaceKey(id("one"), id("three"), storecase.Time(9)) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteKey("", id("one")) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteEntityKeys(c.Session, "two") })
		left := storecase.Read(c, func(tx storage.Tx) ([]shoal.Invite, error) { return tx.Invites(c.Session, storecase.Time(2), "", 9) })
		if len(left) != 2 || left[0].ID != shoal.InviteID(id("one")) || left[1].ID != shoal.InviteID(id("three")) {
			c.Errorf("what is left: %v", left)
		}
		c.Update(func(tx storage.Tx) error { return tx.DeleteKey("", id("three")) })
		storecase.Equal(c, "the one that moved to a replacing key, and its own", len(storecase.Read(c, func(tx storage.Tx) ([]shoal.Invite, error) { return tx.Invites(c.Session, storecase.Time(2), "", 9) })), 0)
	},

	"an invitation is taken once, before it expires": func(c *storecase.Case) {
		invite := shoal.Invite{
			ID: "inv-" + shoal.InviteID(c.Session), SessionID: c.Session, Name: storecase.Hostile, SessionRole: shoal.SessionGuest,
			Spaces: []shoal.SpaceID{"shop", "hall"}, CreatedBy: storecase.Ptr(shoal.EntityID("ann")), CreatedAt: storecase.Time(1), ExpiresAt: storecase.Time(5),
		}
		hash := "hash-" + string(c.Session)
		c.Update(func(tx storage.Tx) error { return tx.InsertInvite(invite, hash, "") })
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertInvite(invite, hash, "") })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.InviteByHash(hash, storecase.Time(5)); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.InviteByHash("other", storecase.Time(4)); return err })
		storecase.Equal(c, "the invitation by its hash", storecase.Read(c, func(tx storage.Tx) (shoal.Invite, error) { return tx.InviteByHash(hash, storecase.Time(4)) }), invite)
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { _, err := tx.TakeInvite(hash, storecase.Time(5)); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { _, err := tx.TakeInvite("other", storecase.Time(4)); return err })
		var taken shoal.Invite
		c.Update(func(tx storage.Tx) (err error) { taken, err = tx.TakeInvite(hash, storecase.Time(4)); return err })
		storecase.Equal(c, "the invitation", taken, invite)
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { _, err := tx.TakeInvite(hash, storecase.Time(4)); return err })
	},

	"invitations are listed, deleted and swept": func(c *storecase.Case) {
		other := storecase.New(c.T, c.Store)
		id := func(of *storecase.Case, name string) shoal.InviteID {
			return shoal.InviteID(name + "-" + string(of.Session))
		}
		for _, of := range []*storecase.Case{c, other} {
			for n, name := range []string{"a", "b", "c", "d"} {
				by := shoal.EntityID("ann")
				if name == "d" {
					by = "bob"
				}
				i := shoal.Invite{ID: id(of, name), SessionID: of.Session, SessionRole: shoal.SessionMember, Spaces: []shoal.SpaceID{}, CreatedBy: &by, CreatedAt: storecase.Time(1), ExpiresAt: storecase.Time(2 + n)}
				c.Update(func(tx storage.Tx) error { return tx.InsertInvite(i, "hash-"+string(i.ID), "") })
			}
		}
		listed := func(of *storecase.Case, after shoal.InviteID, limit int) (ids []shoal.InviteID) {
			for _, i := range storecase.Read(c, func(tx storage.Tx) ([]shoal.Invite, error) {
				return tx.Invites(of.Session, storecase.Time(2), after, limit)
			}) {
				ids = append(ids, i.ID)
			}
			return ids
		}
		storecase.Equal(c, "those that have not expired", listed(c, "", 10), []shoal.InviteID{id(c, "b"), id(c, "c"), id(c, "d")})
		storecase.Equal(c, "the next one", listed(c, id(c, "b"), 1), []shoal.InviteID{id(c, "c")})
		storecase.Equal(c, "one that has expired", storecase.Read(c, func(tx storage.Tx) (shoal.Invite, error) { return tx.Invite(c.Session, id(c, "a")) }).ID, id(c, "a"))
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Invite(c.Session, id(other, "b")); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteInvite(c.Session, id(other, "b")) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteInvite(c.Session, id(c, "b")) })
		c.Update(func(tx storage.Tx) error { return tx.DeleteInvitesOf(c.Session, "bob") })
		c.Update(func(tx storage.Tx) error { return tx.SweepInvites(storecase.Time(3)) })
		storecase.Equal(c, "those that are left", listed(c, "", 10), []shoal.InviteID{id(c, "c")})
		storecase.Equal(c, "those of another session", listed(other, "", 10), []shoal.InviteID{id(other, "c"), id(other, "d")})
	},
}
