package inbox

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// countWait counts an open wait of a caller, of either kind, until the caller leaves
// b.open. It fails with TooManyWaiters if the server has as many open waits as it allows,
// or if the caller has used its share of them.
func (b *Inbox) countWait(caller shoal.Principal) error {
	if b.open.Enter(limit.Of(caller)) != limit.Entered {
		return shoal.E("", shoal.TooManyWaiters, "This server holds as many waits as it may. Try again in a few seconds.")
	}
	return nil
}

// Inbox lets entities wait for messages that are addressed to them, and acknowledge them.
type Inbox struct {
	core      *core.Core
	open      *limit.Open // counts the open waits of all callers
	mu        sync.Mutex
	mailboxes map[storage.EntityRef]*mailbox
	sessions  map[shoal.SessionID]*sessionWaits

	horizonMu sync.Mutex
	horizons  map[storage.EntityRef]int64
}

// NewInbox returns the inboxes of a hub, which hold at most mostWaits open waits. It
// registers the number of open waits as a gauge in m.
func NewInbox(c *core.Core, mostWaits int, m *metrics.Set) *Inbox {
	b := &Inbox{core: c, open: limit.NewOpen(0, mostWaits), mailboxes: map[storage.EntityRef]*mailbox{}, sessions: map[shoal.SessionID]*sessionWaits{}}
	c.Presence.WatchWaits(b.holdAdapters)
	m.GaugeFunc("shoal_waits_open", "Waits that are open.", func() float64 { return float64(b.open.Count()) })
	return b
}

// Waits returns the limit on the open waits of all callers.
func (b *Inbox) Waits() *limit.Open { return b.open }

// prepareRequest checks the request, fills in its defaults and returns the entity that
// waits. Only a wait for agents can do without one.
func prepareRequest(caller shoal.Principal, req *WaitRequest) (shoal.EntityID, error) {
	req.Timeout = shoal.ClampWait(req.Timeout)
	if req.Agents != nil {
		return caller.EntityID, req.Agents.check(caller, req.Session)
	}
	if err := core.Authorize(caller, req.Session, roles.KeepInbox); err != nil {
		return "", err
	}
	space, err := scopes.One(caller.Scopes, req.Space)
	if err != nil {
		return "", err
	}
	req.Space = space
	entity, err := core.ActingEntity(caller)
	if err != nil {
		return "", err
	}
	if req.Entity != "" && req.Entity != entity {
		return "", shoal.E("", shoal.IdentityMismatch, fmt.Sprintf("Your key acts as %q, not as %q: leave the id out, or use that entity's key.", entity, req.Entity))
	}
	if req.Adapter != nil {
		if err := req.Adapter.Validate(); err != nil {
			return "", err
		}
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
	return entity, nil
}

// MarkRead acknowledges the caller's inbox entries of a space up to and including seq,
// and returns the space with its counts.
func (b *Inbox) MarkRead(ctx context.Context, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID, seq int64) (out shoal.Space, err error) {
	const op = "hub.Inbox.MarkRead"
	if err := core.Authorize(caller, session, roles.KeepInbox); err != nil {
		return out, core.Wrap(op, err)
	}
	entity, err := core.ActingEntity(caller)
	if err != nil {
		return out, core.Wrap(op, err)
	}
	if seq < 0 {
		return out, core.Wrap(op, shoal.Invalid("seq", "must not be negative"))
	}
	err = b.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if out, err = core.ReadableSpace(ch, caller, session, space); err != nil {
			return err
		}
		if err := ch.AcknowledgeSpace(session, space, entity, seq); err != nil {
			return err
		}
		out, err = core.FillSpace(ch, caller, out)
		return err
	})
	return out, err
}

// maxMarkedUnread is how many messages one call marks as unread at most.
const maxMarkedUnread = 1000

// MarkUnread marks the messages of a space, starting with the message seq, as unread again
// and returns the space with its counts. At most the newest thousand messages are marked;
// the caller's own and deleted messages stay read. Open waits do not wake; the next wait
// returns the messages.
//
// MarkUnread is for humans. It fails with Forbidden for agents: they process their inbox
// with waits, which never return acknowledged messages again, and read the timeline
// instead. It also fails with Forbidden for entities that are not members.
func (b *Inbox) MarkUnread(ctx context.Context, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID, seq int64) (out shoal.Space, err error) {
	const op = "hub.Inbox.MarkUnread"
	if err := core.Authorize(caller, session, roles.KeepInbox); err != nil {
		return out, core.Wrap(op, err)
	}
	entity, err := core.ActingEntity(caller)
	if err != nil {
		return out, core.Wrap(op, err)
	}
	if seq < 1 {
		return out, core.Wrap(op, shoal.Invalid("seq", "must be at least 1: it is the first message that is to be unread"))
	}
	err = b.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		if out, err = core.VisibleSpace(ch, caller, session, space, ch.LockSpace); err != nil {
			return err
		}
		if err := mayMarkUnread(ch, out, entity); err != nil {
			return err
		}
		if err := ch.MarkUnread(session, space, entity, seq, maxMarkedUnread); err != nil {
			return err
		}
		out, err = core.FillSpace(ch, caller, out)
		return err
	})
	return out, err
}

func mayMarkUnread(tx Tx, s shoal.Space, entity shoal.EntityID) error {
	e, err := core.FindEntity(tx, s.SessionID, entity)
	if err != nil {
		return err
	}
	if e.Kind != shoal.Human {
		return shoal.E("", shoal.Forbidden, "Only people mark messages as unread; an agent reads them again in the timeline (?after=SEQ, read_thread). "+approval.WrongKind(e.ID, e.Kind))
	}
	in, err := tx.IsMember(s.SessionID, s.ID, entity)
	if err == nil && !in {
		err = shoal.E("", shoal.Forbidden, fmt.Sprintf("%q is not a member of the space %q, so nothing there is unread for it.", entity, s.ID))
	}
	return err
}

// groupBySpace groups entries by space. The spaces are in the order of their first entry.
func groupBySpace(entries []storage.InboxEntry) []shoal.WaitItem {
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
