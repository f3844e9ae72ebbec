package shoaltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// happen appends an event and returns its position.
func happen(c *storeCase, space shoal.SpaceID, about shoal.EntityID) int64 {
	c.Helper()
	return done(c, func(tx hub.Tx) (int64, error) {
		return tx.AppendEvent(hub.StoredEvent{Session: c.session, Place: 99, Space: space, Entity: about, Type: shoal.EventMemberJoined, Data: []byte(`{"a":"ü"}`)})
	})
}

// happened lists the positions of events.
func happened(c *storeCase, filter hub.EventFilter, after int64, limit int) (all []int64) {
	c.Helper()
	for _, e := range seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) { return tx.Events(c.session, filter, after, limit) }) {
		all = append(all, e.Place)
	}
	return all
}

func floor(c *storeCase, filter hub.EventFilter) int64 {
	c.Helper()
	return seen(c, func(tx hub.Tx) (int64, error) { return tx.EventFloor(c.session, filter) })
}

var eventTests = map[string]func(*storeCase){
	"places count from 1, in each session for itself": func(c *storeCase) {
		end := func() int64 {
			return seen(c, func(tx hub.Tx) (int64, error) { return tx.EventEnd(c.session) })
		}
		same(c, "the end at first", end(), 0)
		other := newStoreCase(c.T, c.store)
		for i := range 3 {
			same(c, "the place", happen(c, "shop", ""), int64(i+1))
			same(c, "the end", end(), int64(i+1))
			happen(other, "shop", "")
		}
	},

	"an event comes back as it was stored": func(c *storeCase) {
		happen(c, "shop", "ann")
		same(c, "the events", seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) {
			return tx.Events(c.session, hub.EventFilter{}, 0, 9)
		}), []hub.StoredEvent{{Session: c.session, Place: 1, Space: "shop", Entity: "ann", Type: shoal.EventMemberJoined, Data: []byte(`{"a":"ü"}`)}})
		same(c, "no events", seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) {
			return tx.Events(c.session, hub.EventFilter{}, 1, 9)
		}), []hub.StoredEvent{})
	},

	"the event of a posted message is derived from the message": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		c.space("yard", "ann")
		m := c.message("shop", "ann", "hi <there> \u2028 ü", "bob")
		m.Seq, m.DroppedMentions = 1, []shoal.EntityID{"zoe", "yan"}
		c.update(func(tx hub.Tx) error {
			return tx.PostMessage(m, hub.PostKey{Scope: "entity:ann", Key: "k", Hash: "h"})
		})
		happen(c, "shop", "bob")
		c.say("shop", "bob", "later")
		want, err := shoal.EncodeJSON(shoal.MessageData{EventHead: shoal.EventHead{Type: shoal.EventMessageCreated, SpaceID: &m.SpaceID, At: m.CreatedAt}, Message: m})
		if err != nil {
			c.Fatal(err)
		}
		for _, filter := range []hub.EventFilter{{}, {Space: "shop"}, {Entity: "bob"}} {
			all := seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) { return tx.Events(c.session, filter, 0, 1) })
			same(c, fmt.Sprintf("the first event of %+v", filter), all,
				[]hub.StoredEvent{{Session: c.session, Place: 1, Space: "shop", Type: shoal.EventMessageCreated, Data: want}})
			same(c, "what follows it", happened(c, filter, 1, 9), []int64{2, 3})
		}
		same(c, "what another space has", happened(c, hub.EventFilter{Space: "yard"}, 0, 9), nil)
	},

	"those of posted messages and the others have one order, from any place and in pages": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann", "bob")
		c.space("yard", "ann")
		c.space("hall", "bob")
		spaceOf := []shoal.SpaceID{""} // by position
		run := shoal.RunID("run_1")
		for i := range 400 {
			space := []shoal.SpaceID{"shop", "yard", "shop", "hall"}[i%4]
			if i > 300 && space == "hall" {
				space = "shop" // no more events in the hall
			}
			switch {
			case i%7 == 3:
				happen(c, space, "")
			case i%11 == 5: // a message of a run, which has events of its own
				m := c.message(space, "ann", "written by a run")
				m.RunID = &run
				c.update(func(tx hub.Tx) error {
					s, err := tx.LockSpace(c.session, space)
					if err != nil {
						return err
					}
					m.Seq = s.LastSeq + 1
					return tx.InsertMessage(m, hub.PostKey{})
				})
				continue
			default:
				c.say(space, "ann", "posted")
			}
			spaceOf = append(spaceOf, space)
		}
		for filter, in := range map[hub.EventFilter]string{
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
					same(c, fmt.Sprintf("the first %d of %+v after %d", limit, filter, after), happened(c, filter, int64(after), limit), want)
				}
			}
		}
		same(c, "the end", seen(c, func(tx hub.Tx) (int64, error) { return tx.EventEnd(c.session) }), int64(len(spaceOf)-1))
	},

	"trimming forgets those of posted messages beyond the newest, too": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann")
		c.space("yard", "bob")
		happen(c, "shop", "") // 1
		c.say("yard", "bob", "here")
		for range 5 { // 3 … 7
			c.say("shop", "ann", "hi")
		}
		happen(c, "shop", "") // 8
		for _, keep := range []int{9, 5} {
			c.update(func(tx hub.Tx) error { return tx.TrimEvents(c.session, "shop", keep) })
			same(c, fmt.Sprintf("the floor with %d kept", keep), floor(c, hub.EventFilter{Space: "shop"}), 0)
		}
		c.update(func(tx hub.Tx) error { return tx.TrimEvents(c.session, "shop", 3) })
		same(c, "the floor with three kept", floor(c, hub.EventFilter{Space: "shop"}), 4)
		same(c, "what is after it", happened(c, hub.EventFilter{Space: "shop"}, 4, 9), []int64{5, 6, 7, 8})
		same(c, "another space's floor", floor(c, hub.EventFilter{Space: "yard"}), 0)
		same(c, "the session's floor", floor(c, hub.EventFilter{}), 4)
		c.update(func(tx hub.Tx) error { return tx.TrimEvents(c.session, "shop", 0) })
		same(c, "the floor with none kept", floor(c, hub.EventFilter{Space: "shop"}), 6)
		same(c, "the end", seen(c, func(tx hub.Tx) (int64, error) { return tx.EventEnd(c.session) }), 8)
		happen(c, "yard", "")
		same(c, "what comes then", happened(c, hub.EventFilter{}, 8, 9), []int64{9})
	},

	"of a space, of an entity's spaces with what is about itself, or of the session": func(c *storeCase) {
		c.entities("ann", "bob")
		c.space("shop", "ann")
		c.space("yard", "ann", "bob")
		for _, e := range []struct {
			space shoal.SpaceID
			about shoal.EntityID
		}{{"shop", ""}, {"yard", ""}, {"shop", "bob"}, {"shop", "ann"}, {"yard", "ann"}, {"shop", ""}} {
			happen(c, e.space, e.about)
		}
		for _, f := range []struct {
			filter hub.EventFilter
			after  int64
			limit  int
			want   []int64
		}{
			{hub.EventFilter{}, 0, 9, []int64{1, 2, 3, 4, 5, 6}},
			{hub.EventFilter{}, 4, 9, []int64{5, 6}},
			{hub.EventFilter{}, 1, 2, []int64{2, 3}},
			{hub.EventFilter{Space: "shop"}, 0, 9, []int64{1, 3, 4, 6}},
			{hub.EventFilter{Space: "shop"}, 3, 1, []int64{4}},
			{hub.EventFilter{Entity: "ann"}, 0, 9, []int64{1, 2, 3, 4, 5, 6}},
			{hub.EventFilter{Entity: "bob"}, 0, 9, []int64{2, 3, 5}},
			{hub.EventFilter{Entity: "bob"}, 2, 1, []int64{3}},
			{hub.EventFilter{Entity: "nobody"}, 0, 9, nil},
		} {
			same(c, fmt.Sprintf("what matches %+v", f), happened(c, f.filter, f.after, f.limit), f.want)
		}
		c.update(func(tx hub.Tx) error { return tx.DeleteMember(c.session, "yard", "bob") })
		same(c, "what bob follows after leaving", happened(c, hub.EventFilter{Entity: "bob"}, 0, 9), []int64{3})
	},

	"trimming keeps the newest of a space, and remembers up to where it went": func(c *storeCase) {
		c.entities("ann", "bob", "cid")
		c.space("shop", "ann")
		c.space("yard", "bob")
		trim := func(space shoal.SpaceID, keep int) {
			c.update(func(tx hub.Tx) error { return tx.TrimEvents(c.session, space, keep) })
		}
		happen(c, "shop", "cid") // 1
		happen(c, "yard", "")    // 2
		for range 4 {            // 3 … 6
			happen(c, "shop", "")
		}
		trim("shop", 9)
		same(c, "the floor when nothing was trimmed", floor(c, hub.EventFilter{Space: "shop"}), 0)
		trim("shop", 2)
		trim("nowhere", 2)
		same(c, "what is left", happened(c, hub.EventFilter{}, 0, 9), []int64{2, 5, 6})
		for _, f := range []struct {
			filter hub.EventFilter
			want   int64
		}{
			{hub.EventFilter{Space: "shop"}, 4},
			{hub.EventFilter{Space: "yard"}, 0},
			{hub.EventFilter{Entity: "ann"}, 4},
			{hub.EventFilter{Entity: "bob"}, 0},
			{hub.EventFilter{Entity: "cid"}, 1}, // no member, but one was about it
			{hub.EventFilter{}, 4},
		} {
			same(c, fmt.Sprintf("the floor of %+v", f.filter), floor(c, f.filter), f.want)
		}
		c.update(func(tx hub.Tx) error {
			return tx.InsertMember(c.session, "shop", shoal.Member{EntityID: "bob", JoinedAt: storeTime(1)})
		})
		same(c, "the floor of one who joined", floor(c, hub.EventFilter{Entity: "bob"}), 4)
		trim("shop", 1)
		same(c, "the floor after more", floor(c, hub.EventFilter{Space: "shop"}), 5)
	},

	"a run's events, those without a space among them, which nobody else sees": func(c *storeCase) {
		c.entities("ann")
		c.space("shop", "ann")
		c.runs(c.run("r1", "bot", "shop"), c.run("r2", "bot", "shop"))
		tell := func(space shoal.SpaceID, about shoal.EntityID, run shoal.RunID) {
			c.update(func(tx hub.Tx) error {
				_, err := tx.AppendEvent(hub.StoredEvent{
					Session: c.session, Space: space, Entity: about, Run: run, Private: run == "r2", Type: shoal.EventStepStarted, Data: []byte(`{}`),
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
		same(c, "the first run's", happened(c, hub.EventFilter{Run: "r1"}, 0, 9), []int64{1, 2, 5, 7})
		same(c, "two of them", happened(c, hub.EventFilter{Run: "r1"}, 1, 2), []int64{2, 5})
		same(c, "the space's", happened(c, hub.EventFilter{Space: "shop"}, 0, 9), []int64{1, 3, 6, 7})
		same(c, "ann's", happened(c, hub.EventFilter{Entity: "ann"}, 0, 9), []int64{1, 3, 6, 7})
		same(c, "the session's", happened(c, hub.EventFilter{}, 0, 9), []int64{1, 3, 6, 7})
		same(c, "the second run's", seen(c, func(tx hub.Tx) ([]hub.StoredEvent, error) {
			return tx.Events(c.session, hub.EventFilter{Run: "r2"}, 4, 9)
		}), []hub.StoredEvent{{Session: c.session, Place: 6, Space: "shop", Run: "r2", Private: true, Type: shoal.EventStepStarted, Data: []byte(`{}`)}})
		c.update(func(tx hub.Tx) error { return tx.TrimEvents(c.session, "", 1) })
		same(c, "the first run's after trimming", happened(c, hub.EventFilter{Run: "r1"}, 0, 9), []int64{1, 5, 7})
		c.update(func(tx hub.Tx) error { return tx.TrimEvents(c.session, "shop", 2) })
		same(c, "the first run's after more", happened(c, hub.EventFilter{Run: "r1"}, 0, 9), []int64{5, 7})
		for _, f := range []struct {
			filter hub.EventFilter
			want   int64
		}{{hub.EventFilter{Run: "r1"}, 2}, {hub.EventFilter{Run: "r2"}, 4}, {hub.EventFilter{Run: "r3"}, 0}, {hub.EventFilter{}, 3}, {hub.EventFilter{Entity: "ann"}, 3}} {
			same(c, fmt.Sprintf("the floor of %+v", f.filter), floor(c, f.filter), f.want)
		}
	},

	"a trimmed place is not given again": func(c *storeCase) {
		happen(c, "shop", "")
		happen(c, "shop", "")
		c.update(func(tx hub.Tx) error { return tx.TrimEvents(c.session, "shop", 0) })
		same(c, "the next place", happen(c, "shop", ""), 3)
	},
}

var keyTests = map[string]func(*storeCase){
	"it comes back as it was stored, by its hash": func(c *storeCase) {
		full := shoal.Key{
			ID: "k1-" + shoal.KeyID(c.session), Role: shoal.RoleEntity, SessionID: &c.session, EntityID: ref(shoal.EntityID("ann")), Name: "laptop",
			CreatedAt: storeTime(1), ExpiresAt: ref(storeTime(2)), LastUsedAt: ref(storeTime(3)),
		}
		admin := shoal.Key{ID: "k2-" + shoal.KeyID(c.session), Role: shoal.RoleAdmin, CreatedAt: storeTime(1)}
		hash := "h-" + string(c.session)
		c.update(func(tx hub.Tx) error {
			if err := tx.InsertKey(full, hash+"1"); err != nil {
				return err
			}
			return tx.InsertKey(admin, hash+"2")
		})
		byHash := func(h string) shoal.Key {
			return seen(c, func(tx hub.Tx) (shoal.Key, error) { return tx.KeyByHash(h) })
		}
		same(c, "the entity's key", byHash(hash+"1"), full)
		same(c, "the admin's key", byHash(hash+"2"), admin)
		c.update(func(tx hub.Tx) error {
			return tx.UsedKeys(map[shoal.KeyID]shoal.Time{admin.ID: storeTime(7), "unknown": storeTime(8)})
		})
		admin.LastUsedAt = ref(storeTime(7))
		same(c, "the used key", byHash(hash+"2"), admin)
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertKey(full, hash+"3") })
		c.update(func(tx hub.Tx) error {
			if err := tx.SetExplicit(c.session, "ann", full.ID); err != nil {
				return err
			}
			return tx.DeleteKey("", full.ID)
		})
		c.absent(func(tx hub.Tx) error { _, err := tx.KeyByHash(hash + "1"); return err })
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteKey("", full.ID) })
		same(c, "whether the deleted one was revoked", seen(c, func(tx hub.Tx) (bool, error) { return tx.RevokedKey(hash + "1") }), true)
		same(c, "whether the other one was", seen(c, func(tx hub.Tx) (bool, error) { return tx.RevokedKey(hash + "2") }), false)
	},

	"sign-ins are found by their key, and swept when they have ended": func(c *storeCase) {
		of := shoal.KeyID("of-" + c.session)
		id := func(name string) shoal.KeyID { return shoal.KeyID(name + "-" + string(c.session)) }
		for name, k := range map[string]shoal.Key{
			"ended":  {CreatedAt: storeTime(1), ExpiresAt: ref(storeTime(5)), LastUsedAt: ref(storeTime(9))},
			"unused": {CreatedAt: storeTime(1), ExpiresAt: ref(storeTime(9)), LastUsedAt: ref(storeTime(3))},
			"never":  {CreatedAt: storeTime(3), ExpiresAt: ref(storeTime(9))},
			"fresh":  {CreatedAt: storeTime(4), ExpiresAt: ref(storeTime(6))},
			"used":   {CreatedAt: storeTime(1), ExpiresAt: ref(storeTime(6)), LastUsedAt: ref(storeTime(4))},
		} {
			k.ID, k.Role, k.Name = id(name), shoal.RoleAdmin, "console"
			c.update(func(tx hub.Tx) error { return tx.InsertSignIn(k, "hash-"+string(k.ID), of) })
		}
		plain := shoal.Key{ID: id("plain"), Role: shoal.RoleAdmin, Name: "console", CreatedAt: storeTime(1), ExpiresAt: ref(storeTime(2))}
		c.update(func(tx hub.Tx) error { return tx.InsertKey(plain, "hash-plain-"+string(c.session)) })
		found := func(of shoal.KeyID) []shoal.KeyID {
			ids := seen(c, func(tx hub.Tx) ([]shoal.KeyID, error) { return tx.SignIns(of) })
			slices.Sort(ids)
			return ids
		}
		same(c, "the sign-ins of the key", found(of), []shoal.KeyID{id("ended"), id("fresh"), id("never"), id("unused"), id("used")})
		c.update(func(tx hub.Tx) error { return tx.SweepSignIns(storeTime(5), storeTime(3)) })
		same(c, "those that are left", found(of), []shoal.KeyID{id("fresh"), id("used")})
		same(c, "those of another key", len(found(plain.ID)), 0)
		same(c, "the hash of a sign-in", seen(c, func(tx hub.Tx) (string, error) { return tx.KeyHash(id("fresh")) }), "hash-"+string(id("fresh")))
		same(c, "the hash of a key", seen(c, func(tx hub.Tx) (string, error) { return tx.KeyHash(plain.ID) }), "hash-plain-"+string(c.session))
		c.refused(shoal.AlreadyExists, func(tx hub.Tx) error { return tx.InsertSignIn(plain, "other", of) })
		c.update(func(tx hub.Tx) error { return tx.DeleteKey("", id("fresh")) })
		c.absent(func(tx hub.Tx) error { _, err := tx.KeyHash(id("fresh")); return err })
		same(c, "those that are left then", found(of), []shoal.KeyID{id("used")})
	},

	"a session sees and revokes its own only": func(c *storeCase) {
		other := newStoreCase(c.T, c.store)
		for _, s := range []*storeCase{c, other} {
			c.update(func(tx hub.Tx) error {
				return tx.InsertKey(shoal.Key{ID: shoal.KeyID("own-" + s.session), Role: shoal.RoleService, SessionID: &s.session}, "own-"+string(s.session))
			})
		}
		own := seen(c, func(tx hub.Tx) ([]shoal.Key, error) { return tx.Keys(c.session, "", 10) })
		if len(own) != 1 || own[0].ID != shoal.KeyID("own-"+c.session) {
			c.Errorf("the session lists %v", own)
		}
		c.refused(shoal.NotFound, func(tx hub.Tx) error { return tx.DeleteKey(c.session, shoal.KeyID("own-"+other.session)) })
		c.update(func(tx hub.Tx) error { return tx.DeleteKey(other.session, shoal.KeyID("own-"+other.session)) })
	},

	"they are listed in the order of the bytes of their ids": func(c *storeCase) {
		var want []string
		for _, id := range trickyIDs {
			id = string(c.session) + id
			want = append(want, id)
			c.update(func(tx hub.Tx) error { return tx.InsertKey(shoal.Key{ID: shoal.KeyID(id), Role: shoal.RoleAdmin}, id) })
		}
		var got []string
		for after := shoal.KeyID(c.session); len(got) < len(want); {
			page := seen(c, func(tx hub.Tx) ([]shoal.Key, error) { return tx.Keys("", after, 3) })
			if len(page) == 0 {
				break
			}
			for _, k := range page {
				got = append(got, string(k.ID))
				after = k.ID
			}
		}
		same(c, "the list", got[:min(len(want), len(got))], want)
	},

	"rights that have ended are found among those that are held": func(c *storeCase) {
		id := func(name string) shoal.KeyID { return shoal.KeyID(name + "-" + string(c.session)) }
		c.entities("ann", "bob")
		for name, expires := range map[string]*shoal.Time{"stays": nil, "later": ref(storeTime(9)), "expired": ref(storeTime(8)), "revoked": nil} {
			c.update(func(tx hub.Tx) error {
				return tx.InsertKey(shoal.Key{ID: id(name), Role: shoal.RoleAdmin, ExpiresAt: expires}, string(id(name)))
			})
		}
		c.update(func(tx hub.Tx) error {
			ann, err := tx.Entity(c.session, "ann")
			if err != nil {
				return err
			}
			ann.SessionRole = shoal.SessionOwner
			return errors.Join(tx.UpdateEntity(ann), tx.DeleteKey("", id("revoked")))
		})
		gone := newStoreCase(c.T, c.store)
		c.update(func(tx hub.Tx) error { return tx.DeleteSession(gone.session) })
		ref := func(e shoal.EntityID) hub.EntityRef { return hub.EntityRef{Session: c.session, ID: e} }
		held := hub.HeldRights{
			Keys: []shoal.KeyID{id("stays"), id("later"), id("expired"), id("revoked")}, Sessions: []shoal.SessionID{c.session, gone.session},
			Entities: []hub.EntityRef{ref("ann"), ref("bob"), ref("none")}, Owners: []hub.EntityRef{ref("ann"), ref("bob")},
		}
		ended := func(held hub.HeldRights) hub.HeldRights {
			got := seen(c, func(tx hub.Tx) (hub.HeldRights, error) { return tx.EndedRights(held, storeTime(8)) })
			slices.Sort(got.Keys)
			return got
		}
		same(c, "what has ended", ended(held), hub.HeldRights{
			Keys: []shoal.KeyID{id("expired"), id("revoked")}, Sessions: []shoal.SessionID{gone.session},
			Entities: []hub.EntityRef{ref("none")}, Owners: []hub.EntityRef{ref("bob")},
		})
		same(c, "what has ended of nothing", ended(hub.HeldRights{}), hub.HeldRights{})
	},

	"those of an entity are revoked at once": func(c *storeCase) {
		for i, entity := range []shoal.EntityID{"ann", "ann", "bob"} {
			c.update(func(tx hub.Tx) error {
				id := fmt.Sprintf("%s-%d", c.session, i)
				return tx.InsertKey(shoal.Key{ID: shoal.KeyID(id), Role: shoal.RoleEntity, SessionID: &c.session, EntityID: &entity}, id)
			})
		}
		c.update(func(tx hub.Tx) error { return tx.DeleteEntityKeys(c.session, "ann") })
		c.absent(func(tx hub.Tx) error { _, err := tx.KeyByHash(string(c.session) + "-0"); return err })
		same(c, "whether it was revoked", seen(c, func(tx hub.Tx) (bool, error) { return tx.RevokedKey(string(c.session) + "-0") }), true)
		c.absent(func(tx hub.Tx) error { _, err := tx.KeyByHash(string(c.session) + "-1"); return err })
		seen(c, func(tx hub.Tx) (shoal.Key, error) { return tx.KeyByHash(string(c.session) + "-2") })
	},
}

var answerTests = map[string]func(*storeCase){
	"it comes back as it was stored, until it is replaced or dropped": func(c *storeCase) {
		key := hub.AnswerKey{Session: c.session, Scope: "s", Route: "r", Key: "k"}
		first := hub.Answer{Hash: "h1", Body: []byte("\x00\xff{}"), At: storeTime(1)}
		second := hub.Answer{Hash: "h2", Body: []byte("{}"), At: storeTime(5)}
		get := func() hub.Answer {
			return seen(c, func(tx hub.Tx) (hub.Answer, error) { return tx.Answer(key) })
		}
		c.update(func(tx hub.Tx) error { return tx.InsertAnswer(key, first) })
		same(c, "the first answer", get(), first)
		c.update(func(tx hub.Tx) error { return tx.InsertAnswer(key, second) })
		same(c, "the second answer", get(), second)
		for _, change := range []func(*hub.AnswerKey){
			func(k *hub.AnswerKey) { k.Session = "x" },
			func(k *hub.AnswerKey) { k.Scope = "x" },
			func(k *hub.AnswerKey) { k.Route = "x" },
			func(k *hub.AnswerKey) { k.Key = "x" },
		} {
			other := key
			change(&other)
			c.absent(func(tx hub.Tx) error { _, err := tx.Answer(other); return err })
		}
		c.update(func(tx hub.Tx) error { return tx.DropAnswers(storeTime(5).Time) })
		get()
		c.update(func(tx hub.Tx) error { return tx.DropAnswers(storeTime(5).Add(time.Microsecond)) })
		c.absent(func(tx hub.Tx) error { _, err := tx.Answer(key); return err })
		c.update(func(tx hub.Tx) error { return tx.InsertAnswer(key, hub.Answer{Hash: "h3", At: storeTime(6)}) })
		same(c, "the length of an empty one", len(get().Body), 0)
	},
}
