package hub

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

type mailboxKey struct {
	session shoal.SessionID
	entity  shoal.EntityID
}

// mailbox is where the open waits of one entity meet. Whoever of them takes a
// hint reads for all, so all wake with the same messages, even if one of them
// acknowledges at once.
type mailbox struct {
	inbox *Inbox
	key   mailboxKey

	mu        sync.Mutex
	users     int // calls that hold the mailbox
	waits     []*HeldWait
	sub       Subscription // nil while nobody waits
	readers   map[shoal.KeyID]*readerState
	uncounted []delivered // handed out, and not stored yet that they were
	idle      time.Time

	collecting chan struct{} // holds a value while one reads for all
}

// answer is what ends a wait; without entries and error it is a time-out.
type answer struct {
	entries []InboxEntry
	err     error
}

// forgetAfter is how long a mailbox without waits remembers what it handed out.
// A caller that comes back later gets its last batch again.
const forgetAfter = time.Hour

// mailbox returns the mailbox for key and holds it until release.
func (b *Inbox) mailbox(key mailboxKey) *mailbox {
	b.mu.Lock()
	defer b.mu.Unlock()
	box := b.mailboxes[key]
	if box == nil {
		box = &mailbox{inbox: b, key: key, readers: map[shoal.KeyID]*readerState{}, collecting: make(chan struct{}, 1)}
		b.mailboxes[key] = box
	}
	box.mu.Lock()
	box.users++
	box.mu.Unlock()
	return box
}

// release lets go of a mailbox.
func (b *Inbox) release(box *mailbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	box.mu.Lock()
	box.users--
	box.idle = time.Now()
	box.mu.Unlock()
	b.dropUnused(box)
}

// dropUnused drops a mailbox that nobody holds and that holds nothing worth
// remembering. One whose deliveries are being stored is kept until they are: who
// waits next must not read around it. b.mu must be held.
func (b *Inbox) dropUnused(box *mailbox) {
	box.mu.Lock()
	defer box.mu.Unlock()
	if box.users > 0 || len(box.uncounted) > 0 || len(box.collecting) > 0 {
		return
	}
	for _, r := range box.readers {
		if len(r.handed) > 0 {
			return
		}
	}
	delete(b.mailboxes, box.key)
}

// forget drops mailboxes that nobody has used for long.
func (b *Inbox) forget(context.Context) error {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, box := range b.mailboxes {
		box.mu.Lock()
		stale := box.users == 0 && len(box.uncounted) == 0 && now.Sub(box.idle) > forgetAfter
		box.mu.Unlock()
		if stale {
			delete(b.mailboxes, key)
		}
	}
	return nil
}

// open opens a wait and looks at what is there. It is to block no longer than while.
func (m *mailbox) open(w *HeldWait, while time.Duration) {
	w.result = make(chan answer, 1)
	w.timer = time.NewTimer(while)
	w.sub = m.enter(w)
	// The subscription stands: whatever is committed from here on hints.
	m.collect()
}

// block blocks until there is something, the time of the wait is up, or ctx ends. The
// wait goes on if its timer comes before that.
func (m *mailbox) block(ctx context.Context, w *HeldWait) (goesOn bool, err error) {
	for {
		if err := w.call.ended(); err != nil {
			return false, err
		}
		if ok, err := w.answered(); ok || w.over {
			if w.slept {
				m.inbox.figures.woken(w.entries)
			}
			return false, err
		}
		w.slept = true
		switch m.sleep(ctx, w) {
		case hinted:
			// The hint is for all waits: it is acted upon even if this call is
			// just ending.
			w.sub.Take()
			m.collect()
		case rang:
			if time.Now().Before(w.ends) {
				return true, nil
			}
			m.lastLook(w)
		case stopping:
			m.lastLook(w)
		case callGone:
			return false, context.Cause(ctx)
		}
	}
}

// What wakes a blocked wait.
type wakeUp int

const (
	lookAgain wakeUp = iota // there is an answer, or the right to it has ended
	hinted
	rang
	stopping
	callGone
)

// sleep blocks until something happens to w.
//
//go:noinline
func (m *mailbox) sleep(ctx context.Context, w *HeldWait) wakeUp {
	select {
	case a := <-w.result:
		w.result <- a
		return lookAgain
	case <-w.call.gone:
		return lookAgain
	case <-w.sub.Ready():
		return hinted
	case <-w.timer.C:
		return rang
	case <-m.inbox.ctx.Done():
		return stopping
	case <-ctx.Done():
		return callGone
	}
}

// lastLook makes sure that what a hint told before the time was up is read: a
// hint that nobody took yet, or one that another wait took and reads for all.
func (m *mailbox) lastLook(w *HeldWait) {
	w.over = true
	select {
	case <-w.sub.Ready():
		w.sub.Take()
		m.collect()
	default:
		m.collecting <- struct{}{}
		<-m.collecting
	}
}

// enter registers w, ends the oldest wait if there are too many, and returns
// the subscription that all waits share.
func (m *mailbox) enter(w *HeldWait) Subscription {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sub == nil {
		m.sub = m.inbox.bus.Subscribe()
		m.sub.Add(inboxTopic(m.key.session, m.key.entity))
	}
	if len(m.waits) >= shoal.OpenWaits {
		m.answer(m.waits[0], answer{})
	}
	m.waits = append(m.waits, w)
	return m.sub
}

func (m *mailbox) leave(w *HeldWait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(w)
	if len(m.waits) == 0 && m.sub != nil {
		m.sub.Close()
		m.sub = nil
	}
}

// remove must be called with mu held.
func (m *mailbox) remove(w *HeldWait) {
	m.waits = slices.DeleteFunc(m.waits, func(o *HeldWait) bool { return o == w })
}

// answer gives w its one answer and takes it off the list; mu must be held.
func (m *mailbox) answer(w *HeldWait, a answer) {
	m.remove(w)
	w.result <- a
}

// collect reads what is unread and answers every open wait that it matches.
// Waits with the same filter get the same entries. If it cannot read, every wait
// gets the error: none is left to sleep over a hint that is spent.
func (m *mailbox) collect() {
	m.collecting <- struct{}{}
	defer func() { <-m.collecting }()
	ctx := context.WithoutCancel(m.inbox.ctx)
	m.count(ctx)
	m.mu.Lock()
	waits := slices.Clone(m.waits)
	m.mu.Unlock()
	found, err := m.read(ctx, waits)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, w := range waits {
		if !slices.Contains(m.waits, w) || w.call.ended() != nil {
			continue // it is answered, or learns by itself why nothing is for it
		}
		if err != nil {
			m.answer(w, answer{err: err})
			continue
		}
		if len(found[i]) == 0 {
			continue
		}
		m.answer(w, answer{entries: found[i]})
		m.deliveredNow(found[i])
	}
}

// read finds for each wait what matches it, on one snapshot.
func (m *mailbox) read(ctx context.Context, waits []*HeldWait) (found [][]InboxEntry, err error) {
	err = m.inbox.store.View(ctx, func(tx Tx) error {
		found = make([][]InboxEntry, len(waits))
		for i, w := range waits {
			if j := slices.IndexFunc(waits[:i], func(o *HeldWait) bool { return sameFilter(o.filter, w.filter) }); j >= 0 {
				found[i] = found[j]
				continue
			}
			entries, err := tx.Unread(m.key.session, m.key.entity, w.filter, shoal.MaxBatch)
			if err != nil {
				return err
			}
			for k := range entries {
				entries[k].Delivery++
				entries[k].Message = entries[k].Message.For(m.key.entity)
			}
			found[i] = entries
		}
		return nil
	})
	return found, err
}

func sameFilter(a, b InboxFilter) bool {
	return a.Kind == b.Kind && a.Space == b.Space && slices.Equal(a.From, b.From)
}
