// Package inboxtest compares the inboxes of a store with a model, in random courses.
package inboxtest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// Suites are the tests of this package.
var Suites = []storecase.Suite{{Name: "inbox courses", Tests: courses}}

// courses has a course for each of a few seeds.
var courses = func() map[string]func(*storecase.Case) {
	all := map[string]func(*storecase.Case){}
	for seed := range uint64(4) {
		all[fmt.Sprintf("random course %d equals the model", seed)] = func(c *storecase.Case) { newCourse(c, seed).run(150) }
	}
	return all
}()

// course is a random course of posts, reads and acknowledgments.
type course struct {
	*storecase.Case
	model
	rng      *rand.Rand
	entities []shoal.EntityID
	names    []shoal.SpaceID
	open     []*message // composite messages in progress
	versions int        // of the configuration of bot
}

func newCourse(c *storecase.Case, seed uint64) *course {
	u := &course{
		Case: c, rng: rand.New(rand.NewPCG(seed, 1)), entities: []shoal.EntityID{"ann", "bob", "bot", "cid"}, names: []shoal.SpaceID{"a", "b", "c"},
		model: model{
			members: map[shoal.SpaceID]map[shoal.EntityID]*member{}, hosted: map[shoal.EntityID]bool{},
			spaces: map[shoal.SpaceID][]*message{}, inboxes: map[shoal.EntityID][]entry{},
		},
	}
	c.AddEntities(u.entities...)
	for _, space := range u.names {
		c.AddSpace(space, u.entities...)
		u.members[space] = map[shoal.EntityID]*member{}
		for _, id := range u.entities {
			u.members[space][id] = &member{}
		}
	}
	return u
}

func (u *course) chance(percent int) bool { return u.rng.IntN(100) < percent }
func (u *course) space() shoal.SpaceID    { return u.names[u.rng.IntN(len(u.names))] }
func (u *course) entity() shoal.EntityID  { return u.entities[u.rng.IntN(len(u.entities))] }
func (u *course) in(space shoal.SpaceID) []shoal.EntityID {
	var ids []shoal.EntityID
	for _, id := range u.entities {
		if u.members[space][id] != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// run takes steps and compares the store with the model after each.
func (u *course) run(steps int) {
	for step := range steps {
		what := u.step()
		u.check(fmt.Sprintf("step %d, %s", step, what), u.entity())
		if u.Failed() {
			return
		}
	}
	for _, id := range u.entities {
		u.check("at the end", id)
	}
	u.checkCopy()
}

// step changes something at random and returns what.
func (u *course) step() string {
	space, id := u.space(), u.entity()
	ids := u.in(space)
	if len(ids) == 0 {
		return u.join(space, id)
	}
	member := ids[u.rng.IntN(len(ids))]
	switch n := u.rng.IntN(100); {
	case n < 30:
		u.say(space, 1+u.rng.IntN(3), func() shoal.EntityID { return u.sender(ids) })
		return "posts"
	case n < 33:
		u.say(space, 60, func() shoal.EntityID { return member }) // so that counts pass their stride
		return "many posts"
	case n < 40:
		return u.compose(space)
	case n < 58:
		return u.acknowledge(id)
	case n < 66:
		return u.readSpace(space, member)
	case n < 72:
		return u.mark(space, member)
	case n < 80:
		return u.deliver(id)
	case n < 85:
		muted := u.chance(50)
		u.members[space][member].muted = muted
		u.Update(func(tx storage.Tx) error { return tx.MuteMember(u.Session, space, member, muted) })
		return fmt.Sprintf("%s mutes %s: %v", member, space, muted)
	case n < 88:
		delete(u.members[space], member)
		u.remove(member, func(e entry) bool { return e.message.SpaceID == space })
		u.Update(func(tx storage.Tx) error { return tx.DeleteMember(u.Session, space, member) })
		return fmt.Sprintf("%s leaves %s", member, space)
	case n < 91:
		return u.join(space, id)
	case n < 94:
		return u.host()
	default:
		return u.change(space)
	}
}

func (u *course) sender(ids []shoal.EntityID) shoal.EntityID {
	if u.chance(8) {
		return shoal.System
	}
	return ids[u.rng.IntN(len(ids))]
}

func (u *course) mentions(percent int) (ids []shoal.EntityID) {
	for _, id := range u.entities {
		if u.chance(percent) {
			ids = append(ids, id)
		}
	}
	return ids
}

// say posts n messages in one transaction.
func (u *course) say(space shoal.SpaceID, n int, sender func() shoal.EntityID) {
	var all []*message
	u.Update(func(tx storage.Tx) error {
		all = nil
		for range n {
			m, err := storecase.Post(tx, u.NewMessage(space, sender(), "x", u.mentions(15)...))
			if err != nil {
				return err
			}
			all = append(all, &message{Message: m})
		}
		return nil
	})
	for _, m := range all {
		u.spaces[space] = append(u.spaces[space], m)
		u.model.deliver(m)
	}
}

// compose opens a composite message or completes one.
func (u *course) compose(space shoal.SpaceID) string {
	if len(u.open) < 3 && u.chance(60) {
		m := &message{Message: u.AddComposite(space, "run_1")}
		u.open, u.spaces[space] = append(u.open, m), append(u.spaces[space], m)
		return "a message is opened"
	}
	if len(u.open) == 0 {
		return "nothing"
	}
	i := u.rng.IntN(len(u.open))
	m := u.open[i]
	u.open = slices.Delete(u.open, i, i+1)
	m.Status, m.Mentions = shoal.MessageCompleted, append([]shoal.EntityID{}, u.mentions(20)...)
	m.Parts = []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: "x", Status: shoal.PartDone}}
	u.Update(func(tx storage.Tx) error {
		if err := tx.UpdateMessage(m.Message, nil); err != nil {
			return err
		}
		_, err := tx.Deliver(m.Message, nil)
		return err
	})
	u.model.deliver(m)
	return "a message is completed"
}

func (u *course) filter() (f storage.InboxFilter) {
	f.Kind = []shoal.WaitKind{shoal.WaitMentions, shoal.WaitMessages}[u.rng.IntN(2)]
	if u.chance(25) {
		f.Space = u.space()
	}
	if u.chance(25) {
		f.From = append(u.mentions(30), "nobody")
	}
	if u.chance(10) {
		f.After = u.rng.Int64N(u.place + 1)
	}
	return f
}

func (u *course) acknowledge(id shoal.EntityID) string {
	f, upTo := u.filter(), u.place
	if first := u.unread(id, f, 1+u.rng.IntN(20)); len(first) > 0 && u.chance(80) {
		upTo = first[len(first)-1].Place
	}
	u.model.acknowledge(id, f, upTo)
	what := fmt.Sprintf("%s acknowledges %+v up to %d", id, f, upTo)
	done := storecase.Do(u.Case, func(tx storage.Tx) (storage.Acknowledged, error) { return tx.Acknowledge(u.Session, id, f, upTo, nil) })
	f.After = max(f.After, upTo)
	storecase.Equal(u.Case, what+": whether later entries match", done.More, len(u.unread(id, f, 1)) > 0)
	return what
}

func (u *course) readSpace(space shoal.SpaceID, id shoal.EntityID) string {
	seq := u.rng.Int64N(int64(len(u.spaces[space])) + 2)
	u.remove(id, func(e entry) bool { return e.message.SpaceID == space && e.message.Seq <= seq })
	u.Update(func(tx storage.Tx) error { return tx.AcknowledgeSpace(u.Session, space, id, seq) })
	return fmt.Sprintf("%s reads %s up to %d", id, space, seq)
}

func (u *course) mark(space shoal.SpaceID, id shoal.EntityID) string {
	seq, limit := max(1, int64(len(u.spaces[space]))-u.rng.Int64N(20)), 1+u.rng.IntN(15)
	u.markUnread(id, space, seq, limit)
	u.Update(func(tx storage.Tx) error { return tx.MarkUnread(u.Session, space, id, seq, limit) })
	return fmt.Sprintf("%s marks %s unread from %d on, %d at most", id, space, seq, limit)
}

// deliver counts deliveries of some entries.
func (u *course) deliver(id shoal.EntityID) string {
	places := []int64{u.place + 7}
	for i := range u.inboxes[id] {
		if u.chance(10) {
			u.inboxes[id][i].delivery++
			places = append(places, u.inboxes[id][i].place)
		}
	}
	u.Update(func(tx storage.Tx) error { return tx.MarkDelivered(u.Session, id, storecase.DeliveredNow(places...)) })
	return fmt.Sprintf("%v are delivered to %s", places, id)
}

func (u *course) join(space shoal.SpaceID, id shoal.EntityID) string {
	if u.members[space][id] != nil {
		return "nothing"
	}
	u.members[space][id] = &member{}
	u.Update(func(tx storage.Tx) error {
		return tx.InsertMember(u.Session, space, shoal.Member{EntityID: id, JoinedAt: storecase.Time(1)})
	})
	return fmt.Sprintf("%s joins %s", id, space)
}

// host makes bot a hosted agent, or no longer.
func (u *course) host() string {
	if u.hosted["bot"] {
		u.Update(func(tx storage.Tx) error { return tx.DeleteHostedAgent(u.Session, "bot") })
	} else {
		u.versions++
		u.AddHostedAgent("bot", u.versions)
	}
	u.hosted["bot"] = !u.hosted["bot"]
	return fmt.Sprint("bot is hosted: ", u.hosted["bot"])
}

// change edits, erases or delivers again one of the newest messages.
func (u *course) change(space shoal.SpaceID) string {
	all := u.spaces[space]
	if len(all) == 0 {
		return "nothing"
	}
	m := all[max(0, len(all)-1-u.rng.IntN(10))]
	switch {
	case !m.final || m.deleted:
		return "nothing"
	case m.EntityID == shoal.System:
		return "nothing"
	case m.RunID == nil && u.chance(60):
		m.Message = storecase.Edit(m.Message, "y", 9, u.mentions(20)...)
		u.Update(func(tx storage.Tx) error { return tx.EditMessage(m.Message) })
	default:
		m.deleted, m.Mentions = true, nil
		u.Update(func(tx storage.Tx) error { return tx.EraseMessage(u.Session, m.ID, storecase.Time(9)) })
	}
	u.withdraw(m)
	return fmt.Sprintf("%s#%d is changed", space, m.Seq)
}
