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
	others    []*agentWait // open waits for agents, which count among the waits
	opened    int64        // how many waits there have been of both kinds
	sub       Subscription // nil while nobody is about to wait
	looks     int          // how often somebody took the hints from it
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

// begin opens a wait and looks at what is there, unless that is known. It is to block
// no longer than while.
func (m *mailbox) begin(w *HeldWait, while time.Duration) {
	w.result = make(chan answer, 1)
	w.timer = time.NewTimer(while)
	if !m.enter(w) {
		// The subscription stands: whatever is committed from here on hints.
		m.collect(0)
	}
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
			m.follow(w.sub)
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

// lastLook reads once more what is unread, whether or not a hint has come: hints of
// another server can be lost or late. A wait without a time-out has only just read.
func (m *mailbox) lastLook(w *HeldWait) {
	w.over = true
	select {
	case <-w.sub.Ready():
		m.follow(w.sub)
	default:
		if w.req.Timeout > 0 {
			m.forgetClear()
			m.collect(0)
		}
	}
}

// forgetClear makes the open waits know nothing, so that none is handed an entry while
// somebody reads for all of them: it would be delivered twice under one number.
func (m *mailbox) forgetClear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.waits {
		w.clear = unknown
	}
}

// follow acts upon the hints so far.
func (m *mailbox) follow(sub Subscription) {
	m.mu.Lock()
	m.looks++ // whoever enters later has missed them
	m.mu.Unlock()
	var all Note // of no hint, if another wait has just taken it: look all the same
	for i, hint := range sub.Take() {
		if i == 0 {
			all = hint
		}
		all = all.Join(hint)
	}
	m.collect(all.Place)
}

// watch makes hints reach the mailbox, from before the caller changes or reads anything
// in the inbox, and returns how often somebody has followed one.
func (m *mailbox) watch() (looks int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sub == nil {
		m.sub = m.inbox.bus.Subscribe()
		m.sub.Add(inboxTopic(m.key.session, m.key.entity))
	}
	return m.looks
}

// enter registers w, which shares the mailbox's subscription with the others, and ends
// the oldest wait if there are too many. It reports whether w knows what is there: no
// hint has been followed since it began to know.
func (m *mailbox) enter(w *HeldWait) (knows bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.looks != m.looks {
		w.clear = unknown
	}
	m.makeRoom()
	w.nth = m.opened
	m.waits = append(m.waits, w)
	w.sub = m.sub
	return w.clear != unknown
}

func (m *mailbox) leave(w *HeldWait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(w)
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

// aware reports whether every open wait knows what is for it up to a place, which is 0
// if it is not known. So it does if there is none: all are answered.
func (m *mailbox) aware(upTo int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !slices.ContainsFunc(m.waits, func(w *HeldWait) bool { return upTo == 0 || w.clear < upTo })
}

// collect reads what is unread, unless nobody needs it up to that place, and answers
// every open wait that it matches.
// Waits with the same filter get the same entries. If it cannot read, every wait
// gets the error: none is left to sleep over a hint that is spent.
func (m *mailbox) collect(upTo int64) {
	m.collecting <- struct{}{}
	defer func() { <-m.collecting }()
	if m.aware(upTo) {
		return
	}
	ctx := context.WithoutCancel(m.inbox.ctx)
	m.count(ctx)
	m.mu.Lock()
	waits := slices.Clone(m.waits)
	m.mu.Unlock()
	found, gone, end, err := m.read(ctx, waits)
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
		if gone[i] {
			m.answer(w, answer{err: noSpace(w.filter.Space)})
			continue
		}
		if len(found[i]) == 0 {
			w.clear = max(w.clear, end)
			continue
		}
		m.answer(w, answer{entries: found[i]})
		m.deliveredNow(found[i])
	}
}

// read finds for each wait what matches it, on one snapshot, and where the inbox ends
// there if one of them goes on. gone says which of them wait for a space that is deleted.
func (m *mailbox) read(ctx context.Context, waits []*HeldWait) (found [][]InboxEntry, gone []bool, end int64, err error) {
	err = m.inbox.store.View(ctx, func(tx Tx) (err error) {
		found, gone = make([][]InboxEntry, len(waits)), make([]bool, len(waits))
		for i, w := range waits {
			if w.filter.Space != "" {
				if gone[i], err = tx.DeletedSpace(m.key.session, w.filter.Space); err != nil {
					return err
				}
			}
			if j := slices.IndexFunc(waits[:i], func(o *HeldWait) bool { return sameFilter(o.filter, w.filter) }); j >= 0 {
				found[i] = found[j]
				continue
			}
			entries, err := tx.Unread(m.key.session, m.key.entity, w.filter, shoal.MaxBatch)
			if err != nil {
				return err
			}
			entries = fitting(w.filter, entries)
			for k := range entries {
				entries[k].Delivery++
				entries[k].Message = entries[k].Message.For(m.key.entity)
			}
			if n := len(entries); n > 0 && entries[n-1].EventPlace == 0 {
				if entries[n-1].EventPlace, err = tx.EventEnd(m.key.session); err != nil {
					return err
				}
			}
			found[i] = entries
		}
		if slices.ContainsFunc(found, func(entries []InboxEntry) bool { return len(entries) == 0 }) {
			end, err = tx.InboxEnd(m.key.session, m.key.entity)
		}
		return err
	})
	return found, gone, end, err
}

func sameFilter(a, b InboxFilter) bool {
	return a.Kind == b.Kind && a.Space == b.Space && slices.Equal(a.From, b.From)
}
