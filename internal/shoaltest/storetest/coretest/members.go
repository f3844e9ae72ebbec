package coretest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// listed returns the members that a space lists for a reader.
func listed(c *storecase.Case, reader shoal.EntityID, space shoal.SpaceID) []shoal.Member {
	c.Helper()
	return storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID][]shoal.Member, error) {
		return tx.ListedMembers(c.Session, reader, []shoal.SpaceID{space})
	})[space]
}

// memberIDs returns the ids of the members that a space lists.
func memberIDs(c *storecase.Case, space shoal.SpaceID) []shoal.EntityID {
	c.Helper()
	return idsOf(listed(c, "", space))
}

func idsOf(members []shoal.Member) []shoal.EntityID {
	ids := []shoal.EntityID{}
	for _, m := range members {
		ids = append(ids, m.EntityID)
	}
	return ids
}

var memberTests = map[string]func(*storecase.Case){
	"entities are near that share a space": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid", "dot", "eve", "gus", "hal")
		c.AddSpace("shop", "gus", "cid", "ann")
		c.AddSpace("hall", "gus", "ann", "eve")
		c.AddSpace("den", "bob", "dot")
		near := func(of, after shoal.EntityID, limit int) (ids []shoal.EntityID) {
			for _, e := range storecase.Read(c, func(tx storage.Tx) ([]shoal.Entity, error) { return tx.EntitiesNear(c.Session, of, after, limit) }) {
				ids = append(ids, e.ID)
			}
			return ids
		}
		shares := func(a, b shoal.EntityID) bool {
			return storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.ShareSpace(c.Session, a, b) })
		}
		storecase.Equal(c, "near gus", near("gus", "", 9), []shoal.EntityID{"ann", "cid", "eve", "gus"})
		storecase.Equal(c, "a page of them", near("gus", "ann", 2), []shoal.EntityID{"cid", "eve"})
		storecase.Equal(c, "near hal, who is in no space", near("hal", "", 9), []shoal.EntityID{"hal"})
		storecase.Equal(c, "who shares a space", []bool{shares("gus", "ann"), shares("ann", "gus"), shares("gus", "gus"), shares("gus", "bob"), shares("hal", "ann"), shares("gus", "none")}, []bool{true, true, true, false, false, false})
		c.Update(func(tx storage.Tx) error {
			return errors.Join(tx.DeleteMember(c.Session, "shop", "cid"), tx.DeleteMember(c.Session, "shop", "ann"))
		})
		storecase.Equal(c, "near gus after two have left", near("gus", "", 9), []shoal.EntityID{"ann", "eve", "gus"})
		storecase.Equal(c, "who shares a space then", []bool{shares("gus", "ann"), shares("gus", "cid")}, []bool{true, false})
	},

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
		storecase.Equal(c, "the last one", listed(c, "", "shop")[2], shoal.Member{EntityID: "cid", Kind: shoal.Agent, Name: "CID", JoinedAt: storecase.Time(-9)})
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
		stored := func() []shoal.Member { return listed(c, "", "shop") }
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
		for id, members := range storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID][]shoal.Member, error) {
			return tx.ListedMembers(c.Session, "", spaces)
		}) {
			got[id] = len(members)
			if members == nil || len(members) > 0 && members[0].EntityID != "bob" {
				c.Errorf("the members of %s are %v", id, members)
			}
		}
		storecase.Equal(c, "the numbers of members", got, want)
		none := storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID][]shoal.Member, error) {
			return tx.ListedMembers(c.Session, "", nil)
		})
		storecase.Equal(c, "the members of no space", none, map[shoal.SpaceID][]shoal.Member{})
	},

	"IsMember, Member and MembersAmong agree": func(c *storecase.Case) {
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
		one := storecase.Read(c, func(tx storage.Tx) (shoal.Member, error) { return tx.Member(c.Session, "shop", "cid") })
		storecase.Equal(c, "one of them", one, listed(c, "", "shop")[1])
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { _, err := tx.Member(c.Session, "shop", "bob"); return err })
	},

	"a space counts its members": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann", "bob", "cid")
		c.AddSpace("yard", "bob")
		counts := func() (n [2]int64) {
			for i, id := range []shoal.SpaceID{"shop", "yard"} {
				n[i] = storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, id) }).MemberCount
			}
			return n
		}
		storecase.Equal(c, "at first", counts(), [2]int64{3, 1})
		all := storecase.Read(c, func(tx storage.Tx) ([]shoal.Space, error) {
			return tx.Spaces(c.Session, storage.SpaceFilter{Member: "ann"})
		})
		storecase.Equal(c, "in a list", all[0].MemberCount, 3)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error {
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "ann", JoinedAt: storecase.Time(0)})
		})
		c.Update(func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "ann") })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "ann") })
		storecase.Equal(c, "after one has left", counts(), [2]int64{2, 1})
		within := storecase.Do(c, func(tx storage.Tx) (shoal.Space, error) {
			if err := tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "ann", JoinedAt: storecase.Time(1)}); err != nil {
				return shoal.Space{}, err
			}
			return tx.Space(c.Session, "shop")
		})
		storecase.Equal(c, "in the transaction of the change", within.MemberCount, 3)
		c.Update(func(tx storage.Tx) error { return tx.DeleteEntity(c.Session, "bob", storecase.Time(2)) })
		storecase.Equal(c, "after an entity of both was deleted", counts(), [2]int64{2, 0})
		shop := storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, "shop") })
		shop.Name, shop.MemberCount = "Shop", 99
		c.Update(func(tx storage.Tx) error { return tx.UpdateSpace(shop) })
		storecase.Equal(c, "after a change of the space", counts(), [2]int64{2, 0})
	},

	"members and their entities are read in pages, in the order of ids": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid", "dot", "eve")
		c.AddSpace("shop", "eve", "bob", "ann", "cid")
		c.AddSpace("yard", "dot")
		page := func(after shoal.EntityID, limit int) []shoal.EntityID {
			members := storecase.Read(c, func(tx storage.Tx) ([]shoal.Member, error) { return tx.Members(c.Session, "shop", after, limit) })
			entities := storecase.Read(c, func(tx storage.Tx) ([]shoal.Entity, error) { return tx.MemberEntities(c.Session, "shop", after, limit) })
			for i, e := range entities {
				if known := storecase.Read(c, func(tx storage.Tx) (shoal.Entity, error) { return tx.Entity(c.Session, e.ID) }); i >= len(members) || members[i].EntityID != e.ID || known.Name != e.Name {
					c.Errorf("entity %d after %q is %+v", i, after, e)
				}
			}
			storecase.Equal(c, "the number of entities", len(entities), len(members))
			return idsOf(members)
		}
		storecase.Equal(c, "the first page", page("", 2), []shoal.EntityID{"ann", "bob"})
		storecase.Equal(c, "the second page", page("bob", 2), []shoal.EntityID{"cid", "eve"})
		storecase.Equal(c, "the last page", page("eve", 2), []shoal.EntityID{})
		storecase.Equal(c, "after one that is not a member", page("b", 9), []shoal.EntityID{"bob", "cid", "eve"})
	},

	"an Update lists the members of a space as a View does, after each change": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann", "bob")
		entity := func(id shoal.EntityID, change func(*shoal.Entity)) func(storage.Tx) error {
			return func(tx storage.Tx) error {
				e, err := tx.Entity(c.Session, id)
				if err != nil {
					return err
				}
				change(&e)
				return tx.UpdateEntity(e)
			}
		}
		for _, change := range []struct {
			name string
			do   func(storage.Tx) error
		}{
			{"nothing", func(storage.Tx) error { return nil }},
			{"a name", entity("ann", func(e *shoal.Entity) { e.Name = "Anna" })},
			{"a kind", entity("bob", func(e *shoal.Entity) { e.Kind = shoal.Human })},
			{"the name of somebody else", entity("cid", func(e *shoal.Entity) { e.Name = "Cidney" })},
			{"muted", func(tx storage.Tx) error { return tx.MuteMember(c.Session, "shop", "ann", true) }},
			{"joined", func(tx storage.Tx) error {
				return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "cid", JoinedAt: storecase.Time(3)})
			}},
			{"seen", func(tx storage.Tx) error {
				return tx.SetLastSeen([]storage.LastSeen{{Session: c.Session, Entity: "ann", At: storecase.Time(4)}})
			}},
			{"left", func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "bob") }},
			{"deleted", func(tx storage.Tx) error { return tx.DeleteEntity(c.Session, "ann", storecase.Time(5)) }},
		} {
			var before, after []shoal.Member
			list := func(tx storage.Tx, out *[]shoal.Member) error {
				all, err := tx.ListedMembers(c.Session, "", []shoal.SpaceID{"shop"})
				*out = all["shop"]
				return err
			}
			c.Update(func(tx storage.Tx) error {
				if err := list(tx, &before); err != nil {
					return err
				}
				if err := change.do(tx); err != nil {
					return err
				}
				return list(tx, &after)
			})
			storecase.Equal(c, change.name+": in the same Update", after, listed(c, "", "shop"))
			c.Update(func(tx storage.Tx) error { return list(tx, &after) })
			storecase.Equal(c, change.name+": in the next Update", after, listed(c, "", "shop"))
		}
	},

	"a large space lists the reader, the admin agent, hosted agents, the latest senders and then others": func(c *storecase.Case) {
		many := shoal.MaxListedMembers + 30
		ids := make([]shoal.EntityID, many)
		for i := range ids {
			ids[i] = shoal.EntityID(fmt.Sprintf("m%03d", many-i)) // ids in the reverse order of joining
		}
		c.AddEntities(ids...)
		c.AddEntities("out")
		c.AddSpace("crowd", ids[:shoal.MaxListedMembers]...)
		c.AddSpace("shop", ids[1], ids[many-1])
		storecase.Equal(c, "up to the limit, as they joined", memberIDs(c, "crowd"), ids[:shoal.MaxListedMembers])
		c.Update(func(tx storage.Tx) error {
			for _, id := range ids[shoal.MaxListedMembers:] {
				if err := tx.InsertMember(c.Session, "crowd", shoal.Member{EntityID: id, JoinedAt: storecase.Time(1)}); err != nil {
					return err
				}
			}
			return nil
		})
		storecase.Equal(c, "above it, before anybody wrote", memberIDs(c, "crowd"), ids[:shoal.MaxListedMembers])
		admin, reader, late, early := ids[many-1], ids[many-2], ids[many-3], ids[many-4]
		s := storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, "crowd") })
		s.AdminAgentID = &admin
		c.Update(func(tx storage.Tx) error { return tx.UpdateSpace(s) })
		c.Say("crowd", early, "one")
		c.Say("crowd", "out", "two, before it left")
		c.Say("crowd", late, "three")
		c.Say("crowd", ids[0], "four")
		hosted := ids[many-5]
		c.Update(func(tx storage.Tx) error {
			return tx.PutHostedAgent(storage.Agent{HostedAgent: shoal.HostedAgent{SessionID: c.Session, ID: hosted, Version: 1, Config: []byte(`{}`), CreatedAt: storecase.Time(2)}})
		})
		want := append([]shoal.EntityID{reader, admin, hosted, ids[0], late, early}, ids[1:shoal.MaxListedMembers-5]...)
		storecase.Equal(c, "for a reader", idsOf(listed(c, reader, "crowd")), want)
		want = append([]shoal.EntityID{admin, hosted, ids[0], late, early}, ids[1:shoal.MaxListedMembers-4]...)
		storecase.Equal(c, "for one that is not a member", idsOf(listed(c, "out", "crowd")), want)
		both := storecase.Read(c, func(tx storage.Tx) (map[shoal.SpaceID][]shoal.Member, error) {
			return tx.ListedMembers(c.Session, "", []shoal.SpaceID{"shop", "crowd"})
		})
		storecase.Equal(c, "beside a small one", idsOf(both["shop"]), []shoal.EntityID{ids[1], ids[many-1]})
		storecase.Equal(c, "the large one", idsOf(both["crowd"]), want)
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
