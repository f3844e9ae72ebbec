package hub_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// verdict is what is wrong with a race, and what it has covered.
type verdict struct {
	wrong []string
	coverage
}

// coverage counts what happened in a race, so that races without concurrency do not count
// as correct.
type coverage struct {
	returned, timedOut, displaced, cancelled, redelivered int
	open, together, explicitAcks, implicitAcks, withdrawn int
	adapters, heldBack                                    int
}

func (c *coverage) add(o coverage) {
	for i, n := range o.all() {
		*c.all()[i] += *n
	}
}

func (c *coverage) all() []*int {
	return []*int{
		&c.returned, &c.timedOut, &c.displaced, &c.cancelled, &c.redelivered,
		&c.open, &c.together, &c.explicitAcks, &c.implicitAcks, &c.withdrawn,
		&c.adapters, &c.heldBack,
	}
}

func (c *coverage) requireAll(t *testing.T) {
	t.Logf("%+v", *c)
	for _, n := range c.all() {
		if *n == 0 {
			t.Errorf("the races do not cover everything: %+v", *c)
			return
		}
	}
}

// inboxEntry is an entry of an inbox according to the ledger. It exists in the states after
// came up to gone. State n is the state after n transactions.
type inboxEntry struct {
	place      int64
	message    shoal.Message
	reason     shoal.Reason
	came, gone int
	withdrawn  bool
}

const never = 1 << 30

// surelyOpen returns the time from which the wait is open in any case: after several
// transactions, and after the time that a call waits for the outcome of a response.
func (c *waitCall) surelyOpen() time.Time {
	from := c.begun.Add(answering)
	if c.graced {
		from = from.Add(2 * time.Second)
	}
	return from
}

// raceChecker checks one race.
type raceChecker struct {
	*race
	records []*record
	inboxes map[shoal.EntityID][]*inboxEntry
	posted  map[shoal.SpaceID][]shoal.MessageID
	places  int64 // how many places were assigned
	verdict
}

func (r *race) check() verdict {
	b := &raceChecker{race: r, inboxes: map[shoal.EntityID][]*inboxEntry{}, posted: map[shoal.SpaceID][]shoal.MessageID{}}
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	b.records = r.ledger.records
	for at, rec := range b.records {
		if !rec.dead {
			b.replay(at, rec)
		}
	}
	b.wrong = append(b.wrong, r.ledger.clashes...)
	b.checkPlaces()
	b.checkStore()
	for i, c := range b.calls {
		b.count(c)
		b.checkAnswer(c)
		b.checkAdapter(c)
		b.checkWakeUp(c)
		b.checkImplicitAck(c)
		for _, o := range b.calls[:i] {
			b.checkTogether(c, o)
			b.checkDeliveries(c, o)
			b.checkDeliveries(o, c)
		}
	}
	if n := r.listens(); n != 0 {
		b.fail("%d subscriptions are open without a wait", n)
	}
	if len(b.wrong) > 0 && *onlySeed != 0 {
		b.dump()
	}
	return b.verdict
}

func (b *raceChecker) fail(format string, args ...any) {
	b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
}

// replay applies a transaction of the ledger to the inboxes.
func (b *raceChecker) replay(at int, rec *record) {
	for _, f := range rec.facts {
		switch {
		case f.message != nil:
			b.posted[f.message.SpaceID] = append(b.posted[f.message.SpaceID], f.message.ID)
			if b.places++; f.place != b.places {
				b.fail("%s got place %d, want %d", f.message.ID, f.place, b.places)
			}
			for _, r := range f.tracked {
				if !slices.Contains(f.to, r.ID) || r.Reason != reason(*f.message, r.ID) {
					b.fail("the store delivered %s to %+v", f.message.ID, r)
				}
			}
			for _, id := range f.to {
				why := reason(*f.message, id)
				if why != shoal.ReasonMessage && !slices.Contains(f.tracked, storage.Receiver{ID: id, Reason: why}) {
					b.fail("the store did not return %s as a receiver of %s", id, f.message.ID)
				}
				b.inboxes[id] = append(b.inboxes[id], &inboxEntry{place: f.place, message: *f.message, reason: why, came: at, gone: never})
			}
		case f.leaver != "":
			for _, e := range b.inboxes[f.leaver] {
				if e.gone == never && e.message.SpaceID == f.space {
					e.gone, e.withdrawn = at, true
					b.withdrawn++
				}
			}
		default:
			b.acknowledge(at, rec.call, f)
		}
	}
}

func reason(m shoal.Message, reader shoal.EntityID) shoal.Reason {
	switch {
	case m.EntityID == shoal.System:
		return shoal.ReasonSystem
	case slices.Contains(m.Mentions, reader):
		return shoal.ReasonMention
	}
	return shoal.ReasonMessage
}

// acknowledge checks that an acknowledgment removes exactly what was delivered to its key.
func (b *raceChecker) acknowledge(at int, call *waitCall, f fact) {
	if call == nil {
		b.fail("%v was acknowledged without a call", f)
		return
	}
	explicit := call.acks != nil
	switch {
	case call.isAdapter():
		b.fail("%v acknowledged %v", call, f)
	case explicit:
		b.explicitAcks++
	case call.explicit:
		b.fail("%v acknowledged by waiting, though its key acknowledges explicitly", call)
	case call.request.Redeliver:
		b.fail("%v acknowledged the batch that it asked to redeliver", call)
	default:
		b.implicitAcks++
	}
	for _, e := range b.inboxes[f.entity] {
		if e.gone != never || e.place > f.upTo || !matches(e, f.filter) {
			continue
		}
		e.gone = at
		if explicit && !call.acks.has(e.message.ID) {
			b.fail("%v acknowledged %s, which did not come with the cursor", call, e.message.ID)
		}
		if !explicit && !b.wasWritten(call, e.message.ID) {
			b.fail("%v acknowledged %s, which was not written completely to its key", call, e.message.ID)
		}
	}
	if explicit {
		for _, m := range call.acks.messages() {
			if e := b.entry(f.entity, m.ID); e == nil || e.gone == never {
				b.fail("%v did not acknowledge %s, which came with the cursor", call, m.ID)
			}
		}
	}
}

// wasWritten reports whether an earlier response to the key of a call contained the message
// and was written.
func (b *raceChecker) wasWritten(call *waitCall, id shoal.MessageID) bool {
	return slices.ContainsFunc(b.calls, func(o *waitCall) bool {
		return o != call && o.entity == call.entity && o.key == call.key && o.written && o.has(id) && !o.ended.After(call.ended)
	})
}

func (b *raceChecker) entry(entity shoal.EntityID, id shoal.MessageID) *inboxEntry {
	for _, e := range b.inboxes[entity] {
		if e.message.ID == id {
			return e
		}
	}
	return nil
}

func matches(e *inboxEntry, f storage.InboxFilter) bool {
	if f.Kind == shoal.WaitMentions && e.reason == shoal.ReasonMessage || f.Space != "" && f.Space != e.message.SpaceID {
		return false
	}
	return len(f.From) == 0 || e.reason == shoal.ReasonSystem || slices.Contains(f.From, e.message.EntityID)
}

// checkPlaces checks that the entries of an inbox have the places of their messages, which
// are 1, 2, 3 … in the order of the commits.
func (b *raceChecker) checkPlaces() {
	for key, id := range b.ledger.places {
		if !slices.ContainsFunc(b.inboxes[key.entity], func(e *inboxEntry) bool { return e.place == key.place && e.message.ID == id }) {
			b.fail("%s was at position %d of the inbox of %s", id, key.place, key.entity)
		}
	}
}

// checkStore checks that the final state of the store matches the ledger: timelines with
// seq 1, 2, 3 … in the order of the commits, and the unacknowledged entries.
func (b *raceChecker) checkStore() {
	err := b.ledger.Store.View(b.t.Context(), func(tx storage.Tx) error {
		for _, id := range b.spaces {
			all, err := tx.Messages(b.session, id, storage.Page{Limit: shoal.MaxPage})
			if err != nil {
				return err
			}
			b.checkTimeline(id, all)
		}
		for _, id := range b.entities {
			entries, err := tx.Unread(b.session, id, storage.InboxFilter{Kind: shoal.WaitMessages}, shoal.MaxPage)
			if err != nil {
				return err
			}
			b.checkUnread(id, entries)
		}
		return nil
	})
	if err != nil {
		b.fail("read: %v", err)
	}
}

func (b *raceChecker) checkTimeline(space shoal.SpaceID, all []shoal.Message) {
	var ids []shoal.MessageID
	for i, m := range all {
		ids = append(ids, m.ID)
		if m.Seq != int64(i)+1 {
			b.fail("%s has seq %d at position %d", m.ID, m.Seq, i+1)
		}
	}
	if !slices.Equal(ids, b.posted[space]) {
		b.fail("the timeline of %s is %v, want %v as committed", space, ids, b.posted[space])
	}
}

func (b *raceChecker) checkUnread(entity shoal.EntityID, entries []storage.InboxEntry) {
	var want, got []int64
	for _, e := range b.inboxes[entity] {
		if e.gone == never {
			want = append(want, e.place)
		}
	}
	for _, e := range entries {
		got = append(got, e.Place)
	}
	if !slices.Equal(got, want) {
		b.fail("the inbox of %s has the positions %v, want %v", entity, got, want)
	}
}

func (b *raceChecker) count(c *waitCall) {
	switch {
	case c.err != nil && c.cancelled:
		b.cancelled++
	case c.err != nil:
		if shoal.KindOf(c.err) != shoal.NotFound {
			b.fail("%v: %v", c, c.err)
		}
	case !c.result.TimedOut:
		b.returned++
	case c.timedOut():
		b.timedOut++
	default:
		b.displaced++
	}
}

// checkAnswer checks that a wait returned all matching unread entries in the order of the
// inbox, as they were at some moment of the call after its own acknowledgment.
func (b *raceChecker) checkAnswer(c *waitCall) {
	if c.isAdapter() && b.ownBeside(c) || c.err != nil || c.result.TimedOut && (!c.timedOut() || b.mayBeDisplaced(c)) {
		return
	}
	from := c.lo
	for at, rec := range b.records {
		if rec.call == c && !rec.dead {
			from = max(from, at+1)
		}
	}
	var got []string
	for _, m := range c.messages() {
		got = append(got, string(m.ID)+" "+string(m.Reason))
	}
	for state := from; state <= c.hi; state++ {
		if slices.Equal(got, b.unread(c, state)) {
			return
		}
	}
	b.fail("%v returned %v; unread was %v at first and %v at last", c, got, b.unread(c, from), b.unread(c, c.hi))
}

// unread returns what a wait would return in a state.
func (b *raceChecker) unread(c *waitCall, state int) (out []string) {
	bySpace := map[shoal.SpaceID][]string{}
	var spaces []shoal.SpaceID
	for _, e := range b.inboxes[c.entity] {
		if e.came < state && e.gone >= state && matches(e, c.filter()) {
			if bySpace[e.message.SpaceID] == nil {
				spaces = append(spaces, e.message.SpaceID)
			}
			bySpace[e.message.SpaceID] = append(bySpace[e.message.SpaceID], string(e.message.ID)+" "+string(e.reason))
		}
	}
	for _, s := range spaces {
		out = append(out, bySpace[s]...)
	}
	return out
}

// lateAfter is longer than all pauses between a post and the wake-up of a wait.
const lateAfter = 40 * time.Millisecond

// checkWakeUp checks that a wait received what was posted while it was surely open and
// whose post returned before the wait timed out.
func (b *raceChecker) checkWakeUp(c *waitCall) {
	if c.isAdapter() && b.ownBeside(c) || c.err != nil || c.result.TimedOut && (!c.timedOut() || b.mayBeDisplaced(c)) {
		return
	}
	for _, p := range b.posts {
		e := b.entry(c.entity, b.messageOf(p))
		if e == nil || e.withdrawn || !matches(e, c.filter()) {
			continue
		}
		if p.begun.Before(c.surelyOpen()) || p.begun.After(c.ended) || !p.ended.Before(c.begun.Add(c.request.Timeout)) {
			continue
		}
		b.open++
		if c.result.TimedOut {
			b.fail("lost wake-up: %v, open since %v, timed out at %v and did not get %s, posted from %v to %v",
				c, c.begun, c.ended, e.message.ID, p.begun, p.ended)
		} else if c.ended.Sub(c.begun) >= c.request.Timeout && c.ended.Sub(p.ended) > b.late {
			// The read at its time-out would hide that nothing woke it.
			b.fail("late wake-up: %v, open since %v, got at %v, when its time was up, what was posted from %v to %v",
				c, c.begun, c.ended, p.begun, p.ended)
		}
	}
}

// mayBeDisplaced reports whether a fifth wait may have ended the wait.
func (b *raceChecker) mayBeDisplaced(c *waitCall) bool {
	beside := 0
	for _, o := range b.calls {
		if o != c && o.entity == c.entity && o.isAdapter() == c.isAdapter() && !o.begun.After(c.ended) && !o.ended.Before(c.begun) {
			beside++
		}
	}
	return beside >= shoal.MaxOpenWaits
}

func (b *raceChecker) messageOf(p *postCall) shoal.MessageID {
	if p.closed != "" {
		return b.posted[p.closed][len(b.posted[p.closed])-1]
	}
	return p.id
}

// checkTogether checks that waits with the same filter return the same entries if they are
// open when a matching message is posted.
func (b *raceChecker) checkTogether(c, o *waitCall) {
	woken := func(w *waitCall) bool { return w.err == nil && !w.result.TimedOut }
	if c.entity != o.entity || c.isAdapter() || o.isAdapter() || !woken(c) || !woken(o) || fmt.Sprint(c.filter()) != fmt.Sprint(o.filter()) {
		return
	}
	for _, p := range b.posts {
		e := b.entry(c.entity, b.messageOf(p))
		if e == nil || e.withdrawn || !matches(e, c.filter()) {
			continue
		}
		bothOpen := true
		for _, w := range []*waitCall{c, o} {
			bothOpen = bothOpen && !p.begun.Before(w.surelyOpen()) && !p.begun.After(w.ended)
		}
		if !bothOpen {
			continue
		}
		b.together++
		if !slices.Equal(b.idsOf(c), b.idsOf(o)) {
			b.fail("%v and %v were open together and returned %v and %v", c, o, b.idsOf(c), b.idsOf(o))
		}
		return
	}
}

func (b *raceChecker) idsOf(c *waitCall) (out []shoal.MessageID) {
	for _, m := range c.messages() {
		out = append(out, m.ID)
	}
	return out
}

// checkDeliveries checks that a later delivery of an entry has a greater number.
func (b *raceChecker) checkDeliveries(before, after *waitCall) {
	if before.entity != after.entity || !after.begun.After(before.ended) {
		return
	}
	for _, m := range after.messages() {
		for _, was := range before.messages() {
			if was.ID == m.ID {
				b.redelivered++
				if m.Delivery <= was.Delivery {
					b.fail("%v delivered %s for the time %d, %v before it for the time %d", after, m.ID, m.Delivery, before, was.Delivery)
				}
			}
		}
	}
}

// checkImplicitAck checks that a caller without cursors acknowledges its previous batch by
// waiting again, if the batch was written.
func (b *raceChecker) checkImplicitAck(c *waitCall) {
	if c.isAdapter() || c.err != nil || c.perhaps || c.acks != nil || c.request.Redeliver || c.key == shared {
		return
	}
	var previous *waitCall
	for _, o := range b.calls {
		if o.entity == c.entity && o.key == c.key && !o.isAdapter() && !o.ended.After(c.begun) && o != c && (previous == nil || !o.begun.Before(previous.begun)) {
			previous = o
		}
	}
	if previous == nil || previous.err != nil || !previous.written {
		return
	}
	for _, m := range previous.messages() {
		if e := b.entry(c.entity, m.ID); e == nil || e.gone >= c.hi {
			b.fail("%v did not acknowledge %s, which was written before", c, m.ID)
		}
	}
}

// dump logs a race for debugging.
func (b *raceChecker) dump() {
	at := func(t time.Time) string { return fmt.Sprint(t.Sub(b.start)) }
	for i, rec := range b.records {
		for _, f := range rec.facts {
			switch {
			case f.message != nil:
				b.t.Logf("%d dead=%t post %s#%d %s mentions=%v to=%v", i, rec.dead, f.message.SpaceID, f.message.Seq, f.message.ID, f.message.Mentions, f.to)
			case f.leaver != "":
				b.t.Logf("%d dead=%t %s leaves %s", i, rec.dead, f.leaver, f.space)
			default:
				b.t.Logf("%d dead=%t %s acks %v upTo=%d by %v", i, rec.dead, f.entity, f.filter, f.upTo, rec.call)
			}
		}
	}
	for _, c := range b.calls {
		b.t.Logf("%s-%s [%d,%d] %v -> %v err=%v timedOut=%t written=%t", at(c.begun), at(c.ended), c.lo, c.hi, c, b.idsOf(c), c.err, c.result.TimedOut, c.written)
	}
	for _, p := range b.posts {
		b.t.Logf("%s-%s post %s %s", at(p.begun), at(p.ended), p.id, p.closed)
	}
}
