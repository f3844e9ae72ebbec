package feed

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Next returns the next events, at least one, or none once the time until is reached. It
// costs least if until is the same as in the previous call. Next fails with the cause of
// ctx; with NotFound or Unauthenticated once the caller may no longer follow; with Busy if
// the follower was too slow; and with ErrStopping. The events are valid until the next
// call; their data is shared and must not be changed. The stream of a run continues after
// the run has ended.
func (f *Follower) Next(ctx context.Context, until time.Time) ([]shoal.Event, error) {
	switch {
	case f.timer == nil:
		f.timer = time.NewTimer(time.Until(until))
	case !f.due.Equal(until):
		f.timer.Reset(time.Until(until))
	}
	f.due = until
	for {
		if err := f.call.Err(); err != nil {
			return nil, core.Wrap("hub.Follower.Next", err)
		}
		if err := f.refreshRunSpaces(ctx); err != nil {
			return nil, core.Wrap("hub.Follower.Next", err)
		}
		if len(f.pending) > 0 {
			return f.takePending(), nil
		}
		if f.ended {
			return nil, core.Wrap("hub.Follower.Next", core.SpaceNotFound(f.req.Space))
		}
		if f.after < f.until {
			if err := f.catchUpEvents(ctx); err != nil {
				return nil, core.Wrap("hub.Follower.Next", err)
			}
			continue
		}
		if !f.partsCurrent {
			if err := f.catchUpParts(); err != nil {
				return nil, core.Wrap("hub.Follower.Next", err)
			}
			continue
		}
		entries, next, changed, err := f.feed.entriesFrom(f.index)
		switch {
		case len(entries) > 0:
			f.index = next
			if err := f.queueEntries(ctx, entries); err != nil {
				return nil, core.Wrap("hub.Follower.Next", err)
			}
			continue
		case err != nil:
			if errors.Is(err, shoal.Busy) {
				f.events.core.Metrics.CutOff.Add(1)
			}
			return nil, err
		}
		select {
		case <-f.call.Gone:
		case <-f.membersChanged():
			f.spacesStale = true
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-f.timer.C:
			f.due = time.Time{} // it has fired
			return nil, nil
		case <-changed:
		}
	}
}

// takePending returns the pending events and empties the queue. Most calls return one
// event, so the memory of small results is used again by the call after the next.
func (f *Follower) takePending() []shoal.Event {
	out := f.pending
	f.pending, f.reusable = f.reusable[:0], nil
	if cap(out) <= maxReusedEvents {
		f.reusable = out
	}
	return out
}

// maxReusedEvents is the number of events up to which a follower reuses the memory of a
// result.
const maxReusedEvents = 8

// catchUpEvents reads one page of the events that the feed had loaded before this follower
// connected.
func (f *Follower) catchUpEvents(ctx context.Context) error {
	var page []storage.Event
	err := f.events.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		page, err = tx.Events(f.req.Session, f.feed.key.filter(), f.after, feedPage)
		return err
	})
	if err != nil {
		return err
	}
	end := f.until
	if len(page) == feedPage {
		end = min(end, page[len(page)-1].Position)
	}
	entries := make([]entry, 0, len(page))
	for _, ev := range page {
		if ev.Position <= f.until { // the feed delivers the rest
			entries = append(entries, entry{position: ev.Position, event: ev, part: f.events.partEvent(ev)})
		}
	}
	if err := f.queueEntries(ctx, entries); err != nil {
		return err
	}
	f.after = max(f.after, end)
	return nil
}

// queueEntries queues the entries that the follower has not received yet, and handles those
// that concern its own membership.
func (f *Follower) queueEntries(ctx context.Context, entries []entry) error {
	for _, en := range entries {
		ev := en.event
		if en.delta != nil {
			if err := f.queueEphemeralDelta(en); err != nil {
				return err
			}
			continue
		}
		if en.drafts {
			if err := f.catchUpDrafts(); err != nil {
				return err
			}
			continue
		}
		if en.position == 0 && ev.Entity != "" && ev.Entity != f.caller.EntityID && !scopes.Can(f.caller, roles.Manage) {
			continue // it is for another entity
		}
		if en.position == 0 {
			f.pending = append(f.pending, shoal.Event{Type: ev.Type, Data: ev.Data})
			continue
		}
		if en.position <= f.after || f.ended {
			continue
		}
		before := f.after
		f.after = en.position
		if !f.memberOf.apply(f.followedEntity(), ev) || len(f.ahead) > 0 && en.position <= f.ahead[ev.Space] {
			continue
		}
		data, err := f.visibleData(ctx, ev)
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		about := core.ReaderEntity(f.caller) != "" && ev.Entity == core.ReaderEntity(f.caller)
		if about && ev.Type == shoal.EventMemberJoined && f.req.Space == "" {
			if err := f.queueJoinedSpace(ctx, ev.Space); err != nil {
				return err
			}
		}
		if endsReasoning(ev.Type) {
			if err := f.endStandalone(string(ev.Run)); err != nil {
				return err
			}
		}
		if err := f.trackPart(en, before); err != nil {
			return err
		}
		cursor := en.cursor
		if cursor == "" || len(f.ahead) > 0 || len(f.offsets) > 0 {
			cursor = f.cursor(en.position)
		}
		f.pending = append(f.pending, shoal.Event{Type: ev.Type, Cursor: cursor, Data: data})
		if f.req.Space != "" && (ev.Type == shoal.EventSpaceDeleted || about && ev.Type == shoal.EventMemberLeft) {
			f.ended = true
		}
	}
	return nil
}
