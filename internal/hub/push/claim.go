package push

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// Grace is how long a person has to read something where they are before they are notified of it.
	Grace = 5 * time.Second
	// hold is how long a server is the one that sends.
	hold = time.Minute
	// claimed is how many subscriptions one claim serves, and most how many notices of each kind a
	// subscription gets from it: the newest.
	claimed, most = 100, 3
	// scanned is how many mentions or pending actions one claim reads of a subscription.
	scanned = 100
)

// Kinds of notices.
const (
	Mentioned = "mention"
	Asked     = "pending"
)

// Notice is what a person is notified of: an agent or a person mentioned them, or an agent waits for
// an answer. SpaceID and Seq are where; SpaceID is empty for an action that no space shows, and Seq 0
// if no message does. Notices with equal tags replace each other.
type Notice struct {
	Kind      string          `json:"kind"`
	By        string          `json:"by"`
	SessionID shoal.SessionID `json:"sessionId"`
	SpaceID   shoal.SpaceID   `json:"spaceId,omitempty"`
	Space     string          `json:"space,omitempty"`
	Seq       int64           `json:"seq,omitempty"`
	Tag       string          `json:"tag"`
}

// Outgoing is a notice for one browser.
type Outgoing struct {
	Session shoal.SessionID
	ID      storage.PushID
	Target  storage.PushTarget
	Notice  Notice
}

// Claim returns the notices that are due, at most a few hundred, and more if there may be others: to
// the server of that name alone, which is to send them at once. Another server gets none for a minute
// after the last call. It checks no rights.
func (p *Push) Claim(ctx context.Context, server string) (out []Outgoing, more bool, err error) {
	const op = "hub.Push.Claim"
	var due []storage.Push
	find := func(tx storage.Tx) (err error) {
		now := shoal.Now()
		due, err = tx.PushDue(now, shoal.At(now.Add(-Grace)), claimed)
		return err
	}
	if err := p.core.View(ctx, op, find); err != nil || len(due) == 0 {
		return nil, false, err
	}
	err = p.core.Change(ctx, op, storage.NoSession, func(ch *core.Change) error {
		out = nil
		now, err := ch.Now()
		if err != nil {
			return err
		}
		held, err := ch.HoldPush(server, now, shoal.At(now.Add(hold)))
		if err != nil || !held {
			more = false
			return err
		}
		if err := errors.Join(ch.DeleteExpiredPushes(ch.At), find(ch.Tx)); err != nil {
			return err
		}
		moved := false
		for _, s := range due {
			notices, changed, err := noticesFor(ch, s)
			if err != nil {
				return err
			}
			moved = moved || changed
			for _, n := range notices {
				out = append(out, Outgoing{s.Session, s.ID, s.Target, n})
			}
		}
		more = moved && len(due) == claimed
		return nil
	})
	return out, more, err
}

// noticesFor returns what a subscription is to be notified of now, and moves its positions. changed
// reports whether they have moved.
func noticesFor(ch *core.Change, s storage.Push) (out []Notice, changed bool, err error) {
	cutoff := shoal.At(ch.At.Add(-Grace))
	mentions, place, err := mentionsFor(ch, s, cutoff)
	if err != nil {
		return nil, false, err
	}
	asked, err := actionsFor(ch, s, cutoff)
	if err != nil {
		return nil, false, err
	}
	if out, err = unmuted(ch, s, slices.Concat(mentions, asked)); err != nil {
		return nil, false, err
	}
	if err := name(ch, s, out); err != nil {
		return nil, false, err
	}
	openedAt := s.OpenedAt
	if cutoff.After(openedAt.Time) {
		openedAt = cutoff
	}
	var sent *shoal.Time
	if len(out) > 0 {
		sent = &ch.At
	}
	return out, place != s.Place || openedAt != s.OpenedAt, ch.MovePush(s.ID, place, openedAt, sent)
}

// mentionsFor returns the newest unread mentions after the place of a subscription, and the place up
// to which there is nothing else. Of each space it returns the last one.
func mentionsFor(ch *core.Change, s storage.Push, cutoff shoal.Time) (out []Notice, place int64, err error) {
	end, err := ch.InboxEnd(s.Session)
	if err != nil {
		return nil, 0, err
	}
	unread, err := ch.Unread(s.Session, s.Entity, storage.InboxFilter{Kind: shoal.WaitMentions, After: s.Place}, scanned)
	if err != nil {
		return nil, 0, err
	}
	if len(unread) == scanned {
		end = unread[scanned-1].Place
	}
	for _, e := range unread {
		if e.Message.UpdatedAt.After(cutoff.Time) {
			end = e.Place - 1
			break
		}
		if m := e.Message; slices.Contains(m.Mentions, s.Entity) {
			out = slices.DeleteFunc(out, func(n Notice) bool { return n.SpaceID == m.SpaceID })
			out = append(out, Notice{Kind: Mentioned, By: string(m.EntityID), SpaceID: m.SpaceID, Seq: m.Seq, Tag: "message:" + string(m.ID)})
		}
	}
	return newest(out), max(end, s.Place), nil
}

// actionsFor returns the newest open pending actions that the entity of a subscription may answer and
// was not notified of.
func actionsFor(ch *core.Change, s storage.Push, cutoff shoal.Time) (out []Notice, err error) {
	caller := shoal.Principal{Role: shoal.RoleEntity, SessionID: s.Session, EntityID: s.Entity}
	judge := pending.NewJudge(ch, s.Session)
	open, err := ch.PendingActions(s.Session, storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}, Reader: s.Entity, Newest: true, Limit: scanned})
	for _, row := range open {
		if !row.CreatedAt.After(s.OpenedAt.Time) || row.CreatedAt.After(cutoff.Time) {
			continue
		}
		may, err := judge.MayAnswer(caller, row)
		if err != nil {
			return nil, err
		}
		if !may {
			continue
		}
		n := Notice{Kind: Asked, By: string(row.AgentID), SpaceID: pending.IDOrEmpty(row.SpaceID), Tag: "pending:" + string(row.ID)}
		if row.SpaceID != nil && row.MessageID != nil {
			m, err := ch.Message(s.Session, *row.SpaceID, *row.MessageID)
			if err != nil && !errors.Is(err, shoal.NotFound) {
				return nil, err
			}
			n.Seq = m.Seq
		}
		out = append(out, n)
	}
	slices.Reverse(out)
	return newest(out), err
}

func newest(all []Notice) []Notice { return all[max(0, len(all)-most):] }

// unmuted returns the notices from spaces that the entity has not muted.
func unmuted(ch *core.Change, s storage.Push, all []Notice) ([]Notice, error) {
	var spaces []shoal.SpaceID
	for _, n := range all {
		if n.SpaceID != "" && !slices.Contains(spaces, n.SpaceID) {
			spaces = append(spaces, n.SpaceID)
		}
	}
	if len(spaces) == 0 {
		return all, nil
	}
	counts, err := ch.Counts(s.Session, s.Entity, spaces)
	return slices.DeleteFunc(all, func(n Notice) bool { return counts[n.SpaceID].Muted }), err
}

// name completes notices with the names of what they name by id.
func name(ch *core.Change, s storage.Push, all []Notice) error {
	for i := range all {
		n := &all[i]
		n.SessionID = s.Session
		names, err := ch.EntityNames(s.Session, []shoal.EntityID{shoal.EntityID(n.By)})
		if err != nil {
			return err
		}
		n.By = cmp.Or(names[shoal.EntityID(n.By)], n.By)
		if n.SpaceID == "" {
			continue
		}
		space, err := ch.Space(s.Session, n.SpaceID)
		if err != nil && !errors.Is(err, shoal.NotFound) {
			return err
		}
		n.Space = cmp.Or(space.Name, string(n.SpaceID))
	}
	return nil
}
