package coretest

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// personTests specify how what an entity has left is found and erased.
var personTests = map[string]func(*storecase.Case){
	"an erased entity has its id for a name and is listed until the end": func(c *storecase.Case) {
		of := storage.EntityRef{Session: c.Session, ID: "ann"}
		c.Update(func(tx storage.Tx) error {
			return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "ann", Kind: shoal.Human, Name: "Ann Lee", Description: "d", ExternalID: storecase.Ptr("ext"), Metadata: json.RawMessage(`{"a":1}`), CreatedAt: storecase.Time(1)})
		})
		for _, again := range []bool{false, true} {
			c.Update(func(tx storage.Tx) error {
				name, err := tx.BeginErasure(of, storecase.Time(2))
				storecase.Equal(c, "the name", name, "Ann Lee")
				if !again && err == nil {
					err = tx.DeleteEntity(c.Session, "ann", storecase.Time(3))
				}
				return err
			})
		}
		storecase.Equal(c, "its name", storecase.Read(c, func(tx storage.Tx) (map[shoal.EntityID]string, error) {
			return tx.EntityNames(c.Session, []shoal.EntityID{"ann"})
		}), map[shoal.EntityID]string{"ann": "ann"})
		storecase.Equal(c, "what is left", storecase.Read(c, func(tx storage.Tx) ([]storage.EntityRef, error) { return tx.Erasures(9) }), []storage.EntityRef{of})
		c.Update(func(tx storage.Tx) error { return tx.EndErasure(of) })
		c.Update(func(tx storage.Tx) error { return tx.EndErasure(of) })
		storecase.Equal(c, "what is left at the end", storecase.Read(c, func(tx storage.Tx) ([]storage.EntityRef, error) { return tx.Erasures(9) }), []storage.EntityRef{})
		c.WantNotFound(func(tx storage.Tx) error {
			_, err := tx.BeginErasure(storage.EntityRef{Session: c.Session, ID: "nobody"}, storecase.Time(2))
			return err
		})
	},

	"the messages of an entity are found in parts, deleted ones too": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		first := c.Say("shop", "ann", "one")
		c.Say("shop", "bob", "two")
		c.Say("shop", "ann", "three")
		c.Update(func(tx storage.Tx) error { return tx.EraseMessage(c.Session, first.ID, storecase.Time(50)) })
		var seqs []int64
		for after, more := int64(0), true; more; {
			found := storecase.Read(c, func(tx storage.Tx) (out []shoal.Message, err error) {
				out, after, err = tx.MessagesOf(storage.EntityRef{Session: c.Session, ID: "ann"}, after, 1)
				return out, err
			})
			more = len(found) > 0
			for _, m := range found {
				seqs = append(seqs, m.Seq)
			}
		}
		storecase.Equal(c, "their places", seqs, []int64{1, 3})
	},

	"every row with texts is read once and can be replaced": func(c *storecase.Case) {
		c.AddEntities("ann", "bot")
		c.AddSpace("shop", "ann", "bot")
		c.AddRuns(c.NewRun("r1", "bot", "shop"))
		c.AddSteps("r1", storage.Step{Step: shoal.Step{StartedAt: storecase.Time(1)}, Data: []byte(`{"text":"tea"}`)})
		c.Update(func(tx storage.Tx) error {
			if err := tx.PutMemory(c.Session, "bot", shoal.Memory{ID: "m1", Topic: "t", Content: "tea", CreatedAt: storecase.Time(1), UpdatedAt: storecase.Time(1)}); err != nil {
				return err
			}
			if err := tx.PutTexts(c.Session, []storage.ModelText{{Hash: "h", Body: "tea"}}); err != nil {
				return err
			}
			return tx.InsertAnswer(storage.AnswerKey{Session: c.Session, Scope: "s", Route: "r", Key: "k"}, storage.Answer{Body: []byte("tea"), At: storecase.Time(1)})
		})
		rows := 0
		for at, more := (storage.TracePosition{}), true; more; {
			page := storecase.Read(c, func(tx storage.Tx) ([]storage.Trace, error) { return tx.Traces(c.Session, storage.AllTraces, at, 1) })
			if more = len(page) > 0; !more {
				break
			}
			row := page[0]
			at = row.At
			for i, text := range row.Texts {
				switch text {
				case "tea":
					row.Texts[i] = "rum"
				case `{"text":"tea"}`:
					row.Texts[i] = `{"text":"rum"}`
				default:
					continue
				}
				rows++
				c.Update(func(tx storage.Tx) error { return tx.SetTrace(c.Session, row) })
			}
		}
		storecase.Equal(c, "the rows with the text", rows, 4)
		storecase.Equal(c, "the text of a model", storecase.Read(c, func(tx storage.Tx) (map[string]string, error) { return tx.ModelTexts(c.Session, []string{"h"}) }), map[string]string{"h": "rum"})
	},
}
