package shoaltest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// memberIDs lists the members of a space.
func memberIDs(c *storeCase, space shoal.SpaceID) []shoal.EntityID {
	c.Helper()
	ids := []shoal.EntityID{}
	for _, m := range seen(c, func(tx hub.Tx) ([]shoal.Member, error) { return tx.Members(c.session, space) }) {
		ids = append(ids, m.EntityID)
	}
	return ids
}

// spaceIDs lists the spaces that a filter finds.
func spaceIDs(c *storeCase, filter hub.SpaceFilter) []string {
	c.Helper()
	ids := []string{}
	for _, s := range seen(c, func(tx hub.Tx) ([]shoal.Space, error) { return tx.Spaces(c.session, filter) }) {
		ids = append(ids, string(s.ID))
	}
	return ids
}

var spaceTests = map[string]func(*storeCase){
	"it comes back as it was stored": func(c *storeCase) {
		full := shoal.Space{
			SessionID: c.session, ID: "full", Name: "Shopping 🛒", Status: shoal.SpaceShut, Summary: ref("done\n"), OwnerID: ref(shoal.EntityID("ann")), AdminAgentID: ref(shoal.EntityID("bot")),
			ShowAgentReasoning: true, Metadata: []byte(`{"deep":{"er": null}}`), CreatedAt: storeTime(1), ClosedAt: ref(storeTime(2)), LastSeq: 5,
		}
		empty := shoal.Space{SessionID: c.session, ID: "empty", Name: "x", Status: shoal.SpaceOpen, CreatedAt: storeTime(3)}
		c.update(func(tx hub.Tx) error {
			if err := tx.InsertSpace(full); err != nil {
				return err
			}
			return tx.InsertSpace(empty)
		})
		full.LastSeq = 0 // it is that of the messages
		full.Members, empty.Members, empty.Metadata = []shoal.Member{}, []shoal.Member{}, []byte(`{}`)
		same(c, "the full one", seen(c, func(tx hub.Tx) (shoal.Space, error) { return tx.Space(c.session, "full") }), full)
		same(c, "the empty one", seen(c, func(tx hub.Tx) (shoal.Space, error) { return tx.Space(c.session, "empty") }), empty)
		same(c, "the locked one", done(c, func(tx hub.Tx) (shoal.Space, error) { return tx.LockSpace(c.session, "full") }), full)
	},

	"a change stores everything but the last place": func(c *storeCase) {
		c.space("shop")
		s := seen(c, func(tx hub.Tx) (shoal.Space, error) { return tx.Space(c.session, "shop") })
		s.Name, s.Status, s.Summary, s.AdminAgentID = "New", shoal.SpaceShut, ref(""), ref(shoal.EntityID("bot"))
		s.ShowAgentReasoning, s.Metadata, s.ClosedAt = true, []byte(`{"a":1}`), ref(storeTime(8))
		changed := s
		changed.LastSeq = 99
		c.update(func(tx hub.Tx) error { return tx.UpdateSpace(changed) })
		same(c, "the space", seen(c, func(tx hub.Tx) (shoal.Space, error) { return tx.Space(c.session, "shop") }), s)
	},

	"a missing one is NotFound, a taken id AlreadyExists": func(c *storeCase) {
		c.space("shop")
		c.absent(func(tx hub.Tx) error { _, err := tx.Space(c.session, "nowhere"); return err })
		c.absent(func(tx hub.Tx) error { _, err := tx.Space("nowhere", "shop"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { _, err := tx.LockSpace(c.session, "nowhere"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.UpdateSpace(shoal.Space{SessionID: c.session, ID: "nowhere"}) })
		created := func(by shoal.EntityID, upTo int) int {
			return seen(c, func(tx hub.Tx) (int, error) { return tx.CountCreated(c.session, by, upTo) })
		}
		for _, id := range []shoal.SpaceID{"yard", "attic"} {
			c.update(func(tx hub.Tx) error {
				return tx.InsertSpace(shoal.Space{SessionID: c.session, ID: id, OwnerID: ref(shoal.EntityID("ann"))})
			})
		}
		same(c, "how many ann created", []int{created("ann", 9), created("ann", 1), created("bob", 9)}, []int{2, 1, 0})
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertSpace(shoal.Space{SessionID: c.session, ID: "shop"}) })
	},

	"a deleted one is gone, its id stays taken, and all that was of it is erased": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		c.space("yard", "ann", "bob")
		said := c.say("shop", "ann", "hidden treasure", "bob")
		c.update(func(tx hub.Tx) error { return tx.EditMessage(edited(said, "buried treasure", 7, "bob")) })
		c.say("yard", "ann", "other treasure", "bob")
		for _, id := range []shoal.FileID{"fil_shop", "fil_both"} {
			c.update(func(tx hub.Tx) error {
				if err := tx.InsertFile(c.session, shoal.File{ID: id, Name: "a.txt", MediaType: "text/plain", Size: 1}, "ann", storeTime(1), []byte("x")); err != nil {
					return err
				}
				return tx.ShowFile(c.session, id, "shop")
			})
		}
		c.update(func(tx hub.Tx) error { return tx.ShowFile(c.session, "fil_both", "yard") })
		c.update(func(tx hub.Tx) error {
			return errors.Join(tx.InsertRun(c.run("r1", "bob", "shop")), tx.InsertRun(c.run("r2", "bob", "yard")))
		})
		c.update(func(tx hub.Tx) error {
			if err := tx.PutMemory(c.session, "bob", shoal.Memory{ID: "m1", Metadata: []byte(`{}`), SpaceID: ref(shoal.SpaceID("shop"))}); err != nil {
				return err
			}
			return tx.PutConversation(hub.StoredConversation{Session: c.session, ID: "bob/shop", Agent: "bob", Data: []byte(`{}`)})
		})
		c.update(func(tx hub.Tx) error {
			place, err := tx.AppendEvent(hub.StoredEvent{Session: c.session, Space: "shop", Type: shoal.EventSpaceDeleted, Data: []byte(`{}`)})
			if err != nil {
				return err
			}
			return tx.DeleteSpace(c.session, "shop", place)
		})
		c.absent(func(tx hub.Tx) error { _, err := tx.Space(c.session, "shop"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteSpace(c.session, "shop", 1) })
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertSpace(shoal.Space{SessionID: c.session, ID: "shop"}) })
		same(c, "the inbox of bob", places(c, "bob", hub.InboxFilter{}), []int64{2})
		deleted := func(id shoal.SpaceID) bool {
			return seen(c, func(tx hub.Tx) (bool, error) { return tx.DeletedSpace(c.session, id) })
		}
		if !deleted("shop") || deleted("yard") || deleted("nowhere") {
			c.Errorf("deleted: shop %v, yard %v, nowhere %v", deleted("shop"), deleted("yard"), deleted("nowhere"))
		}
		left := func() bool {
			all := seen(c, func(tx hub.Tx) ([]hub.DeletedSpace, error) { return tx.LeftSpaces(1000) })
			return slices.Contains(all, hub.DeletedSpace{Session: c.session, ID: "shop"})
		}
		if !left() {
			c.Error("nothing is left to erase")
		}
		for more, times := true, 0; more; times++ {
			if times > 20 {
				c.Fatal("the erasing does not end")
			}
			more = done(c, func(tx hub.Tx) (bool, error) { return tx.EraseSpace(c.session, "shop", 1) })
		}
		if left() {
			c.Error("something is left to erase")
		}
		c.absent(func(tx hub.Tx) error { _, err := tx.MessageByID(c.session, said.ID); return err })
		same(c, "the versions", len(seen(c, func(tx hub.Tx) ([]shoal.MessageVersion, error) { return tx.MessageVersions(c.session, said.ID, 0, 9) })), 0)
		c.absent(func(tx hub.Tx) error { _, err := tx.Run(c.session, "r1"); return err })
		seen(c, func(tx hub.Tx) (hub.StoredRun, error) { return tx.Run(c.session, "r2") })
		c.absent(func(tx hub.Tx) error { _, _, err := tx.FileHead(c.session, "fil_shop"); return err })
		c.update(func(tx hub.Tx) error { _, _, err := tx.FileHead(c.session, "fil_both"); return err })
		same(c, "the memories", len(seen(c, func(tx hub.Tx) ([]shoal.Memory, error) { return tx.Memories(c.session, "bob") })), 0)
		kept := seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) {
			return tx.Events(c.session, hub.EventFilter{Space: "shop"}, 0, 10)
		})
		if len(kept) != 1 || kept[0].Type != shoal.EventSpaceDeleted {
			c.Errorf("the events that are left: %+v", kept)
		}
	},

	"they are listed in the order of the bytes of their ids, and filtered": func(c *storeCase) {
		c.entities("ann", "bob")
		for i, id := range trickyIDs {
			c.space(shoal.SpaceID(id), []shoal.EntityID{"ann", "bob"}[i%2])
			if i%3 == 0 {
				c.update(func(tx hub.Tx) error {
					return tx.UpdateSpace(shoal.Space{SessionID: c.session, ID: shoal.SpaceID(id), Status: shoal.SpaceShut})
				})
			}
		}
		same(c, "all", spaceIDs(c, hub.SpaceFilter{}), trickyIDs)
		same(c, "the first two", spaceIDs(c, hub.SpaceFilter{Limit: 2}), trickyIDs[:2])
		same(c, "those after 9", spaceIDs(c, hub.SpaceFilter{After: "9", Limit: 3}), []string{"A", "B", "Z"})
		same(c, "those of bob", spaceIDs(c, hub.SpaceFilter{Member: "bob", Limit: 3}), []string{".x", "10", "A"})
		same(c, "the open ones of bob", spaceIDs(c, hub.SpaceFilter{Member: "bob", OpenOnly: true, After: "9", Limit: 2}), []string{"A", "Z"})
		same(c, "those of nobody", spaceIDs(c, hub.SpaceFilter{Member: "nobody"}), []string{})
	},
}

var memberTests = map[string]func(*storeCase){
	"they are listed in the order of joining, not of ids or times": func(c *storeCase) {
		c.entities("ann", "bob", "cid", "dot")
		c.space("shop", "cid", "ann", "dot", "bob")
		same(c, "the members", memberIDs(c, "shop"), []shoal.EntityID{"cid", "ann", "dot", "bob"})
		c.update(func(tx hub.Tx) error { return tx.DeleteMember(c.session, "shop", "bob") })
		c.update(func(tx hub.Tx) error { return tx.DeleteMember(c.session, "shop", "cid") })
		c.update(func(tx hub.Tx) error {
			return tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "cid", JoinedAt: storeTime(-9)})
		})
		same(c, "the members", memberIDs(c, "shop"), []shoal.EntityID{"ann", "dot", "cid"})
		all := seen(c, func(tx hub.Tx) ([]shoal.Member, error) { return tx.Members(c.session, "shop") })
		same(c, "the last one", all[2], shoal.Member{EntityID: "cid", Kind: shoal.Agent, Name: "CID", JoinedAt: storeTime(-9)})
	},

	"who added one, and whether it has muted the space": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop")
		c.update(func(tx hub.Tx) error {
			if err := tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "ann", JoinedAt: storeTime(1)}); err != nil {
				return err
			}
			return tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "bob", JoinedAt: storeTime(2), AddedBy: ref(shoal.EntityID("ann")), Muted: true})
		})
		want := []shoal.Member{
			{EntityID: "ann", Kind: shoal.Agent, Name: "ANN", JoinedAt: storeTime(1)},
			{EntityID: "bob", Kind: shoal.Agent, Name: "BOB", JoinedAt: storeTime(2), AddedBy: ref(shoal.EntityID("ann")), Muted: true},
		}
		stored := func() []shoal.Member {
			return seen(c, func(tx hub.Tx) ([]shoal.Member, error) { return tx.Members(c.session, "shop") })
		}
		same(c, "the members", stored(), want)
		c.update(func(tx hub.Tx) error {
			if err := tx.MuteMember(c.session, "shop", "ann", true); err != nil {
				return err
			}
			return tx.MuteMember(c.session, "shop", "bob", false)
		})
		if all := stored(); !all[0].Muted || all[1].Muted {
			c.Errorf("ann has muted: %v, bob: %v", all[0].Muted, all[1].Muted)
		}
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.MuteMember(c.session, "shop", "nobody", true) })
	},

	"of several spaces at once": func(c *storeCase) {
		c.entities("ann", "bob")
		var spaces []shoal.SpaceID
		want := map[shoal.SpaceID]int{}
		for i := range 140 {
			id := shoal.SpaceID(fmt.Sprintf("s%d", i))
			c.space(id, []shoal.EntityID{"bob", "ann"}[:i%2+1]...)
			spaces = append(spaces, id)
			want[id] = i%2 + 1
		}
		c.space("empty")
		spaces = append(spaces, "empty", "nowhere")
		want["empty"], want["nowhere"] = 0, 0
		got := map[shoal.SpaceID]int{}
		for id, members := range seen(c, func(tx hub.Tx) (map[shoal.SpaceID][]shoal.Member, error) { return tx.MembersOf(c.session, spaces) }) {
			got[id] = len(members)
			if members == nil || len(members) > 0 && members[0].EntityID != "bob" {
				c.Errorf("the members of %s are %v", id, members)
			}
		}
		same(c, "the numbers of members", got, want)
		none := seen(c, func(tx hub.Tx) (map[shoal.SpaceID][]shoal.Member, error) { return tx.MembersOf(c.session, nil) })
		same(c, "the members of no space", none, map[shoal.SpaceID][]shoal.Member{})
	},

	"who is one, who among some, and how many": func(c *storeCase) {
		c.entities("ann", "bob", "cid")
		c.space("shop", "ann", "cid")
		is := func(id shoal.EntityID) bool {
			return seen(c, func(tx hub.Tx) (bool, error) { return tx.IsMember(c.session, "shop", id) })
		}
		if !is("ann") || is("bob") || is("nobody") {
			c.Errorf("ann %v, bob %v, nobody %v", is("ann"), is("bob"), is("nobody"))
		}
		among := func(ids ...shoal.EntityID) []hub.MemberKind {
			found := seen(c, func(tx hub.Tx) ([]hub.MemberKind, error) { return tx.MembersAmong(c.session, "shop", ids) })
			slices.SortFunc(found, func(a, b hub.MemberKind) int { return cmp.Compare(a.ID, b.ID) })
			return found
		}
		ann := seen(c, func(tx hub.Tx) (shoal.Entity, error) { return tx.Entity(c.session, "ann") })
		other := shoal.Human
		if ann.Kind == shoal.Human {
			other = shoal.Agent
		}
		same(c, "members among all", among("bob", "cid", "nobody", "ann"), []hub.MemberKind{{ID: "ann", Kind: ann.Kind}, {ID: "cid", Kind: ann.Kind}})
		ann.Kind = other
		c.update(func(tx hub.Tx) error { return tx.UpdateEntity(ann) })
		same(c, "one of another kind", among("ann"), []hub.MemberKind{{ID: "ann", Kind: other}})
		same(c, "members among nobody", among(), []hub.MemberKind{})
		same(c, "their number", seen(c, func(tx hub.Tx) (int, error) { return tx.CountMembers(c.session, "shop") }), 2)
	},

	"one joins once, and only if it exists": func(c *storeCase) {
		c.entities("ann")
		c.space("shop", "ann")
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error {
			return tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "ann", JoinedAt: storeTime(0)})
		})
		c.refused(shoal.NotFound, func(tx hub.Tx) error {
			return tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "nobody", JoinedAt: storeTime(0)})
		})
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteMember(c.session, "shop", "nobody") })
	},

	"leaving withdraws what is unread of that space": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		c.space("yard", "ann", "bob")
		c.say("shop", "ann", "one")
		c.say("yard", "ann", "two")
		c.say("shop", "ann", "three", "bob")
		c.update(func(tx hub.Tx) error { return tx.DeleteMember(c.session, "shop", "bob") })
		same(c, "the inbox", places(c, "bob", hub.InboxFilter{}), []int64{2})
		c.say("shop", "ann", "four")
		c.update(func(tx hub.Tx) error {
			return tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "bob", JoinedAt: storeTime(1)})
		})
		c.say("shop", "ann", "five")
		same(c, "the inbox after joining again", places(c, "bob", hub.InboxFilter{}), []int64{2, 4})
	},
}
