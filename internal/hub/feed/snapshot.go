package feed

import (
	"context"
	"errors"
	"maps"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// takeSnapshots queues the current state of everything that is followed, as the start of
// the stream.
func (f *Follower) takeSnapshots(tx Tx) (err error) {
	f.pending, f.ahead = nil, map[shoal.SpaceID]int64{}
	if f.after, err = tx.EventEnd(f.req.Session); err != nil {
		return err
	}
	f.offsets, f.snapshotAt = map[live.PartKey]int{}, f.after
	if f.req.Run != "" {
		return f.snapshotRun(tx)
	}
	if f.req.Space != "" {
		return f.queueSnapshot(tx, f.req.Space, f.after)
	}
	if f.memberOf, err = currentSpaces(tx, f.key()); err != nil {
		return err
	}
	spaces, err := tx.Spaces(f.req.Session, storage.SpaceFilter{Member: f.followedEntity()})
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if err := f.queueSnapshot(tx, s.ID, f.after); err != nil {
			return err
		}
		// A follower cannot resume here: the other snapshots are still missing.
		f.pending[len(f.pending)-1].Cursor = ""
	}
	cursor := f.cursor(f.after)
	return f.queueEvent(shoal.EventSnapshotEnd, cursor, shoal.SnapshotEndData{
		EventHead: shoal.EventHead{Type: shoal.EventSnapshotEnd, At: shoal.Now()}, Cursor: cursor,
	})
}

// queueSnapshot queues the snapshot of one space. Its cursor resumes after the position
// resumeAt, with the streaming parts of the snapshot.
func (f *Follower) queueSnapshot(tx Tx, id shoal.SpaceID, resumeAt int64) error {
	s, err := tx.Space(f.req.Session, id)
	if err != nil {
		return err
	}
	s, messages, err := f.spaceState(tx, s)
	if err != nil {
		return err
	}
	at, err := tx.EventEnd(f.req.Session)
	if err != nil {
		return err
	}
	if messages, err = f.snapshotMessages(tx, messages, at); err != nil {
		return err
	}
	cursor := f.cursor(resumeAt)
	return f.queueEvent(shoal.EventSnapshot, cursor, shoal.SnapshotData{
		EventHead: shoal.EventHead{Type: shoal.EventSnapshot, SpaceID: &id, At: shoal.Now()},
		Space:     s, Members: s.Members, Messages: messages, Cursor: cursor,
	})
}

// spaceState completes a space for a snapshot, and returns its messages.
func (f *Follower) spaceState(tx Tx, s shoal.Space) (shoal.Space, []shoal.Message, error) {
	if f.req.Light {
		filled := []shoal.Space{s}
		if err := core.FillCounts(tx, f.caller, s.SessionID, filled); err != nil {
			return s, nil, err
		}
		messages, err := tx.Streaming(s.SessionID, s.ID)
		return filled[0], messages, err
	}
	s, err := core.FillSpace(tx, f.caller, s)
	if err != nil {
		return s, nil, err
	}
	messages, err := tx.Messages(s.SessionID, s.ID, storage.Page{Limit: shoal.DefaultPage})
	return s, messages, err
}

func (f *Follower) queueEvent(what shoal.EventType, cursor shoal.Cursor, data any) error {
	body, err := shoal.EncodeJSON(data)
	f.pending = append(f.pending, shoal.Event{Type: what, Cursor: cursor, Data: body})
	return err
}

// queueJoinedSpace queues the snapshot of a space before its first event. If the entity has
// left the space again since, there is no snapshot, and the follower receives only the
// member.left event.
func (f *Follower) queueJoinedSpace(ctx context.Context, id shoal.SpaceID) error {
	maps.DeleteFunc(f.ahead, func(_ shoal.SpaceID, upTo int64) bool { return upTo <= f.after })
	return f.events.core.Store.View(ctx, func(tx storage.Tx) error {
		_, err := core.ReadableSpace(tx, f.caller, f.req.Session, id)
		if errors.Is(err, shoal.NotFound) {
			position, err := f.findLeaving(tx, id)
			f.ahead[id] = position - 1
			return err
		}
		if err != nil {
			return err
		}
		// A follower that is disconnected here and resumes receives member.joined again.
		if err := f.queueSnapshot(tx, id, f.after-1); err != nil {
			return err
		}
		f.partsCurrent = false
		f.feed.requestLoad()
		f.ahead[id], err = tx.EventEnd(f.req.Session)
		return err
	})
}

// findLeaving returns the position of the event with which the entity next leaves a space.
func (f *Follower) findLeaving(tx Tx, id shoal.SpaceID) (position int64, err error) {
	for position = f.after; ; {
		page, err := tx.Events(f.req.Session, f.key().filter(), position, feedPage)
		if err != nil {
			return 0, err
		}
		for _, ev := range page {
			position = ev.Position
			if ev.Space == id && ev.Entity == f.followedEntity() && ev.Type == shoal.EventMemberLeft {
				return position, nil
			}
		}
		if len(page) < feedPage {
			return position, nil
		}
	}
}
