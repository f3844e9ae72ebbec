package feed

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// FollowRequest says what to follow: one run, one space, or, with both empty, all
// spaces of the caller, those it joins later included. An entity that follows a run
// sees of it what its spaces show; steps and reasoning are for services and admins.
type FollowRequest struct {
	Session shoal.SessionID
	Run     shoal.RunID
	Space   shoal.SpaceID
	// After resumes behind the event with this cursor. Empty, unknown or too old,
	// the follower starts with a snapshot.
	After shoal.Cursor
}

// Follower delivers events in order: first what was missed, or a snapshot for
// each space (and snapshot.end behind those of several), then what follows it,
// without a gap and without anything twice. The deltas of a part since its last
// reset are what is stored of it, also for who missed some or was away. It belongs
// to one goroutine.
type Follower struct {
	events       *Events
	who          shoal.Principal
	req          FollowRequest
	call         *core.Call
	feed         *feed
	index        int64
	after        int64                   // stored events up to this place are delivered or in a snapshot
	until        int64                   // catch-up reads the store up to this place
	FindAhead    map[shoal.SpaceID]int64 // places that the snapshots of spaces joined on the way were at
	memberOf     memberSpaces            // as of after
	offsets      map[runs.PartKey]int    // bytes of the parts in progress that were delivered
	snapshotAt   int64                   // the first snapshot was taken there
	partsCurrent bool                    // what is known was brought up to date
	membership   core.Subscription       // of an entity that follows a run: it joined or left a space
	runSpaces    map[shoal.SpaceID]bool  // where such an entity is
	// spacesStale says that it is to be found out anew where the entity is.
	spacesStale bool
	pending     []shoal.Event
	reusable    []shoal.Event // what Next returned last; its memory is for what comes after the next
	ended       bool
	timer       *time.Timer // of Next; it goes on from one call to the next
	due         time.Time   // when it fires
}

// Follow starts to follow. It is the one way to watch. The caller must Close the
// follower.
func (e *Events) Follow(ctx context.Context, who shoal.Principal, req FollowRequest) (*Follower, error) {
	const op = "hub.Events.Follow"
	f := &Follower{events: e, who: who, req: req, offsets: map[runs.PartKey]int{}}
	if req.Run != "" {
		f.req.Space = ""
	}
	f.call = e.core.Calls.Enter(who, req.Session, core.OwnEntity(who))
	if err := f.open(ctx); err != nil {
		e.core.Calls.Leave(f.call)
		f.unwatchMembership()
		return nil, core.Wrap(op, err)
	}
	e.core.Presence.StreamOpened(req.Session, who.EntityID)
	e.core.Metrics.Followers.Add(1)
	return f, nil
}

// open joins the feed and takes what comes before it. It asks for the right to
// follow twice: before a feed is opened for a stranger, and in the snapshot that
// decides, for whoever loses it between the two.
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

// followedEntity is the entity whose spaces are followed, if it is not one space or run.
func (f *Follower) followedEntity() shoal.EntityID {
	if f.req.Space != "" || f.req.Run != "" {
		return ""
	}
	return core.ReaderEntity(f.who)
}

func (f *Follower) mayFollow(tx storage.Tx) error {
	if f.req.Run != "" {
		return f.mayFollowRun(tx)
	}
	if f.req.Space != "" {
		_, err := core.ReadableSpace(tx, f.who, f.req.Session, f.req.Space)
		return err
	}
	if err := core.CheckSession(f.who, f.req.Session); err != nil {
		return err
	}
	if own := f.followedEntity(); own != "" {
		_, err := core.FindEntity(tx, f.req.Session, own)
		return err
	}
	_, err := core.FindSession(tx, f.req.Session)
	return err
}

// resumeOrSnapshot resumes behind the cursor, or takes a snapshot where it cannot.
func (f *Follower) resumeOrSnapshot(tx storage.Tx) error {
	if err := f.mayFollow(tx); err != nil {
		return err
	}
	if f.req.After != "" {
		at, epoch, err := f.events.parseCursor(f.req.Session, f.req.After)
		if err != nil {
			return err
		}
		place := at.place
		here, err := f.events.core.Descends(tx, f.req.Session, epoch, place)
		if err != nil {
			return err
		}
		if here, err = f.isResumable(tx, here && !at.incomplete, place); err != nil {
			return err
		}
		if here {
			f.after, f.FindAhead, f.offsets = place, at.ahead, at.offsets
			f.memberOf, err = spacesAt(tx, f.key(), place)
			return err
		}
	}
	return f.takeSnapshots(tx)
}

func (f *Follower) isResumable(tx Tx, here bool, place int64) (bool, error) {
	if !here {
		return false, nil
	}
	floor, err := tx.EventFloor(f.req.Session, f.key().filter())
	if err != nil {
		return false, err
	}
	end, err := tx.EventEnd(f.req.Session)
	return floor <= place && place <= end, err
}

// Close ends the follower. It may be repeated.
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
	f.events.core.Presence.StreamClosed(f.req.Session, f.who.EntityID)
	f.events.core.Metrics.Followers.Add(-1)
	f.feed = nil
}
