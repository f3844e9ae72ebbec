package hub

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
)

// Inbox lets entities wait for what concerns them and acknowledge it.
type Inbox struct {
	*core
	open      atomic.Int64
	mu        sync.Mutex
	mailboxes map[mailboxKey]*mailbox
}

func newInbox(c *core) *Inbox { return &Inbox{core: c, mailboxes: map[mailboxKey]*mailbox{}} }

// WaitRequest says who waits for what.
type WaitRequest struct {
	Session shoal.SessionID
	// Entity may name the caller; another one is IdentityMismatch.
	Entity shoal.EntityID
	Kind   shoal.WaitKind
	// Timeout is clamped to 0…MaxWait. Zero looks and does not wait.
	Timeout time.Duration
	// Space and From narrow what is waited for, if set.
	Space shoal.SpaceID
	From  []shoal.EntityID
	// Ack is the cursor of an earlier answer: exactly what came with it is
	// acknowledged before the wait begins, and from then on this key
	// acknowledges explicitly.
	Ack string
	// Redeliver asks a caller that acknowledges implicitly to get its previous
	// batch again instead of acknowledging it.
	Redeliver bool
}

// Delivery is the answer of a wait.
type Delivery struct {
	// Result is what clients see.
	Result shoal.WaitResult

	handed *handed
}

// Written tells that the answer was written whole on a connection that still
// stood. Without it the answer counts as lost, and a caller that acknowledges
// implicitly gets the batch again. It may be called from any goroutine.
func (d *Delivery) Written() {
	if d.handed != nil {
		d.handed.once.Do(func() { close(d.handed.written) })
	}
}

// Wait acknowledges what the caller has acknowledged and returns what is unread
// and matches, at most MaxBatch messages in the order of the inbox: at once if
// there is any, else as soon as there is, else a time-out. All waits that an
// entity has open wake with the same messages; a fifth one ends the oldest as
// timed out. It ends with the cause of ctx, having acknowledged nothing but
// what was to be acknowledged when it was accepted; with TooManyWaiters when the
// server holds too many waits; with Unauthenticated or NotFound when the key, the
// entity or the session goes away meanwhile. Stop ends it as timed out.
func (b *Inbox) Wait(ctx context.Context, who shoal.Principal, req WaitRequest) (*Delivery, error) {
	const op = "hub.Inbox.Wait"
	entity, err := waiter(who, &req)
	if err != nil {
		return nil, wrap(op, err)
	}
	filter := InboxFilter{Kind: req.Kind, Space: req.Space, From: req.From}
	if n := b.open.Add(1); n > b.maxWaits {
		b.open.Add(-1)
		return nil, shoal.E(op, shoal.TooManyWaiters, fmt.Sprintf("This server holds %d waits, as many as it may. Try again in a few seconds.", b.maxWaits))
	}
	defer b.open.Add(-1)
	d := &Delivery{Result: shoal.WaitResult{Items: []shoal.WaitItem{}, TimedOut: true, TimeoutMs: req.Timeout.Milliseconds()}}
	if !b.begin() {
		return d, nil
	}
	defer b.running.Done()
	call := b.callers.enter(who.KeyID, req.Session, entity)
	defer b.callers.leave(call)
	box := b.mailbox(mailboxKey{req.Session, entity})
	defer b.release(box)
	if err := b.mayWait(ctx, who, req, entity); err != nil {
		return nil, wrap(op, err)
	}
	if err := b.acknowledge(ctx, who, box, req); err != nil {
		return nil, wrap(op, err)
	}
	ends := time.Now().Add(req.Timeout)
	b.presence.waitOpened(req.Session, entity, ends)
	defer b.presence.waitClosed(req.Session, entity, ends)
	entries, err := box.wait(ctx, call, filter, req.Timeout)
	if err != nil {
		return nil, wrap(op, err)
	}
	if len(entries) > 0 {
		upTo := entries[len(entries)-1].Place
		cursor := b.cursor(box.key, filter, upTo)
		d.Result.Items, d.Result.Cursor, d.Result.TimedOut = items(entries), &cursor, false
		d.handed = box.hand(who.KeyID, filter, upTo)
	}
	return d, nil
}

// waiter checks and completes the request and returns who waits.
func waiter(who shoal.Principal, req *WaitRequest) (shoal.EntityID, error) {
	if err := enter(who, req.Session); err != nil {
		return "", err
	}
	entity, err := actor(who)
	if err != nil {
		return "", err
	}
	if req.Entity != "" && req.Entity != entity {
		return "", shoal.E("", shoal.IdentityMismatch, fmt.Sprintf("Your key acts as %q, not as %q: leave the id out, or use that entity's key.", entity, req.Entity))
	}
	if req.Kind != shoal.WaitMentions && req.Kind != shoal.WaitMessages {
		return "", shoal.Invalid("kind", `must be "mentions" or "messages"`)
	}
	if len(req.From) > shoal.MaxMentions {
		return "", shoal.Invalid("from", fmt.Sprintf("has %d entries; at most %d are allowed", len(req.From), shoal.MaxMentions))
	}
	for _, id := range req.From {
		if err := shoal.CheckID("from", string(id)); err != nil {
			return "", err
		}
	}
	req.From = slices.Compact(slices.Sorted(slices.Values(req.From)))
	req.Timeout = shoal.ClampWait(req.Timeout)
	return entity, nil
}

func (b *Inbox) mayWait(ctx context.Context, who shoal.Principal, req WaitRequest, entity shoal.EntityID) error {
	return b.store.View(ctx, func(tx Tx) error {
		if _, err := entityOf(tx, req.Session, entity); err != nil {
			return err
		}
		if req.Space == "" {
			return nil
		}
		_, err := sees(tx, shoal.Principal{Role: shoal.RoleEntity, SessionID: req.Session, EntityID: entity, KeyID: who.KeyID}, req.Session, req.Space)
		return err
	})
}

// acknowledge does what the call says about earlier answers: the given cursor,
// or, for a caller that never gave one, the previous batch if its answer was
// written whole.
func (b *Inbox) acknowledge(ctx context.Context, who shoal.Principal, box *mailbox, req WaitRequest) error {
	if err := box.marked(ctx); err != nil {
		return err
	}
	if req.Ack != "" {
		filter, upTo, err := b.parseCursor(box.key, req.Ack)
		if err != nil {
			return err
		}
		return b.explicitAck(ctx, who, box, filter, upTo)
	}
	explicit, err := box.explicit(ctx, who.KeyID)
	if err != nil || explicit {
		return err
	}
	if !req.Redeliver {
		if err := box.writing(ctx, who.KeyID); err != nil {
			return err
		}
	}
	done := box.settle(who.KeyID, req.Redeliver)
	if len(done) == 0 {
		return nil
	}
	return b.store.Update(ctx, func(tx Tx) error {
		for _, h := range done {
			if err := tx.Acknowledge(box.key.session, box.key.entity, h.filter, h.upTo); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *Inbox) explicitAck(ctx context.Context, who shoal.Principal, box *mailbox, filter InboxFilter, upTo int64) error {
	err := b.store.Update(ctx, func(tx Tx) error {
		end, err := tx.InboxEnd(box.key.session, box.key.entity)
		if err != nil {
			return err
		}
		if upTo > end {
			return badCursor()
		}
		if err := tx.SetExplicit(box.key.session, box.key.entity, who.KeyID); err != nil {
			return err
		}
		return tx.Acknowledge(box.key.session, box.key.entity, filter, upTo)
	})
	if err == nil {
		box.setExplicit(who.KeyID)
	}
	return err
}

// MarkRead acknowledges the caller's inbox entries of a space up to and with
// seq, and returns the space with its counts.
func (b *Inbox) MarkRead(ctx context.Context, who shoal.Principal, session shoal.SessionID, space shoal.SpaceID, seq int64) (out shoal.Space, err error) {
	const op = "hub.Inbox.MarkRead"
	entity, err := actor(who)
	if err != nil {
		return out, wrap(op, err)
	}
	if seq < 0 {
		return out, wrap(op, shoal.Invalid("seq", "must not be negative"))
	}
	err = b.change(ctx, op, func(ch *change) (err error) {
		if out, err = sees(ch, who, session, space); err != nil {
			return err
		}
		if err := ch.AcknowledgeSpace(session, space, entity, seq); err != nil {
			return err
		}
		out, err = whole(ch, who, out)
		return err
	})
	return out, err
}

// items groups entries by space, spaces in the order of their first entry.
func items(entries []InboxEntry) []shoal.WaitItem {
	out := []shoal.WaitItem{}
	for _, e := range entries {
		i := slices.IndexFunc(out, func(it shoal.WaitItem) bool { return it.Space.ID == e.Space.ID })
		if i < 0 {
			i = len(out)
			out = append(out, shoal.WaitItem{Space: e.Space})
		}
		out[i].Messages = append(out[i].Messages, shoal.InboxMessage{Message: e.Message, Delivery: e.Delivery, Reason: e.Reason})
	}
	return out
}

// A cursor names a batch: whose inbox it is from, the last place in it and the
// filter that chose it. Places are given in the order of commits, so no entry
// can join the batch later. It is good in the database and for the entity that
// it was given to: another's would acknowledge what its bearer never saw.

func (b *Inbox) cursor(box mailboxKey, f InboxFilter, upTo int64) string {
	from := make([]string, len(f.From))
	for i, id := range f.From {
		from[i] = string(id)
	}
	return strings.Join([]string{
		"in", b.store.Epoch(), string(box.session), string(box.entity), strconv.FormatInt(upTo, 10),
		string(f.Kind), string(f.Space), strings.Join(from, ","),
	}, ":")
}

func (b *Inbox) parseCursor(box mailboxKey, s string) (f InboxFilter, upTo int64, err error) {
	part := strings.Split(s, ":")
	if len(part) != 8 || part[0] != "in" || part[1] != b.store.Epoch() {
		return f, 0, badCursor()
	}
	if part[2] != string(box.session) || part[3] != string(box.entity) {
		return f, 0, badCursor()
	}
	if upTo, err = strconv.ParseInt(part[4], 10, 64); err != nil || upTo < 1 {
		return f, 0, badCursor()
	}
	f.Kind, f.Space = shoal.WaitKind(part[5]), shoal.SpaceID(part[6])
	if f.Kind != shoal.WaitMentions && f.Kind != shoal.WaitMessages {
		return f, 0, badCursor()
	}
	if part[7] != "" {
		for id := range strings.SplitSeq(part[7], ",") {
			f.From = append(f.From, shoal.EntityID(id))
		}
	}
	return f, upTo, nil
}

func badCursor() error {
	return shoal.Invalid("ack", "must be the cursor of an earlier answer to a wait of this entity, unchanged")
}
