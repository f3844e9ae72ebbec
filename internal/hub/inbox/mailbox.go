package inbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// mailbox coordinates the open waits of one entity. The wait that receives a notification
// reads for all of them, so all wake with the same messages, even if one of them
// acknowledges at once.
type mailbox struct {
	inbox *Inbox
	key   storage.EntityRef

	mu            sync.Mutex
	users         int // calls that use the mailbox
	waits         []*HeldWait
	agentWaits    []*agentWait      // open waits for agents, which also count as waits
	opened        int64             // how many waits of both kinds were ever opened
	sub           core.Subscription // nil while no call waits or is about to
	notifications int               // how often notifications were received from sub
	readers       map[shoal.KeyID]*readerState
	uncounted     []delivery // deliveries that are not stored yet
	missed        int64      // the last place that may have concerned a wait that did not know it
	idle          time.Time

	reading chan struct{} // holds a value while one call reads for all
}

// answer ends a wait. Without entries and error it is a time-out.
type answer struct {
	entries []storage.InboxEntry
	err     error
}

// begin opens a wait and reads the inbox, unless the wait already knows that nothing
// matches. The timer of the wait fires after while.
func (m *mailbox) openWait(w *HeldWait, while time.Duration) {
	w.result = make(chan answer, 1)
	w.timer = time.NewTimer(while)
	if !m.addWait(w) {
		// The subscription exists: every later commit sends a notification.
		m.readForAll(0)
	}
}

// block blocks until the wait has an answer, its time is up, or ctx ends. If the timer
// of the wait fires before that, block returns goesOn, and the wait remains open.
func (m *mailbox) block(ctx context.Context, w *HeldWait) (stillOpen bool, err error) {
	for {
		if err := w.call.Err(); err != nil {
			return false, err
		}
		if ok, err := w.takeAnswer(); ok || w.over {
			if w.hasSlept {
				m.inbox.core.Metrics.CountWakeUp(w.entries)
			}
			return false, err
		}
		w.hasSlept = true
		switch m.sleep(ctx, w) {
		case notified:
			// The notification is for all waits, so it is processed even if this call is
			// about to end.
			m.handleNotifications(w.sub)
		case timerFired:
			if time.Now().Before(w.deadline) {
				return true, nil
			}
			m.readLast(w)
		case stopping:
			m.readLast(w)
		case canceled:
			return false, context.Cause(ctx)
		}
	}
}

// wakeReason is a reason why a blocked wait wakes.
type wakeReason int

const (
	answerReady wakeReason = iota // an answer has arrived, or the right to wait has ended
	notified
	timerFired
	stopping
	canceled
)

// sleep blocks until one of the reasons to wake w occurs.
//
//go:noinline
func (m *mailbox) sleep(ctx context.Context, w *HeldWait) wakeReason {
	select {
	case a := <-w.result:
		w.result <- a
		return answerReady
	case <-w.call.Gone:
		return answerReady
	case <-w.sub.Ready():
		return notified
	case <-w.timer.C:
		return timerFired
	case <-m.inbox.core.Ctx.Done():
		return stopping
	case <-ctx.Done():
		return canceled
	}
}

// readLast reads the inbox once more when the time is up, even without a notification:
// those of other servers can be lost or late. A wait with a timeout of zero has only just
// read.
func (m *mailbox) readLast(w *HeldWait) {
	w.over = true
	select {
	case <-w.sub.Ready():
		m.handleNotifications(w.sub)
	default:
		if w.req.Timeout > 0 {
			m.resetClear()
			m.readForAll(0)
		}
	}
}

// resetClear resets what the open waits know about the inbox, so that none receives an
// entry directly while another call reads for all of them: the entry would be delivered
// twice with the same delivery number.
func (m *mailbox) resetClear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.waits {
		w.clear = unknownPosition
	}
}

// handleNotifications receives the notifications that have arrived and reads the inbox.
func (m *mailbox) handleNotifications(sub core.Subscription) {
	m.countNotification()
	var all core.Note // stays zero if another wait has just received them; read nevertheless
	for i, note := range sub.Take() {
		if i == 0 {
			all = note
		}
		all = all.Join(note)
	}
	m.readForAll(all.Place)
}

// countNotification records that the mailbox was notified: waits that enter later have
// missed it.
func (m *mailbox) countNotification() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notifications++
}

// readOthers reads the inbox because another server may have stored messages up to a place.
func (m *mailbox) readOthers(upTo int64) {
	m.countNotification()
	m.readForAll(upTo)
}

// subscribe subscribes the mailbox to notifications and returns the value of
// m.notifications. Callers subscribe before they change or read anything in the inbox.
func (m *mailbox) subscribe() (notifications int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sub == nil {
		m.sub = m.inbox.core.Bus.Subscribe()
		m.sub.Add(core.InboxTopic(m.key.Session, m.key.ID))
	}
	return m.notifications
}

// addWait registers w, which shares the subscription of the mailbox with the other waits,
// and ends the oldest wait if there are too many. It reports whether w knows which entries
// match it: no notification was processed since it acknowledged.
func (m *mailbox) addWait(w *HeldWait) (knows bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.notifications != m.notifications {
		w.clear = unknownPosition
	}
	m.makeRoom()
	w.nth = m.opened
	m.waits = append(m.waits, w)
	w.sub = m.sub
	return w.clear != unknownPosition
}

func (m *mailbox) removeWait(w *HeldWait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.removeLocked(w)
}

// removeLocked removes w from the open waits. m.mu must be held.
func (m *mailbox) removeLocked(w *HeldWait) {
	m.waits = slices.DeleteFunc(m.waits, func(o *HeldWait) bool { return o == w })
}

// sendAnswer sends w its only answer and removes it from the open waits. m.mu must be held.
func (m *mailbox) sendAnswer(w *HeldWait, a answer) {
	m.removeLocked(w)
	w.result <- a
}

// isClear reports whether every open wait knows that no entry up to the position upTo
// matches it. An upTo of 0 means that the position is unknown. Without open waits isClear
// returns true.
func (m *mailbox) isClear(upTo int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !slices.ContainsFunc(m.waits, func(w *HeldWait) bool { return upTo == 0 || w.clear < upTo })
}

// readForAll reads the unread entries and answers every open wait that they match. It does
// nothing if isClear(upTo). Waits with the same filter get the same entries. If the read
// fails, every wait gets the error, because the notification that would wake it has already
// been received.
func (m *mailbox) readForAll(upTo int64) {
	m.reading <- struct{}{}
	defer func() { <-m.reading }()
	if m.isClear(upTo) {
		return
	}
	ctx := context.WithoutCancel(m.inbox.core.Ctx)
	m.storeUncounted(ctx)
	m.mu.Lock()
	waits := slices.Clone(m.waits)
	clear := make([]int64, len(waits))
	for i, w := range waits {
		clear[i] = w.clear
	}
	m.mu.Unlock()
	m.shareClear(waits, clear)
	found, gone, end, err := m.readEntries(ctx, waits, clear)
	if err == nil {
		m.learnHorizon(waits, found, end)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, w := range waits {
		if !slices.Contains(m.waits, w) || w.call.Err() != nil {
			continue // it has an answer, or finds out itself that its right has ended
		}
		if err != nil {
			m.sendAnswer(w, answer{err: err})
			continue
		}
		if gone[i] {
			m.sendAnswer(w, answer{err: core.SpaceNotFound(w.filter.Space)})
			continue
		}
		if len(found[i]) == 0 {
			w.clear = max(w.clear, end)
			continue
		}
		m.sendAnswer(w, answer{entries: found[i]})
		m.recordDelivered(found[i])
	}
}

// shareClear sets the places up to which nothing matches each wait to the same value for
// waits with the same filter, so that they get the same entries, and at least to what the
// last read of the whole inbox has found.
func (m *mailbox) shareClear(waits []*HeldWait, clear []int64) {
	horizon := m.inbox.horizon(m.key)
	for i := range clear {
		clear[i] = max(clear[i], horizon)
	}
	for i, w := range waits {
		for j, o := range waits[:i] {
			if sameFilter(o.filter, w.filter) {
				clear[i] = max(clear[i], clear[j])
				clear[j] = clear[i]
			}
		}
	}
}

// learnHorizon remembers up to where nothing is unread, if one of the waits was for all
// messages.
func (m *mailbox) learnHorizon(waits []*HeldWait, found [][]storage.InboxEntry, end int64) {
	for i, w := range waits {
		if !sameFilter(w.filter, storage.InboxFilter{Kind: shoal.WaitMessages}) {
			continue
		}
		if len(found[i]) > 0 {
			end = found[i][0].Place - 1
		}
		m.inbox.setHorizon(m.key, end)
		return
	}
}

// readEntries returns the entries that match each wait, from one snapshot; nothing up to
// clear matches them. end is the last place of the session in that snapshot if nothing
// matches one of the waits. gone marks the waits whose space is deleted.
func (m *mailbox) readEntries(ctx context.Context, waits []*HeldWait, clear []int64) (found [][]storage.InboxEntry, gone []bool, end int64, err error) {
	err = m.inbox.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		found, gone = make([][]storage.InboxEntry, len(waits)), make([]bool, len(waits))
		for i, w := range waits {
			if w.filter.Space != "" {
				if gone[i], err = tx.DeletedSpace(m.key.Session, w.filter.Space); err != nil {
					return err
				}
			}
			if j := slices.IndexFunc(waits[:i], func(o *HeldWait) bool { return sameFilter(o.filter, w.filter) }); j >= 0 {
				found[i] = found[j]
				continue
			}
			filter := w.filter
			filter.After = clear[i]
			entries, err := tx.Unread(m.key.Session, m.key.ID, filter, shoal.MaxBatch)
			if err != nil {
				return err
			}
			entries = fitSenders(w.filter, entries)
			for k := range entries {
				entries[k].Delivery++
				entries[k].Message = entries[k].Message.For(m.key.ID)
			}
			if n := len(entries); n > 0 && entries[n-1].EventPlace == 0 {
				if entries[n-1].EventPlace, err = tx.EventEnd(m.key.Session); err != nil {
					return err
				}
			}
			found[i] = entries
		}
		if slices.ContainsFunc(found, func(entries []storage.InboxEntry) bool { return len(entries) == 0 }) {
			end, err = tx.InboxEnd(m.key.Session)
		}
		return err
	})
	return found, gone, end, err
}

func sameFilter(a, b storage.InboxFilter) bool {
	return a.Kind == b.Kind && a.Space == b.Space && slices.Equal(a.From, b.From)
}
