package coretest

import (
	"errors"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// spaceIDs lists the spaces that a filter finds.
func spaceIDs(c *storecase.Case, filter storage.SpaceFilter) []string {
	c.Helper()
	ids := []string{}
	for _, s := range storecase.Read(c, func(tx storage.Tx) ([]shoal.Space, error) { return tx.Spaces(c.Session, filter) }) {
		ids = append(ids, string(s.ID))
	}
	return ids
}

var spaceTests = map[string]func(*storecase.Case){
	"all fields are read as they were stored": func(c *storecase.Case) {
		full := shoal.Space{
			SessionID: c.Session, ID: "full", Name: "Shopping 🛒", Status: shoal.SpaceStatusClosed, Summary: storecase.Ptr("done\n"), OwnerID: storecase.Ptr(shoal.EntityID("ann")), AdminAgentID: storecase.Ptr(shoal.EntityID("bot")),
			ShowAgentReasoning: true, Metadata: []byte(`{"deep":{"er": null}}`), CreatedAt: storecase.Time(1), ClosedAt: storecase.Ptr(storecase.Time(2)), LastSeq: 5,
		}
		empty := shoal.Space{SessionID: c.Session, ID: "empty", Name: "x", Status: shoal.SpaceStatusOpen, CreatedAt: storecase.Time(3)}
		c.Update(func(tx storage.Tx) error {
			if err := tx.InsertSpace(full); err != nil {
				return err
			}
			return tx.InsertSpace(empty)
		})
		full.LastSeq = 0 // it is that of the messages
		full.Members, empty.Members, empty.Metadata = []shoal.Member{}, []shoal.Member{}, []byte(`{}`)
		storecase.Equal(c, "the full one", storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, "full") }), full)
		storecase.Equal(c, "the empty one", storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, "empty") }), empty)
		storecase.Equal(c, "the locked one", storecase.Do(c, func(tx storage.Tx) (shoal.Space, error) { return tx.LockSpace(c.Session, "full") }), full)
	},

	"an update stores everything except LastSeq": func(c *storecase.Case) {
		c.AddSpace("shop")
		s := storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, "shop") })
		s.Name, s.Status, s.Summary, s.AdminAgentID = "New", shoal.SpaceStatusClosed, storecase.Ptr(""), storecase.Ptr(shoal.EntityID("bot"))
		s.ShowAgentReasoning, s.Metadata, s.ClosedAt = true, []byte(`{"a":1}`), storecase.Ptr(storecase.Time(8))
		changed := s
		changed.LastSeq = 99
		c.Update(func(tx storage.Tx) error { return tx.UpdateSpace(changed) })
		storecase.Equal(c, "the space", storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, "shop") }), s)
	},

	"a missing id is NotFound and a used one AlreadyExists": func(c *storecase.Case) {
		c.AddSpace("shop")
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Space(c.Session, "nowhere"); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Space("nowhere", "shop"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { _, err := tx.LockSpace(c.Session, "nowhere"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.UpdateSpace(shoal.Space{SessionID: c.Session, ID: "nowhere"}) })
		created := func(by shoal.EntityID, upTo int) int {
			return storecase.Read(c, func(tx storage.Tx) (int, error) { return tx.CountCreated(c.Session, by, upTo) })
		}
		for _, id := range []shoal.SpaceID{"yard", "attic"} {
			c.Update(func(tx storage.Tx) error {
				return tx.InsertSpace(shoal.Space{SessionID: c.Session, ID: id, OwnerID: storecase.Ptr(shoal.EntityID("ann"))})
			})
		}
		storecase.Equal(c, "how many ann created", []int{created("ann", 9), created("ann", 1), created("bob", 9)}, []int{2, 1, 0})
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertSpace(shoal.Space{SessionID: c.Session, ID: "shop"}) })
	},

	"a deleted space is not found, its id cannot be used again, and all of its rows are erased": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		c.AddSpace("yard", "ann", "bob")
		said := c.Say("shop", "ann", "hidden treasure", "bob")
		c.Update(func(tx storage.Tx) error { return tx.EditMessage(storecase.Edit(said, "buried treasure", 7, "bob")) })
		c.Say("yard", "ann", "other treasure", "bob")
		for _, id := range []shoal.FileID{"fil_shop", "fil_both"} {
			c.Update(func(tx storage.Tx) error {
				if err := tx.InsertFile(c.Session, shoal.File{ID: id, Name: "a.txt", MediaType: "text/plain", Size: 1}, "ann", storecase.Time(1), []byte("x")); err != nil {
					return err
				}
				return tx.ShowFile(c.Session, id, "shop")
			})
		}
		c.Update(func(tx storage.Tx) error { return tx.ShowFile(c.Session, "fil_both", "yard") })
		c.Update(func(tx storage.Tx) error {
			return errors.Join(tx.InsertRun(c.NewRun("r1", "bob", "shop")), tx.InsertRun(c.NewRun("r2", "bob", "yard")))
		})
		c.Update(func(tx storage.Tx) error {
			if err := tx.PutMemory(c.Session, "bob", shoal.Memory{ID: "m1", Metadata: []byte(`{}`), SpaceID: storecase.Ptr(shoal.SpaceID("shop"))}); err != nil {
				return err
			}
			return tx.PutConversation(storage.Conversation{Session: c.Session, ID: "bob/shop", Agent: "bob", Data: []byte(`{}`)})
		})
		c.Update(func(tx storage.Tx) error {
			place, err := tx.AppendEvent(storage.Event{Session: c.Session, Space: "shop", Type: shoal.EventSpaceDeleted, Data: []byte(`{}`)})
			if err != nil {
				return err
			}
			return tx.DeleteSpace(c.Session, "shop", place)
		})
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Space(c.Session, "shop"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteSpace(c.Session, "shop", 1) })
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { return tx.InsertSpace(shoal.Space{SessionID: c.Session, ID: "shop"}) })
		storecase.Equal(c, "the inbox of bob", storecase.InboxPlaces(c, "bob", storage.InboxFilter{}), []int64{2})
		deleted := func(id shoal.SpaceID) bool {
			return storecase.Read(c, func(tx storage.Tx) (bool, error) { return tx.DeletedSpace(c.Session, id) })
		}
		if !deleted("shop") || deleted("yard") || deleted("nowhere") {
			c.Errorf("deleted: shop %v, yard %v, nowhere %v", deleted("shop"), deleted("yard"), deleted("nowhere"))
		}
		left := func() bool {
			all := storecase.Read(c, func(tx storage.Tx) ([]storage.DeletedSpace, error) { return tx.LeftSpaces(1000) })
			return slices.Contains(all, storage.DeletedSpace{Session: c.Session, ID: "shop"})
		}
		if !left() {
			c.Error("nothing is left to erase")
		}
		for more, times := true, 0; more; times++ {
			if times > 20 {
				c.Fatal("the erasing does not end")
			}
			more = storecase.Do(c, func(tx storage.Tx) (bool, error) { return tx.EraseSpace(c.Session, "shop", 1) })
		}
		if left() {
			c.Error("something is left to erase")
		}
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.MessageByID(c.Session, said.ID); return err })
		storecase.Equal(c, "the versions", len(storecase.Read(c, func(tx storage.Tx) ([]shoal.MessageVersion, error) {
			return tx.MessageVersions(c.Session, said.ID, 0, 9)
		})), 0)
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Run(c.Session, "r1"); return err })
		storecase.Read(c, func(tx storage.Tx) (storage.Run, error) { return tx.Run(c.Session, "r2") })
		c.WantNotFound(func(tx storage.Tx) error { _, _, err := tx.FileHead(c.Session, "fil_shop"); return err })
		c.Update(func(tx storage.Tx) error { _, _, err := tx.FileHead(c.Session, "fil_both"); return err })
		storecase.Equal(c, "the memories", len(storecase.Read(c, func(tx storage.Tx) ([]shoal.Memory, error) { return tx.Memories(c.Session, "bob") })), 0)
		kept := storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) {
			return tx.Events(c.Session, storage.EventFilter{Space: "shop"}, 0, 10)
		})
		if len(kept) != 1 || kept[0].Type != shoal.EventSpaceDeleted {
			c.Errorf("the events that are left: %+v", kept)
		}
	},

	"lists are in the byte order of ids, and filtered": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		for i, id := range storecase.TrickyIDs {
			c.AddSpace(shoal.SpaceID(id), []shoal.EntityID{"ann", "bob"}[i%2])
			if i%3 == 0 {
				c.Update(func(tx storage.Tx) error {
					return tx.UpdateSpace(shoal.Space{SessionID: c.Session, ID: shoal.SpaceID(id), Status: shoal.SpaceStatusClosed})
				})
			}
		}
		storecase.Equal(c, "all", spaceIDs(c, storage.SpaceFilter{}), storecase.TrickyIDs)
		storecase.Equal(c, "the first two", spaceIDs(c, storage.SpaceFilter{Limit: 2}), storecase.TrickyIDs[:2])
		storecase.Equal(c, "those after 9", spaceIDs(c, storage.SpaceFilter{After: "9", Limit: 3}), []string{"A", "B", "Z"})
		storecase.Equal(c, "those of bob", spaceIDs(c, storage.SpaceFilter{Member: "bob", Limit: 3}), []string{".x", "10", "A"})
		storecase.Equal(c, "the open ones of bob", spaceIDs(c, storage.SpaceFilter{Member: "bob", OpenOnly: true, After: "9", Limit: 2}), []string{"A", "Z"})
		storecase.Equal(c, "those of nobody", spaceIDs(c, storage.SpaceFilter{Member: "nobody"}), []string{})
	},
}
