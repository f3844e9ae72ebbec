package runstest

import (
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// retentionTests specify what of a session is found to be old, and what is dropped.
var retentionTests = map[string]func(*storecase.Case){
	"old messages are complete, not deleted, and show no open request": func(c *storecase.Case) {
		c.AddEntities("ann", "bot")
		c.AddSpace("shop", "ann", "bot")
		c.AddSpace("attic", "ann")
		post := func(space shoal.SpaceID, at int) shoal.Message {
			m := c.NewMessage(space, "ann", fmt.Sprint(at))
			m.CreatedAt = storecase.Time(at)
			return c.Post(m)
		}
		deleted := post("shop", 1)
		post("shop", 2)
		post("attic", 3)
		shows := post("shop", 4)
		post("shop", 5)
		c.Update(func(tx storage.Tx) error { return tx.EraseMessage(c.Session, deleted.ID, storecase.Time(9)) })
		c.AddRuns(c.NewRun("r1", "bot", "shop"))
		c.AddComposite("shop", "r1") // streaming
		open := c.NewPending("pnd_1", shoal.PendingPermission, "r1", "shop")
		open.MessageID = &shows.ID
		c.AddPending(open)
		old := func(before int) (texts []string) {
			texts = []string{}
			for after, more := (storage.MessagePosition{}), true; more; {
				found := storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) {
					return tx.OldMessages(c.Session, storecase.Time(before), after, 1)
				})
				more = len(found) > 0
				for _, m := range found {
					texts, after = append(texts, m.Text()), storage.MessagePosition{Space: m.SpaceID, Seq: m.Seq}
				}
			}
			return texts
		}
		storecase.Equal(c, "those from before the third", old(3), []string{"2"})
		storecase.Equal(c, "all, by space", old(100), []string{"3", "2", "5"})
	},

	"ended runs are dropped unless an open one needs them": func(c *storecase.Case) {
		c.AddEntities("ann", "bot")
		c.AddSpace("shop", "ann", "bot")
		run := func(id shoal.RunID, ended int, set func(*storage.Run)) {
			r := c.NewRun(id, "bot", "shop")
			r.CauseRoot = "root " + string(id)
			if r.Status = shoal.RunQueued; ended > 0 {
				r.Status, r.EndedAt = shoal.RunCompleted, storecase.Ptr(storecase.Time(ended))
			}
			if set != nil {
				set(&r)
			}
			c.AddRuns(r)
			c.AddSteps(id, storecase.NewStep(0, true))
		}
		run("old", 1, nil)
		run("older", 2, nil)
		run("young", 5, nil)
		run("same root", 1, func(r *storage.Run) { r.CauseRoot = "open" })
		run("same conversation", 1, func(r *storage.Run) { r.Conversation = "bot/shop" })
		run("whole", 1, nil)
		run("open", 0, func(r *storage.Run) { r.CauseRoot, r.Conversation = "open", "bot/shop" })
		run("part", 0, func(r *storage.Run) { r.PartOf = storecase.Ptr(shoal.RunID("whole")) })
		settled, open := c.NewPending("pnd_settled", shoal.PendingPermission, "", "shop"), c.NewPending("pnd_open", shoal.PendingPermission, "", "shop")
		settled.Status, settled.AnsweredAt, settled.CreatedAt, open.CreatedAt = shoal.PendingAnswered, storecase.Ptr(storecase.Time(2)), storecase.Time(1), storecase.Time(1)
		c.AddPending(settled, open)
		place := storecase.Do(c, func(tx storage.Tx) (place int64, err error) {
			for _, e := range []storage.Event{{Space: "shop"}, {Space: "shop", Run: "old"}, {Run: "old"}} {
				e.Session, e.Type, e.Data = c.Session, shoal.EventRunCreated, []byte(`{}`)
				if place, err = tx.AppendEvent(e); err != nil {
					return 0, err
				}
			}
			return place, nil
		})
		drop := func(limit int) int {
			return storecase.Do(c, func(tx storage.Tx) (int, error) { return tx.DropRuns(c.Session, storecase.Time(4), limit) })
		}
		storecase.Equal(c, "how many", []int{drop(1), drop(9), drop(9)}, []int{2, 1, 0})
		left := storecase.Read(c, func(tx storage.Tx) (ids []shoal.RunID, err error) {
			all, err := tx.Runs(c.Session, storage.RunFilter{})
			for _, r := range all {
				ids = append(ids, r.ID)
			}
			return ids, err
		})
		storecase.Equal(c, "the runs that are left", left, []shoal.RunID{"part", "open", "whole", "same conversation", "same root", "young"})
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Pending(c.Session, "pnd_settled"); return err })
		storecase.Read(c, func(tx storage.Tx) (storage.Pending, error) { return tx.Pending(c.Session, "pnd_open") })
		storecase.Equal(c, "the steps of a dropped run", len(storecase.Read(c, func(tx storage.Tx) ([]storage.Step, error) { return tx.RunSteps(c.Session, "old") })), 0)
		shop := storage.EventFilter{Space: "shop"}
		storecase.Equal(c, "up to where events are missing", storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.EventFloor(c.Session, shop) }), place-1)
		storecase.Equal(c, "the events that are left", len(storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) { return tx.Events(c.Session, shop, 0, 9) })), 1)
		next := storecase.Do(c, func(tx storage.Tx) (int64, error) {
			return tx.AppendEvent(storage.Event{Session: c.Session, Space: "shop", Type: shoal.EventSpaceUpdated, Data: []byte(`{}`)})
		})
		storecase.Equal(c, "the place of the next event", next, place+1)
	},
}
