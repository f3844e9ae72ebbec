package coretest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// appendEvent appends an event and returns its position.
func appendEvent(c *storecase.Case, space shoal.SpaceID, about shoal.EntityID) int64 {
	c.Helper()
	return storecase.Do(c, func(tx storage.Tx) (int64, error) {
		return tx.AppendEvent(storage.Event{Session: c.Session, Position: 99, Space: space, Entity: about, Type: shoal.EventMemberJoined, Data: []byte(`{"a":"ü"}`)})
	})
}

// eventPositions lists the positions of events.
func eventPositions(c *storecase.Case, filter storage.EventFilter, after int64, limit int) (all []int64) {
	c.Helper()
	for _, e := range storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) { return tx.Events(c.Session, filter, after, limit) }) {
		all = append(all, e.Position)
	}
	return all
}

var eventTests = map[string]func(*storecase.Case){
	"positions count from 1 in each session": func(c *storecase.Case) {
		end := func() int64 {
			return storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.EventEnd(c.Session) })
		}
		storecase.Equal(c, "the end at first", end(), 0)
		other := storecase.New(c.T, c.Store)
		for i := range 3 {
			storecase.Equal(c, "the place", appendEvent(c, "shop", ""), int64(i+1))
			storecase.Equal(c, "the end", end(), int64(i+1))
			appendEvent(other, "shop", "")
		}
	},

	"an event is read as it was stored": func(c *storecase.Case) {
		appendEvent(c, "shop", "ann")
		storecase.Equal(c, "the events", storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) {
			return tx.Events(c.Session, storage.EventFilter{}, 0, 9)
		}), []storage.Event{{Session: c.Session, Position: 1, Space: "shop", Entity: "ann", Type: shoal.EventMemberJoined, Data: []byte(`{"a":"ü"}`)}})
		storecase.Equal(c, "no events", storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) {
			return tx.Events(c.Session, storage.EventFilter{}, 1, 9)
		}), []storage.Event{})
	},

	"the event of a posted message is derived from the message": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		c.AddSpace("yard", "ann")
		m := c.NewMessage("shop", "ann", "hi <there> \u2028 ü", "bob")
		m.Seq, m.DroppedMentions = 1, []shoal.EntityID{"zoe", "yan"}
		c.Update(func(tx storage.Tx) error {
			return tx.PostMessage(m, storage.PostKey{Scope: "entity:ann", Key: "k", Hash: "h"})
		})
		appendEvent(c, "shop", "bob")
		c.Say("shop", "bob", "later")
		want, err := shoal.EncodeJSON(shoal.MessageData{EventHead: shoal.EventHead{Type: shoal.EventMessageCreated, SpaceID: &m.SpaceID, At: m.CreatedAt}, Message: m})
		if err != nil {
			c.Fatal(err)
		}
		for _, filter := range []storage.EventFilter{{}, {Space: "shop"}, {Entity: "bob"}} {
			all := storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) { return tx.Events(c.Session, filter, 0, 1) })
			storecase.Equal(c, fmt.Sprintf("the first event of %+v", filter), all,
				[]storage.Event{{Session: c.Session, Position: 1, Space: "shop", Type: shoal.EventMessageCreated, Data: want}})
			storecase.Equal(c, "what follows it", eventPositions(c, filter, 1, 9), []int64{2, 3})
		}
		storecase.Equal(c, "what another space has", eventPositions(c, storage.EventFilter{Space: "yard"}, 0, 9), nil)
	},

	"events of posted messages and other events have one order, from any position and in pages": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		c.AddSpace("yard", "ann")
		c.AddSpace("hall", "bob")
		spaceOf := []shoal.SpaceID{""} // by position
		run := shoal.RunID("run_1")
		for i := range 400 {
			space := []shoal.SpaceID{"shop", "yard", "shop", "hall"}[i%4]
			if i > 300 && space == "hall" {
				space = "shop" // no more events in the hall
			}
			switch {
			case i%7 == 3:
				appendEvent(c, space, "")
			case i%11 == 5: // a message of a run, which has events of its own
				m := c.NewMessage(space, "ann", "written by a run")
				m.RunID = &run
				c.Update(func(tx storage.Tx) error {
					s, err := tx.LockSpace(c.Session, space)
					if err != nil {
						return err
					}
					m.Seq = s.LastSeq + 1
					return tx.InsertMessage(m, storage.PostKey{})
				})
				continue
			default:
				c.Say(space, "ann", "posted")
			}
			spaceOf = append(spaceOf, space)
		}
		for filter, in := range map[storage.EventFilter]string{
			{}: "shop yard hall", {Space: "shop"}: "shop", {Space: "yard"}: "yard", {Space: "hall"}: "hall", {Entity: "ann"}: "shop yard", {Entity: "bob"}: "shop hall", {Space: "nowhere"}: "",
		} {
			for after := range spaceOf {
				for _, limit := range []int{1, 7, 1000} {
					var want []int64
					for place := after + 1; place < len(spaceOf) && len(want) < limit; place++ {
						if slices.Contains(strings.Fields(in), string(spaceOf[place])) {
							want = append(want, int64(place))
						}
					}
					storecase.Equal(c, fmt.Sprintf("the first %d of %+v after %d", limit, filter, after), eventPositions(c, filter, int64(after), limit), want)
				}
			}
		}
		storecase.Equal(c, "the end", storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.EventEnd(c.Session) }), int64(len(spaceOf)-1))
	},

	"trimming also removes events of posted messages except the newest": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann")
		c.AddSpace("yard", "bob")
		appendEvent(c, "shop", "") // 1
		c.Say("yard", "bob", "here")
		for range 5 { // 3 … 7
			c.Say("shop", "ann", "hi")
		}
		appendEvent(c, "shop", "") // 8
		for _, keep := range []int{9, 5} {
			c.Update(func(tx storage.Tx) error { return tx.TrimEvents(c.Session, "shop", keep) })
			storecase.Equal(c, fmt.Sprintf("the floor with %d kept", keep), storecase.EventFloor(c, storage.EventFilter{Space: "shop"}), 0)
		}
		c.Update(func(tx storage.Tx) error { return tx.TrimEvents(c.Session, "shop", 3) })
		storecase.Equal(c, "the floor with three kept", storecase.EventFloor(c, storage.EventFilter{Space: "shop"}), 4)
		storecase.Equal(c, "what is after it", eventPositions(c, storage.EventFilter{Space: "shop"}, 4, 9), []int64{5, 6, 7, 8})
		storecase.Equal(c, "another space's floor", storecase.EventFloor(c, storage.EventFilter{Space: "yard"}), 0)
		storecase.Equal(c, "the session's floor", storecase.EventFloor(c, storage.EventFilter{}), 4)
		c.Update(func(tx storage.Tx) error { return tx.TrimEvents(c.Session, "shop", 0) })
		storecase.Equal(c, "the floor with none kept", storecase.EventFloor(c, storage.EventFilter{Space: "shop"}), 6)
		storecase.Equal(c, "the end", storecase.Read(c, func(tx storage.Tx) (int64, error) { return tx.EventEnd(c.Session) }), 8)
		appendEvent(c, "yard", "")
		storecase.Equal(c, "what comes then", eventPositions(c, storage.EventFilter{}, 8, 9), []int64{9})
	},

	"events of a space, of an entity and its spaces, or of the session": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann")
		c.AddSpace("yard", "ann", "bob")
		for _, e := range []struct {
			space shoal.SpaceID
			about shoal.EntityID
		}{{"shop", ""}, {"yard", ""}, {"shop", "bob"}, {"shop", "ann"}, {"yard", "ann"}, {"shop", ""}} {
			appendEvent(c, e.space, e.about)
		}
		for _, f := range []struct {
			filter storage.EventFilter
			after  int64
			limit  int
			want   []int64
		}{
			{storage.EventFilter{}, 0, 9, []int64{1, 2, 3, 4, 5, 6}},
			{storage.EventFilter{}, 4, 9, []int64{5, 6}},
			{storage.EventFilter{}, 1, 2, []int64{2, 3}},
			{storage.EventFilter{Space: "shop"}, 0, 9, []int64{1, 3, 4, 6}},
			{storage.EventFilter{Space: "shop"}, 3, 1, []int64{4}},
			{storage.EventFilter{Entity: "ann"}, 0, 9, []int64{1, 2, 3, 4, 5, 6}},
			{storage.EventFilter{Entity: "bob"}, 0, 9, []int64{2, 3, 5}},
			{storage.EventFilter{Entity: "bob"}, 2, 1, []int64{3}},
			{storage.EventFilter{Entity: "nobody"}, 0, 9, nil},
		} {
			storecase.Equal(c, fmt.Sprintf("what matches %+v", f), eventPositions(c, f.filter, f.after, f.limit), f.want)
		}
		c.Update(func(tx storage.Tx) error { return tx.DeleteMember(c.Session, "yard", "bob") })
		storecase.Equal(c, "what bob follows after leaving", eventPositions(c, storage.EventFilter{Entity: "bob"}, 0, 9), []int64{3})
	},

	"trimming keeps the newest events of a space, and stores the position of the newest removed one": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann")
		c.AddSpace("yard", "bob")
		trim := func(space shoal.SpaceID, keep int) {
			c.Update(func(tx storage.Tx) error { return tx.TrimEvents(c.Session, space, keep) })
		}
		appendEvent(c, "shop", "cid") // 1
		appendEvent(c, "yard", "")    // 2
		for range 4 {                 // 3 … 6
			appendEvent(c, "shop", "")
		}
		trim("shop", 9)
		storecase.Equal(c, "the floor when nothing was trimmed", storecase.EventFloor(c, storage.EventFilter{Space: "shop"}), 0)
		trim("shop", 2)
		trim("nowhere", 2)
		storecase.Equal(c, "what is left", eventPositions(c, storage.EventFilter{}, 0, 9), []int64{2, 5, 6})
		for _, f := range []struct {
			filter storage.EventFilter
			want   int64
		}{
			{storage.EventFilter{Space: "shop"}, 4},
			{storage.EventFilter{Space: "yard"}, 0},
			{storage.EventFilter{Entity: "ann"}, 4},
			{storage.EventFilter{Entity: "bob"}, 0},
			{storage.EventFilter{Entity: "cid"}, 1}, // no member, but one was about it
			{storage.EventFilter{}, 4},
		} {
			storecase.Equal(c, fmt.Sprintf("the floor of %+v", f.filter), storecase.EventFloor(c, f.filter), f.want)
		}
		c.Update(func(tx storage.Tx) error {
			return tx.InsertMember(c.Session, "shop", shoal.Member{EntityID: "bob", JoinedAt: storecase.Time(1)})
		})
		storecase.Equal(c, "the floor of one who joined", storecase.EventFloor(c, storage.EventFilter{Entity: "bob"}), 4)
		trim("shop", 1)
		storecase.Equal(c, "the floor after more", storecase.EventFloor(c, storage.EventFilter{Space: "shop"}), 5)
	},

	"events of a run include those without a space, which no other filter returns": func(c *storecase.Case) {
		c.AddEntities("ann")
		c.AddSpace("shop", "ann")
		c.AddRuns(c.NewRun("r1", "bot", "shop"), c.NewRun("r2", "bot", "shop"))
		tell := func(space shoal.SpaceID, about shoal.EntityID, run shoal.RunID) {
			c.Update(func(tx storage.Tx) error {
				_, err := tx.AppendEvent(storage.Event{
					Session: c.Session, Space: space, Entity: about, Run: run, Private: run == "r2", Type: shoal.EventStepStarted, Data: []byte(`{}`),
				})
				return err
			})
		}
		tell("shop", "", "r1") // 1
		tell("", "", "r1")     // 2
		tell("shop", "", "")   // 3
		tell("", "", "r2")     // 4
		tell("", "ann", "r1")  // 5
		tell("shop", "", "r2") // 6
		tell("shop", "", "r1") // 7
		storecase.Equal(c, "the first run's", eventPositions(c, storage.EventFilter{Run: "r1"}, 0, 9), []int64{1, 2, 5, 7})
		storecase.Equal(c, "two of them", eventPositions(c, storage.EventFilter{Run: "r1"}, 1, 2), []int64{2, 5})
		storecase.Equal(c, "the space's", eventPositions(c, storage.EventFilter{Space: "shop"}, 0, 9), []int64{1, 3, 6, 7})
		storecase.Equal(c, "ann's", eventPositions(c, storage.EventFilter{Entity: "ann"}, 0, 9), []int64{1, 3, 6, 7})
		storecase.Equal(c, "the session's", eventPositions(c, storage.EventFilter{}, 0, 9), []int64{1, 3, 6, 7})
		storecase.Equal(c, "the second run's", storecase.Read(c, func(tx storage.Tx) ([]storage.Event, error) {
			return tx.Events(c.Session, storage.EventFilter{Run: "r2"}, 4, 9)
		}), []storage.Event{{Session: c.Session, Position: 6, Space: "shop", Run: "r2", Private: true, Type: shoal.EventStepStarted, Data: []byte(`{}`)}})
		c.Update(func(tx storage.Tx) error { return tx.TrimEvents(c.Session, "", 1) })
		storecase.Equal(c, "the first run's after trimming", eventPositions(c, storage.EventFilter{Run: "r1"}, 0, 9), []int64{1, 5, 7})
		c.Update(func(tx storage.Tx) error { return tx.TrimEvents(c.Session, "shop", 2) })
		storecase.Equal(c, "the first run's after more", eventPositions(c, storage.EventFilter{Run: "r1"}, 0, 9), []int64{5, 7})
		for _, f := range []struct {
			filter storage.EventFilter
			want   int64
		}{{storage.EventFilter{Run: "r1"}, 2}, {storage.EventFilter{Run: "r2"}, 4}, {storage.EventFilter{Run: "r3"}, 0}, {storage.EventFilter{}, 3}, {storage.EventFilter{Entity: "ann"}, 3}} {
			storecase.Equal(c, fmt.Sprintf("the floor of %+v", f.filter), storecase.EventFloor(c, f.filter), f.want)
		}
	},

	"the position of a trimmed event is not assigned again": func(c *storecase.Case) {
		appendEvent(c, "shop", "")
		appendEvent(c, "shop", "")
		c.Update(func(tx storage.Tx) error { return tx.TrimEvents(c.Session, "shop", 0) })
		storecase.Equal(c, "the next place", appendEvent(c, "shop", ""), 3)
	},
}
