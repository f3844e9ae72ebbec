package coretest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// addFile stores a file.
func addFile(c *storecase.Case, f shoal.File, by shoal.EntityID, data []byte) {
	c.Helper()
	c.Update(func(tx storage.Tx) error { return tx.InsertFile(c.Session, f, by, storecase.Time(1), data) })
}

var fileTests = map[string]func(*storecase.Case){
	"all fields are read as they were stored": func(c *storecase.Case) {
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		for _, want := range []struct {
			file shoal.File
			by   shoal.EntityID
			data []byte
		}{
			{shoal.File{ID: "f1", Name: storecase.Hostile, MediaType: "image/png", Size: 1 << 20, URL: "/v1/x"}, "ann", bytes.Repeat(every, 4096)},
			{shoal.File{ID: "f2"}, "", nil},
		} {
			addFile(c, want.file, want.by, want.data)
			var by shoal.EntityID
			var data []byte
			got := storecase.Read(c, func(tx storage.Tx) (f shoal.File, err error) {
				f, by, data, err = tx.File(c.Session, want.file.ID)
				return f, err
			})
			storecase.Equal(c, "the file", got, want.file)
			storecase.Equal(c, "who uploaded it", by, want.by)
			if !bytes.Equal(data, want.data) {
				c.Errorf("%d bytes came back instead of %d", len(data), len(want.data))
			}
			storecase.Equal(c, "the file alone", storecase.Read(c, func(tx storage.Tx) (f shoal.File, err error) {
				f, by, err = tx.FileHead(c.Session, want.file.ID)
				return f, err
			}), want.file)
			storecase.Equal(c, "whose it is", by, want.by)
		}
	},

	"deleting a file also deletes the stored answer to its upload": func(c *storecase.Case) {
		c.AddEntities("ann")
		c.AddSpace("shop", "ann")
		addFile(c, shoal.File{ID: "f1", Size: 4}, "bob", []byte("data"))
		addFile(c, shoal.File{ID: "f2", Size: 4}, "bob", []byte("data"))
		key := func(id string) storage.AnswerKey {
			return storage.AnswerKey{Session: c.Session, Scope: "entity:bob", Route: "hub.Files.Upload", Key: id}
		}
		c.Update(func(tx storage.Tx) error {
			return errors.Join(tx.ShowFile(c.Session, "f1", "shop"),
				tx.InsertAnswer(key("k1"), storage.Answer{Hash: "h", Body: []byte(`{"id":"f1"}`), At: storecase.Time(1)}),
				tx.InsertAnswer(key("k2"), storage.Answer{Hash: "h", Body: []byte(`{"id":"f2"}`), At: storecase.Time(1)}))
		})
		c.Update(func(tx storage.Tx) error { return tx.DeleteFile(c.Session, "f1") })
		c.WantNotFound(func(tx storage.Tx) error { _, _, _, err := tx.File(c.Session, "f1"); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Answer(key("k1")); return err })
		storecase.Equal(c, "it is shown", storecase.Read(c, func(tx storage.Tx) ([]shoal.SpaceID, error) { return tx.FileShownTo(c.Session, "f1", "ann") }), []shoal.SpaceID{})
		storecase.Equal(c, "the other answer", string(storecase.Read(c, func(tx storage.Tx) (storage.Answer, error) { return tx.Answer(key("k2")) }).Body), `{"id":"f2"}`)
		storecase.Equal(c, "what is stored", storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.StoredBytes(c.Session, "bob") }), 4)
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.DeleteFile(c.Session, "f1") })
	},

	"the sizes of an entity's files are summed up": func(c *storecase.Case) {
		for i, by := range []shoal.EntityID{"ann", "ann", "bob", ""} {
			addFile(c, shoal.File{ID: shoal.FileID(fmt.Sprint("f", i)), Size: int64(1 << (i + 30))}, by, nil)
		}
		var all []int64
		for _, by := range []shoal.EntityID{"ann", "bob", "", "eve"} {
			all = append(all, storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.StoredBytes(c.Session, by) }))
		}
		storecase.Equal(c, "the bytes", all, []int64{3 << 30, 4 << 30, 8 << 30, 0})
	},

	"a missing id is NotFound and a used one AlreadyExists, in each session separately": func(c *storecase.Case) {
		c.WantNotFound(func(tx storage.Tx) error { _, _, _, err := tx.File(c.Session, "f1"); return err })
		c.WantNotFound(func(tx storage.Tx) error { _, _, err := tx.FileHead(c.Session, "f1"); return err })
		c.WantError(shoal.NotFound, func(tx storage.Tx) error { return tx.ShowFile(c.Session, "f1", "shop") })
		addFile(c, shoal.File{ID: "f1"}, "", nil)
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error {
			return tx.InsertFile(c.Session, shoal.File{ID: "f1"}, "", storecase.Time(1), nil)
		})
		addFile(storecase.New(c.T, c.Store), shoal.File{ID: "f1"}, "", nil)
	},

	"members of a space that shows the file may read it": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann")
		c.AddSpace("yard", "bob")
		addFile(c, shoal.File{ID: "f1"}, "ann", nil)
		shown := func(id shoal.FileID, to shoal.EntityID) string {
			return fmt.Sprint(slices.Sorted(slices.Values(storecase.Read(c, func(tx storage.Tx) ([]shoal.SpaceID, error) { return tx.FileShownTo(c.Session, id, to) }))))
		}
		storecase.Equal(c, "ann at first", shown("f1", "ann"), "[]")
		for range 2 {
			c.Update(func(tx storage.Tx) error { return tx.ShowFile(c.Session, "f1", "shop") })
		}
		storecase.Equal(c, "ann", shown("f1", "ann"), "[shop]")
		storecase.Equal(c, "bob", shown("f1", "bob"), "[]")
		storecase.Equal(c, "another file", shown("f2", "ann"), "[]")
		c.Update(func(tx storage.Tx) error { return tx.ShowFile(c.Session, "f1", "yard") })
		storecase.Equal(c, "bob, when his space shows it", shown("f1", "bob"), "[yard]")
		storecase.Equal(c, "anybody", shown("f1", ""), "[shop yard]")
		c.Update(func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "shop", "ann") })
		storecase.Equal(c, "ann after leaving", shown("f1", "ann"), "[]")
	},
}
