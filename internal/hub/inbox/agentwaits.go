package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
)

// agentWait is an open wait for agents.
type agentWait struct {
	inbox   *Inbox
	who     shoal.Principal
	session shoal.SessionID
	ids     []shoal.EntityID
	count   int

	nth          int64          // its number among the waits of its mailbox
	over         chan struct{}  // closed when a later wait ends this one
	present      []shoal.Entity // at most a page of the present entities
	presentCount int
	missing      []shoal.EntityID
}

// WaitForAgents returns once all of ids are present, that is, in any state but offline.
// Without ids it returns once count entities besides the caller are present. Ids that do
// not exist yet are allowed. At the time-out it returns timedOut and the ids that are
// missing; with a count, missing is empty.
//
// A wait for agents counts as a wait for messages does: among those of the server and among
// the four of its caller, of which a fifth ends the oldest as timed out. It ends when the
// right to it is withdrawn, as [Inbox.Wait] does.
func (b *Inbox) WaitForAgents(ctx context.Context, who shoal.Principal, session shoal.SessionID, ids []shoal.EntityID, count int, timeout time.Duration) (present []shoal.Entity, missing []shoal.EntityID, timedOut bool, err error) {
	const op = "hub.Inbox.WaitForAgents"
	if err := checkAgentWait(who, session, ids, count); err != nil {
		return nil, nil, false, core.Wrap(op, err)
	}
	if err := b.countWait(who); err != nil {
		return nil, nil, false, core.Wrap(op, err)
	}
	defer b.open.Leave(limit.Of(who))
	if !b.core.Begin() {
		return nil, nil, false, core.Wrap(op, core.ErrStopping)
	}
	defer b.core.Running.Done()
	call := b.core.Calls.Enter(who, session, who.EntityID)
	defer b.core.Calls.Leave(call)
	box := b.mailbox(mailboxKey(who, session))
	defer b.release(box)
	b.core.Presence.StreamOpened(session, who.EntityID)
	defer b.core.Presence.StreamClosed(session, who.EntityID)
	w := &agentWait{inbox: b, who: who, session: session, ids: ids, count: count, over: make(chan struct{})}
	box.addAgentWait(w)
	defer box.removeAgentWait(w)
	timedOut, err = w.block(ctx, call, timeout)
	if err != nil {
		return nil, nil, false, core.Wrap(op, err)
	}
	return w.present, w.missing, timedOut, nil
}

// checkAgentWait checks that the caller may wait in the session, and the ids and the count.
func checkAgentWait(who shoal.Principal, session shoal.SessionID, ids []shoal.EntityID, count int) error {
	if err := core.CheckSession(who, session); err != nil {
		return err
	}
	if len(ids) == 0 && count < 1 {
		return shoal.Invalid("agentIds", "is missing: name agents, or give count")
	}
	if len(ids) > shoal.MaxWaitAgents {
		return shoal.Invalid("agentIds", fmt.Sprintf("has %d entries; at most %d are allowed", len(ids), shoal.MaxWaitAgents))
	}
	for i, id := range ids {
		if err := shoal.CheckID("agentIds", string(id)); err != nil {
			return err
		}
		if slices.Contains(ids[:i], id) {
			return shoal.Invalid("agentIds", fmt.Sprintf("has %q twice", id))
		}
	}
	return nil
}

// mailboxKey returns the key of the mailbox that counts the waits of a caller. A key
// without an entity has a mailbox of its own, under an id that no entity can have.
func mailboxKey(who shoal.Principal, session shoal.SessionID) storage.EntityRef {
	if who.EntityID == "" {
		return storage.EntityRef{Session: session, ID: shoal.EntityID("key:" + who.KeyID)}
	}
	return storage.EntityRef{Session: session, ID: who.EntityID}
}

// block waits until all are present, the time is up, or the right to wait has ended.
func (w *agentWait) block(ctx context.Context, call *core.Call, timeout time.Duration) (timedOut bool, err error) {
	b := w.inbox
	timer := time.NewTimer(shoal.ClampWait(timeout))
	defer timer.Stop()
	for last := false; ; {
		arrivals := b.core.Presence.Arrivals(w.session)
		if err := call.Err(); err != nil {
			return false, err
		}
		if err := w.readPresence(ctx); err != nil {
			return false, err
		}
		if len(w.ids) > 0 && len(w.missing) == 0 || len(w.ids) == 0 && w.presentCount >= w.count {
			return false, nil
		}
		if last {
			return true, nil
		}
		select {
		case <-arrivals:
		case <-call.Gone:
		case <-timer.C:
			last = true // read once more: the last read is from the last arrival
		case <-w.over:
			last = true
		case <-b.core.Ctx.Done():
			return true, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// readPresence finds which of the ids, or of all entities but the caller, are not offline.
func (w *agentWait) readPresence(ctx context.Context) error {
	p := w.inbox.core.Presence
	return w.inbox.core.View(ctx, "hub.Inbox.WaitForAgents", func(tx storage.Tx) (err error) {
		if _, err := core.FindSession(tx, w.session); err != nil {
			return err
		}
		w.present, w.missing, w.presentCount = []shoal.Entity{}, []shoal.EntityID{}, 0
		wanted := w.ids
		if len(w.ids) == 0 {
			if wanted, err = p.PossiblyPresent(tx, w.session); err != nil {
				return err
			}
		}
		for _, id := range wanted {
			if len(w.ids) == 0 && id == w.who.EntityID {
				continue
			}
			e, err := core.FindEntity(tx, w.session, id) // it may have been deleted since
			if err != nil && !errors.Is(err, shoal.NotFound) {
				return err
			}
			if e = p.FillLiveState(e); err != nil || e.State == shoal.Offline {
				w.missing = append(w.missing, id)
				continue
			}
			if w.presentCount++; len(w.present) < shoal.MaxPage {
				w.present = append(w.present, e)
			}
		}
		if len(w.ids) == 0 {
			w.missing = w.missing[:0] // the caller named no ids
		}
		return nil
	})
}

// addAgentWait adds w to the open waits of the mailbox.
func (m *mailbox) addAgentWait(w *agentWait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.makeRoom()
	w.nth = m.opened
	m.agentWaits = append(m.agentWaits, w)
}

func (m *mailbox) removeAgentWait(w *agentWait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.agentWaits = slices.DeleteFunc(m.agentWaits, func(o *agentWait) bool { return o == w })
}

// makeRoom counts a new wait, and ends the oldest one if there are too many. m.mu must be
// held.
func (m *mailbox) makeRoom() {
	m.opened++
	if len(m.waits)+len(m.agentWaits) < shoal.MaxOpenWaits {
		return
	}
	if len(m.agentWaits) > 0 && (len(m.waits) == 0 || m.agentWaits[0].nth < m.waits[0].nth) {
		close(m.agentWaits[0].over)
		m.agentWaits = m.agentWaits[1:]
		return
	}
	m.sendAnswer(m.waits[0], answer{})
}
