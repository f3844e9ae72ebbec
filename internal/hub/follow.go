package hub

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
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
	events  *Events
	who     shoal.Principal
	req     FollowRequest
	call    *caller
	feed    *feed
	index   int64
	after   int64                   // stored events up to this place are delivered or in a snapshot
	until   int64                   // catch-up reads the store up to this place
	ahead   map[shoal.SpaceID]int64 // places that the snapshots of spaces joined on the way were at
	in      spacesIn                // as of after
	known   map[partKey]int         // bytes of the parts in progress that were delivered
	deltas  int                     // how many were delivered
	seen    int64                   // the first snapshot was taken there
	current bool                    // what is known was brought up to date
	mine    Subscription            // of an entity that follows a run: it joined or left a space
	spaces  map[shoal.SpaceID]bool  // where such an entity is
	// elsewhere says that it is to be found out anew where the entity is.
	elsewhere bool
	pending   []shoal.Event
	given     []shoal.Event // what Next returned last; its memory is for what comes after the next
	ended     bool
	timer     *time.Timer // of Next, used again and again
}

// Follow starts to follow. It is the one way to watch. The caller must Close the
// follower.
func (e *Events) Follow(ctx context.Context, who shoal.Principal, req FollowRequest) (*Follower, error) {
	const op = "hub.Events.Follow"
	f := &Follower{events: e, who: who, req: req, known: map[partKey]int{}}
	if req.Run != "" {
		f.req.Space = ""
	}
	f.call = e.callers.enter(who.KeyID, req.Session, reader(who))
	if err := f.open(ctx); err != nil {
		e.callers.leave(f.call)
		f.leaveRun()
		return nil, wrap(op, err)
	}
	e.presence.opened(req.Session, who.EntityID)
	e.figures.followers.Add(1)
	return f, nil
}

// open joins the feed and takes what comes before it. It asks for the right to
// follow twice: before a feed is opened for a stranger, and in the snapshot that
// decides, for whoever loses it between the two.
func (f *Follower) open(ctx context.Context) error {
	if err := f.call.ended(); err != nil {
		return err
	}
	store := f.events.store
	if err := store.View(ctx, f.mayFollow); err != nil {
		return err
	}
	feed, err := f.events.attach(ctx, f.key())
	if err != nil {
		return err
	}
	f.index, f.until = feed.position()
	f.watchOwn()
	if err := store.View(ctx, f.begin); err != nil {
		f.events.detach(feed)
		return err
	}
	f.feed = feed
	feed.look()
	return nil
}

func (f *Follower) key() feedKey {
	return feedKey{f.req.Session, f.req.Run, f.req.Space, f.ownSpaces()}
}

// ownSpaces is the entity whose spaces are followed, if it is not one space or run.
func (f *Follower) ownSpaces() shoal.EntityID {
	if f.req.Space != "" || f.req.Run != "" {
		return ""
	}
	return reader(f.who)
}

func (f *Follower) mayFollow(tx Tx) error {
	if f.req.Run != "" {
		return f.mayFollowRun(tx)
	}
	if f.req.Space != "" {
		_, err := sees(tx, f.who, f.req.Session, f.req.Space)
		return err
	}
	if err := enter(f.who, f.req.Session); err != nil {
		return err
	}
	if own := f.ownSpaces(); own != "" {
		_, err := entityOf(tx, f.req.Session, own)
		return err
	}
	_, err := sessionOf(tx, f.req.Session)
	return err
}

// begin resumes behind the cursor, or takes a snapshot where it cannot.
func (f *Follower) begin(tx Tx) error {
	if err := f.mayFollow(tx); err != nil {
		return err
	}
	if f.req.After != "" {
		at, here, err := f.events.placeOf(f.req.Session, f.req.After)
		if err != nil {
			return err
		}
		place := at.place
		if here, err = f.resumable(tx, here, place); err != nil {
			return err
		}
		if here {
			f.after, f.ahead, f.known = place, at.ahead, at.known
			f.in, err = spacesAt(tx, f.key(), place)
			return err
		}
	}
	return f.snapshots(tx)
}

func (f *Follower) resumable(tx Tx, here bool, place int64) (bool, error) {
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

// Next returns the events that are there, at least one, or none after idle has
// passed without any. It ends with the cause of ctx; with NotFound or
// Unauthenticated once the caller may not follow any more; with Busy when it was
// too slow; and with ErrStopping. The events stand until the next call; their data is
// shared and must not be changed. The stream of a run goes on behind its end.
func (f *Follower) Next(ctx context.Context, idle time.Duration) ([]shoal.Event, error) {
	if f.timer == nil {
		f.timer = time.NewTimer(idle)
	} else {
		f.timer.Reset(idle)
	}
	defer f.timer.Stop()
	for {
		if err := f.call.ended(); err != nil {
			return nil, wrap("hub.Follower.Next", err)
		}
		if err := f.lookAround(ctx); err != nil {
			return nil, wrap("hub.Follower.Next", err)
		}
		if len(f.pending) > 0 {
			return f.give(), nil
		}
		if f.ended {
			return nil, wrap("hub.Follower.Next", noSpace(f.req.Space))
		}
		if f.after < f.until {
			if err := f.catchUp(ctx); err != nil {
				return nil, wrap("hub.Follower.Next", err)
			}
			continue
		}
		if !f.current {
			if err := f.update(ctx); err != nil {
				return nil, wrap("hub.Follower.Next", err)
			}
			continue
		}
		entries, next, changed, err := f.feed.from(f.index)
		switch {
		case len(entries) > 0:
			f.index = next
			if err := f.deliver(ctx, entries); err != nil {
				return nil, wrap("hub.Follower.Next", err)
			}
			continue
		case err != nil:
			if errors.Is(err, shoal.Busy) {
				f.events.figures.cut.Add(1)
			}
			return nil, err
		}
		select {
		case <-f.call.gone:
		case <-f.moved():
			f.elsewhere = true
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-f.timer.C:
			return nil, nil
		case <-changed:
		}
	}
}

// give hands out what is pending. It is mostly one event; the memory of such a few
// is used in turn with that of the few before.
func (f *Follower) give() []shoal.Event {
	out := f.pending
	f.pending, f.given = f.given[:0], nil
	if cap(out) <= givenKept {
		f.given = out
	}
	return out
}

// givenKept is for how many events a follower keeps memory between two calls.
const givenKept = 8

// catchUp reads one page of what the feed had seen before this follower came.
func (f *Follower) catchUp(ctx context.Context) error {
	var page []StoredEvent
	err := f.events.store.View(ctx, func(tx Tx) (err error) {
		page, err = tx.Events(f.req.Session, f.feed.key.filter(), f.after, feedPage)
		return err
	})
	if err != nil {
		return err
	}
	end := f.until
	if len(page) == feedPage {
		end = min(end, page[len(page)-1].Place)
	}
	entries := make([]entry, 0, len(page))
	for _, ev := range page {
		if ev.Place <= f.until { // the rest comes through the feed
			entries = append(entries, entry{place: ev.Place, event: ev, part: partOf(ev)})
		}
	}
	if err := f.deliver(ctx, entries); err != nil {
		return err
	}
	f.after = max(f.after, end)
	return nil
}

// deliver queues entries that the follower has not had yet, and acts on those
// that are about its own membership.
func (f *Follower) deliver(ctx context.Context, entries []entry) error {
	for _, en := range entries {
		ev := en.event
		if en.delta != nil {
			if err := f.passing(en); err != nil {
				return err
			}
			continue
		}
		if en.place == 0 {
			f.pending = append(f.pending, shoal.Event{Type: ev.Type, Data: ev.Data})
			continue
		}
		if en.place <= f.after || f.ended {
			continue
		}
		before := f.after
		f.after = en.place
		if !f.in.pass(f.ownSpaces(), ev) || en.place <= f.ahead[ev.Space] {
			continue
		}
		data, err := f.show(ctx, ev)
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		about := reader(f.who) != "" && ev.Entity == reader(f.who)
		if about && ev.Type == shoal.EventMemberJoined && f.req.Space == "" {
			if err := f.joined(ctx, ev.Space); err != nil {
				return err
			}
		}
		if err := f.notePart(en, before); err != nil {
			return err
		}
		cursor := en.cursor
		if cursor == "" || len(f.ahead) > 0 || len(f.known) > 0 {
			cursor = f.cursor(en.place)
		}
		f.pending = append(f.pending, shoal.Event{Type: ev.Type, Cursor: cursor, Data: data})
		if about && ev.Type == shoal.EventMemberLeft && f.req.Space != "" {
			f.ended = true
		}
	}
	return nil
}

// Close ends the follower. It may be repeated.
func (f *Follower) Close() {
	if f.feed == nil {
		return
	}
	f.events.detach(f.feed)
	f.leaveRun()
	f.events.callers.leave(f.call)
	f.events.presence.closed(f.req.Session, f.who.EntityID)
	f.events.figures.followers.Add(-1)
	f.feed = nil
}
