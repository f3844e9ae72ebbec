package coretest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// memberIDs lists the members of a space.
func memberIDs(c *storecase.Case, space shoal.SpaceID) []shoal.EntityID {
	c.Helper()
	ids := []shoal.EntityID{}
	for _, m := range storecase.Read(c, func(tx storage.Tx) ([]shoal.Member, error) { return tx.Members(c.Session, space) }) {
		ids = append(ids, m.EntityID)
	}
	return ids
}

var memberTests = map[string]func(*storecase.Case){
	"they are listed in the order of joining, not of ids or times": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid", "dot")
		c.AddSpace("shop", "cid", "ann", "dot", "bob")
		storecase.Equal(c, "the members", memberIDs(c, "shop"), []shoal.EntityID{"cid", "ann", "dot", "bob"})
		c.Update(func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "bob") })
		c.Update(func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "cid") })
		c.Update(func(tx storage.Tx) error {
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "cid", JoinedAt: storecase.Time(-9)})
		})
		storecase.Equal(c, "the members", memberIDs(c, "shop"), []shoal.EntityID{"ann", "dot", "cid"})
		all := storecase.Read(c, func(tx storage.Tx) ([]shoal.Member, error) { return tx.Members(c.Session, "shop") })
		storecase.Equal(c, "the last one", all[2], shoal.Member{EntityID: "cid", Kind: shoal.Agent, Name: "CID", JoinedAt: storecase.Time(-9)})
	},

	"who added a member, and whether it has muted the space": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop")
		c.Update(func(tx storage.Tx) error {
			if err := tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "ann", JoinedAt: storecase.Time(1)}); err != nil {
				return err
			}
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "bob", JoinedAt: storecase.Time(2), AddedBy: storecase.Ptr(shoal.EntityID("ann")), Muted: true})
		})
		want := []shoal.Member{
			{EntityID: "ann", Kind: shoal.Agent, Name: "ANN", JoinedAt: storecase.Time(1)},
			{EntityID: "bob", Kind: shoal.Agent, Name: "BOB", JoinedAt: storecase.Time(2), AddedBy: storecase.Ptr(shoal.EntityID("ann")), Muted: true},
		}
		stored := func() []shoal.Member {
			return storecase.Read(c, func(tx storage.Tx) ([]shoal.Member, error) { return tx.Members(c.Session, "shop") })
		}
		storecase.Equal(c, "the members", stored(), want)
		c.Update(func(tx storage.Tx) error {
			if err := tx.MuteMember(c.Session, "shop", "ann", true); err != nil {
				return err
			}
			return tx.MuteMember(c.Session, "shop", "bob", false)
		})
		if all := stored(); !all[0].Muted || all[1].Muted {
			c.Errorf("ann has muted: %v, bob: %v", all[0].Muted, all[1].Muted)
		}
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.MuteMember(c.Session, "shop", "nobody", true) })
	},

	"members of several spaces at once": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		var spaces []shoal.SpaceID
		want := map[shoal.SpaceID]int{}
		for i := range 140 {
			id := shoal.SpaceID(fmt.Sprintf("s%d", i))
			c.AddSpace(id, []shoal.EntityID{"bob", "ann"}[:i%2+1]...)
			spaces = append(spaces, id)
			want[id] = i%2 + 1
		}
		c.AddSpace("empty")
		spaces = append(spaces, "empty", "nowhere")
		want["empty"], want["nowhere"] = 0, 0
		got := map[shoal.SpaceID]int{}
		for id, members := range storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID][]shoal.Member, error) { return tx.MembersOf(c.Session, spaces) }) {
			got[id] = len(members)
			if members == nil || len(members) > 0 && members[0].EntityID != "bob" {
				c.Errorf("the members of %s are %v", id, members)
			}
		}
		storecase.Equal(c, "the numbers of members", got, want)
		none := storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID][]shoal.Member, error) { return tx.MembersOf(c.Session, nil) })
		storecase.Equal(c, "the members of no space", none, map[shoal.SpaceID][]shoal.Member{})
	},

	"IsMember, MembersAmong and CountMembers agree": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann", "cid")
		is := func(id shoal.EntityID) bool {
			return storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.IsMember(c.Session, "shop", id) })
		}
		if !is("ann") || is("bob") || is("nobody") {
			c.Errorf("ann %v, bob %v, nobody %v", is("ann"), is("bob"), is("nobody"))
		}
		among := func(ids ...shoal.EntityID) []storage.MemberKind {
			found := storecase.Read(c, func(tx storage.Tx) ([]storage.MemberKind, error) { return tx.MembersAmong(c.Session, "shop", ids) })
			slices.SortFunc(found, func(a, b storage.MemberKind) int { return cmp.Compare(a.ID, b.ID) })
			return found
		}
		ann := storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, "ann") })
		other := shoal.Human
		if ann.Kind == shoal.Human {
			other = shoal.Agent
		}
		storecase.Equal(c, "members among all", among("bob", "cid", "nobody", "ann"), []storage.MemberKind{{ID: "ann", Kind: ann.Kind}, {ID: "cid", Kind: ann.Kind}})
		ann.Kind = other
		c.Update(func(tx storage.Tx) error { return tx.UpdateEntity(ann) })
		storecase.Equal(c, "one of another kind", among("ann"), []storage.MemberKind{{ID: "ann", Kind: other}})
		storecase.Equal(c, "members among nobody", among(), []storage.MemberKind{})
		storecase.Equal(c, "their number", storecase.Read(c, func(tx storage.Tx) (int, error) { return tx.CountMembers(c.Session, "shop") }), 2)
	},

	"an entity can join once, and only if it exists": func(c *storecase.Case) {
		c.AddEntities("ann")
		c.AddSpace("shop", "ann")
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error {
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "ann", JoinedAt: storecase.Time(0)})
		})
		c.WantError(shoal.NotFound, func(tx storage.Tx) error {
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "nobody", JoinedAt: storecase.Time(0)})
		})
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "nobody") })
	},

	"leaving removes the unread entries of that space": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		c.AddSpace("yard", "ann", "bob")
		c.Say("shop", "ann", "one")
		c.Say("yard", "ann", "two")
		c.Say("shop", "ann", "three", "bob")
		c.Update(func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "bob") })
		storecase.Equal(c, "the inbox", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{2})
		c.Say("shop", "ann", "four")
		c.Update(func(tx storage.Tx) error {
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "bob", JoinedAt: storecase.Time(1)})
		})
		c.Say("shop", "ann", "five")
		storecase.Equal(c, "the inbox after joining again", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{2, 5})
	},
}
