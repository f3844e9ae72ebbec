package feed

import (
	"context"
	"errors"
	"maps"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// snapshots puts the present state of everything followed before the events.
func (f *Follower) snapshots(tx Tx) (err error) {
	f.pending, f.FindAhead = nil, map[shoal.SpaceID]int64{}
	if f.after, err = tx.EventEnd(f.req.Session); err != nil {
		return err
	}
	f.known, f.seen = map[runs.PartKey]int{}, f.after
	if f.req.Run != "" {
		return f.snapshotRun(tx)
	}
	if f.req.Space != "" {
		return f.snapshot(tx, f.req.Space, f.after)
	}
	if f.in, err = spacesOf(tx, f.key()); err != nil {
		return err
	}
	spaces, err := tx.Spaces(f.req.Session, storage.SpaceFilter{Member: f.ownSpaces()})
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if err := f.snapshot(tx, s.ID, f.after); err != nil {
			return err
		}
		// No place to resume behind: the other snapshots are still to come.
		f.pending[len(f.pending)-1].Cursor = ""
	}
	cursor := f.cursor(f.after)
	return f.encode(shoal.EventSnapshotEnd, cursor, shoal.SnapshotEndData{
		EventHead: shoal.EventHead{Type: shoal.EventSnapshotEnd, At: shoal.Now()}, Cursor: cursor,
	})
}

// snapshot appends the snapshot of one space. Whoever has it resumes behind a
// place, and with what it knows of the parts in progress.
func (f *Follower) snapshot(tx Tx, id shoal.SpaceID, behind int64) error {
	s, err := tx.Space(f.req.Session, id)
	if err != nil {
		return err
	}
	if s, err = core.FillSpace(tx, f.who, s); err != nil {
		return err
	}
	messages, err := tx.Messages(f.req.Session, id, storage.Page{Limit: shoal.DefaultPage})
	if err != nil {
		return err
	}
	at, err := tx.EventEnd(f.req.Session)
	if err != nil {
		return err
	}
	messages = f.takeMessages(messages, at)
	cursor := f.cursor(behind)
	return f.encode(shoal.EventSnapshot, cursor, shoal.SnapshotData{
		EventHead: shoal.EventHead{Type: shoal.EventSnapshot, SpaceID: &id, At: shoal.Now()},
		Space:     s, Members: s.Members, Messages: messages, Cursor: cursor,
	})
}

func (f *Follower) encode(what shoal.EventType, cursor shoal.Cursor, data any) error {
	body, err := shoal.EncodeJSON(data)
	f.pending = append(f.pending, shoal.Event{Type: what, Cursor: cursor, Data: body})
	return err
}

// joined puts the snapshot of a space before its first event. A space that the
// entity has left again meanwhile has none: all that there is to see of it is
// the leaving.
func (f *Follower) joined(ctx context.Context, id shoal.SpaceID) error {
	maps.DeleteFunc(f.FindAhead, func(_ shoal.SpaceID, upTo int64) bool { return upTo <= f.after })
	return f.events.core.Store.View(ctx, func(tx storage.Tx) error {
		_, err := core.ReadableSpace(tx, f.who, f.req.Session, id)
		if errors.Is(err, shoal.NotFound) {
			place, err := f.leaving(tx, id)
			f.FindAhead[id] = place - 1
			return err
		}
		if err != nil {
			return err
		}
		// Who is cut off here and resumes has the joining come again.
		if err := f.snapshot(tx, id, f.after-1); err != nil {
			return err
		}
		f.current = false
		f.feed.look()
		f.FindAhead[id], err = tx.EventEnd(f.req.Session)
		return err
	})
}

// leaving finds where the entity next leaves a space.
func (f *Follower) leaving(tx Tx, id shoal.SpaceID) (place int64, err error) {
	for place = f.after; ; {
		page, err := tx.Events(f.req.Session, f.key().filter(), place, feedPage)
		if err != nil {
			return 0, err
		}
		for _, ev := range page {
			place = ev.Place
			if ev.Space == id && ev.Entity == f.ownSpaces() && ev.Type == shoal.EventMemberLeft {
				return place, nil
			}
		}
		if len(page) < feedPage {
			return place, nil
		}
	}
}
