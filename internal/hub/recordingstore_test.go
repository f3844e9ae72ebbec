package hub_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ledger is a store that records every change of inboxes in the order of the commits, and
// that is slow at random. The outcome of a race depends only on which pause ends first.
type ledger struct {
	storage.Store
	delays *delays
	faults faults

	mu      sync.Mutex
	records []*record
	places  map[placeKey]shoal.MessageID // as Unread returned them
	clashes []string
}

type placeKey struct {
	entity shoal.EntityID
	place  int64
}

// faults are the faults that the tests inject to verify that the checks detect them.
type faults struct {
	acksWholeInbox     bool // an acknowledgment ignores its filter
	readingIsAck       bool // delivering acknowledges
	losesNotifications bool // every third notification is lost
	subscribesLate     bool // a subscription starts late
	losesEvents        bool // a read of several events omits the first
	healsNothing       bool // no wait reads when frames of other servers were missed
}

// record is one transaction that changed inboxes.
type record struct {
	facts []fact
	call  *waitCall // the wait that caused it, if any
	done  bool      // it is visible to reads
	dead  bool      // it failed or was retried
}

// fact is one change: a delivery (message, to), a withdrawal (leaver, space) or an
// acknowledgment (entity, filter, upTo).
type fact struct {
	message *shoal.Message
	place   int64
	to      []shoal.EntityID
	tracked []storage.Receiver // the receivers that the store returned

	leaver shoal.EntityID
	space  shoal.SpaceID

	entity shoal.EntityID
	filter storage.InboxFilter
	upTo   int64
}

// delays generates pauses.
type delays struct {
	mu    sync.Mutex
	rng   *rand.Rand
	fixed time.Duration // replaces the random pause if set
}

// setFixed makes every pause d long; 0 makes them random again.
func (w *delays) setFixed(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fixed = d
}

// longestPause bounds the random pauses.
const longestPause = time.Millisecond

// pause returns after up to longestPause, often at once.
func (w *delays) pause() {
	w.mu.Lock()
	d := w.fixed
	if d == 0 && w.rng.IntN(2) == 0 {
		d = time.Duration(w.rng.Int64N(int64(longestPause)))
	}
	w.mu.Unlock()
	if d > 0 {
		<-time.After(d)
	}
}

// stall sometimes pauses for longer. It is for work that no response waits for.
func (w *delays) stall() {
	w.mu.Lock()
	long := w.rng.IntN(3) == 0
	w.mu.Unlock()
	if long {
		<-time.After(longStall)
	}
}

const longStall = 5 * time.Millisecond

// callKey is the context key of the wait that a transaction belongs to.
type callKey struct{}

func newLedger(store storage.Store) *ledger {
	l := &ledger{Store: store, delays: &delays{}}
	l.reset(0)
	return l
}

// reset clears all records and seeds the delays.
func (l *ledger) reset(seed uint64) {
	l.delays.mu.Lock()
	l.delays.rng = rand.New(rand.NewPCG(seed, 1))
	l.delays.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.places, l.clashes = nil, map[placeKey]shoal.MessageID{}, nil
}

// visibleRecords returns how many records a read that starts now sees at least, and at
// most.
func (l *ledger) visibleRecords() (surely, perhaps int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, r := range l.records {
		if r.done {
			surely = i + 1
		}
	}
	return surely, len(l.records)
}

// View implements [storage.Store].
func (l *ledger) View(ctx context.Context, fn func(storage.Tx) error) error {
	l.delays.pause()
	defer l.delays.pause()
	return l.Store.View(ctx, func(tx storage.Tx) error { return fn(&ledgerTx{Tx: tx, l: l}) })
}

// Update implements [storage.Store].
func (l *ledger) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	l.delays.pause()
	call, _ := ctx.Value(callKey{}).(*waitCall)
	var last *record
	marks := false
	err := l.Store.Update(ctx, storage.Global, func(tx storage.Tx) error {
		note := &ledgerTx{Tx: tx, l: l}
		err := fn(note)
		marks = note.marks
		l.mu.Lock()
		defer l.mu.Unlock()
		if last != nil {
			last.dead = true
			last = nil
		}
		if err == nil && len(note.facts) > 0 {
			last = &record{facts: note.facts, call: call}
			l.records = append(l.records, last)
		}
		return err
	})
	if last != nil {
		l.mu.Lock()
		last.done, last.dead = true, err != nil
		l.mu.Unlock()
	}
	l.delays.pause()
	if marks {
		l.delays.stall()
	}
	return err
}

type ledgerTx struct {
	storage.Tx
	l     *ledger
	facts []fact
	marks bool // it counted deliveries
}

func (t *ledgerTx) Deliver(m shoal.Message, watching storage.EntitySet) (storage.Delivered, error) {
	d, err := t.Tx.Deliver(m, watching)
	if err != nil {
		return d, err
	}
	members, err := t.Members(m.SessionID, m.SpaceID, "", shoal.MaxMembers)
	f := fact{message: &m, place: d.Place, tracked: slices.Clone(d.Receivers)}
	for _, member := range members {
		if member.EntityID != m.EntityID && (m.EntityID != shoal.System || len(m.Mentions) == 0 || slices.Contains(m.Mentions, member.EntityID)) {
			f.to = append(f.to, member.EntityID)
		}
	}
	t.facts = append(t.facts, f)
	return d, err
}

func (t *ledgerTx) DeleteMember(session shoal.SessionID, space shoal.SpaceID, entity shoal.EntityID) error {
	t.facts = append(t.facts, fact{leaver: entity, space: space})
	return t.Tx.DeleteMember(session, space, entity)
}

func (t *ledgerTx) Acknowledge(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, upTo int64, known []storage.DeliveredEntry) (storage.Acknowledged, error) {
	t.facts = append(t.facts, fact{entity: entity, filter: filter, upTo: upTo})
	if t.l.faults.acksWholeInbox {
		filter = storage.InboxFilter{Kind: shoal.WaitMessages}
	}
	return t.Tx.Acknowledge(session, entity, filter, upTo, known)
}

func (t *ledgerTx) MarkDelivered(session shoal.SessionID, entity shoal.EntityID, delivered []storage.DeliveredEntry) error {
	t.marks = true
	err := t.Tx.MarkDelivered(session, entity, delivered)
	if err == nil && t.l.faults.readingIsAck {
		_, err = t.Tx.Acknowledge(session, entity, storage.InboxFilter{Kind: shoal.WaitMessages}, delivered[len(delivered)-1].Place, nil)
	}
	return err
}

func (t *ledgerTx) Events(session shoal.SessionID, filter storage.EventFilter, after int64, limit int) ([]storage.Event, error) {
	page, err := t.Tx.Events(session, filter, after, limit)
	if t.l.faults.losesEvents && len(page) > 1 {
		page = page[1:]
	}
	return page, err
}

func (t *ledgerTx) Unread(session shoal.SessionID, entity shoal.EntityID, filter storage.InboxFilter, limit int) ([]storage.InboxEntry, error) {
	entries, err := t.Tx.Unread(session, entity, filter, limit)
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	for _, e := range entries {
		key := placeKey{entity, e.Place}
		if had, ok := t.l.places[key]; ok && had != e.Message.ID {
			t.l.clashes = append(t.l.clashes, string(had)+" and "+string(e.Message.ID)+" had the same position")
		}
		t.l.places[key] = e.Message.ID
	}
	return entries, err
}
