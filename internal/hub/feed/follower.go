package feed

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// FollowRequest selects what to follow: one run, one space, or, with both empty, all spaces
// of the caller, including those that it joins later. An entity that follows a run sees
// only what its spaces show of it; steps and reasoning are for services and admins.
type FollowRequest struct {
	Session shoal.SessionID
	Run     shoal.RunID
	Space   shoal.SpaceID
	// After is the cursor of the last event that the caller has received; the follower
	// resumes after it. If it is empty, unknown or too old, the follower starts with a
	// snapshot.
	After shoal.Cursor
	// Light makes the snapshots of spaces small: without members, and with those messages
	// only that are still being written.
	Light bool
}

// Follower delivers events in order: first the missed events, or a snapshot of each space
// (and snapshot.end after several), then every later event, without gaps or duplicates. The
// deltas of a part since its last reset add up to its stored text, also for a follower that
// missed some or was disconnected. A Follower must be used by one goroutine at a time.
type Follower struct {
	events       *Events
	caller       shoal.Principal
	req          FollowRequest
	call         *core.Call
	feed         *feed
	index        int64
	after        int64                   // stored events up to this position are delivered or in a snapshot
	until        int64                   // catch-up reads the store up to this position
	ahead        map[shoal.SpaceID]int64 // positions of the snapshots of spaces that were joined since
	memberOf     memberSpaces            // as of after
	offsets      map[live.PartKey]int    // delivered bytes of each streaming part
	snapshotAt   int64                   // position of the first snapshot
	partsCurrent bool                    // catchUpParts has run, and need not run again
	caughtUp     bool                    // catchUpParts has run
	membership   core.Subscription       // notifies an entity that follows a run when it joins or leaves a space
	runSpaces    map[shoal.SpaceID]bool  // the spaces of such an entity
	// spacesStale is set if runSpaces must be read again.
	spacesStale bool
	pending     []shoal.Event
	reusable    []shoal.Event // the result of the last Next; the call after the next reuses its memory
	ended       bool
	timer       *time.Timer // of Next; it runs on between calls
	due         time.Time   // when it fires
}

// Follow starts to follow what req selects. It fails with NotFound if the caller may not
// follow it, and with InvalidArgument for a malformed cursor. The caller must close the
// follower.
func (e *Events) Follow(ctx context.Context, caller shoal.Principal, req FollowRequest) (*Follower, error) {
	const op = "hub.Events.Follow"
	f := &Follower{events: e, caller: caller, req: req, offsets: map[live.PartKey]int{}}
	if req.Run != "" {
		f.req.Space = ""
	}
	f.call = e.core.Calls.Enter(caller, req.Session, core.OwnEntity(caller))
	if err := f.open(ctx); err != nil {
		e.core.Calls.Leave(f.call)
		f.unwatchMembership()
		return nil, core.Wrap(op, err)
	}
	e.core.Presence.StreamOpened(req.Session, caller.EntityID)
	e.core.Metrics.Followers.Add(1)
	return f, nil
}

// open joins the feed and reads what precedes it. It checks the right to follow twice:
// before it opens a feed, and in the transaction of the snapshot, because the right may be
// withdrawn in between.
func (f *Follower) open(ctx context.Context) error {
	if err := f.call.Err(); err != nil {
		return err
	}
	store := f.events.core.Store
	if err := store.View(ctx, f.mayFollow); err != nil {
		return err
	}
	feed, err := f.events.attach(ctx, f.key())
	if err != nil {
		return err
	}
	f.index, f.until = feed.end()
	f.watchMembership()
	if err := store.View(ctx, f.resumeOrSnapshot); err != nil {
		f.events.detach(feed)
		return err
	}
	f.feed = feed
	feed.requestLoad()
	return nil
}

func (f *Follower) key() feedKey {
	return feedKey{f.req.Session, f.req.Run, f.req.Space, f.followedEntity()}
}

// followedEntity returns the entity whose spaces are followed, or "" if one space or run is
// followed, or all.
func (f *Follower) followedEntity() shoal.EntityID {
	if f.req.Space != "" || f.req.Run != "" {
		return ""
	}
	return core.ReaderEntity(f.caller)
}

func (f *Follower) mayFollow(tx storage.Tx) error {
	if f.req.Run == "" && f.req.Space != "" {
		_, err := core.ReadableSpace(tx, f.caller, f.req.Session, f.req.Space)
		return err
	}
	if err := core.Authorize(f.caller, f.req.Session, roles.ReadSession); err != nil {
		return err
	}
	if err := scopes.Session(f.caller.Scopes); err != nil {
		return err
	}
	if f.req.Run != "" {
		return f.mayFollowRun(tx)
	}
	if own := f.followedEntity(); own != "" {
		_, err := core.FindEntity(tx, f.req.Session, own)
		return err
	}
	_, err := core.FindSession(tx, f.req.Session)
	return err
}

// resumeOrSnapshot resumes after the cursor, or takes a snapshot if that is not possible.
func (f *Follower) resumeOrSnapshot(tx storage.Tx) error {
	if err := f.mayFollow(tx); err != nil {
		return err
	}
	if f.req.After != "" {
		at, epoch, err := f.events.parseCursor(f.req.Session, f.req.After)
		if err != nil {
			return err
		}
		position := at.position
		here, err := f.events.core.Descends(tx, f.req.Session, epoch, position)
		if err != nil {
			return err
		}
		if here, err = f.isResumable(tx, here && !at.incomplete, position); err != nil {
			return err
		}
		if here {
			for key := range at.offsets {
				if err := f.events.live.Confirm(tx, f.req.Session, key.Owner); err != nil {
					return err
				}
			}
			f.after, f.ahead, f.offsets = position, at.ahead, at.offsets
			f.memberOf, err = spacesAt(tx, f.key(), position)
			return err
		}
	}
	return f.takeSnapshots(tx)
}

func (f *Follower) isResumable(tx Tx, here bool, position int64) (bool, error) {
	if !here {
		return false, nil
	}
	floor, err := tx.EventFloor(f.req.Session, f.key().filter())
	if err != nil {
		return false, err
	}
	end, err := tx.EventEnd(f.req.Session)
	return floor <= position && position <= end, err
}

// Close ends the follower. Later calls do nothing.
func (f *Follower) Close() {
	if f.feed == nil {
		return
	}
	if f.timer != nil {
		f.timer.Stop()
	}
	f.events.detach(f.feed)
	f.unwatchMembership()
	f.events.core.Calls.Leave(f.call)
	f.events.core.Presence.StreamClosed(f.req.Session, f.caller.EntityID)
	f.events.core.Metrics.Followers.Add(-1)
	f.feed = nil
}
