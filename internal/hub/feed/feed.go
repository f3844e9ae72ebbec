package feed

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Events lets callers follow what happens.
type Events struct {
	core  *core.Core
	live  *runs.Live
	mu    sync.Mutex
	feeds map[feedKey]*feed
}

// NewEvents returns the events of a hub.
func NewEvents(c *core.Core, live *runs.Live) *Events {
	return &Events{core: c, live: live, feeds: map[feedKey]*feed{}}
}

// trimRunEvents keeps only the newest of the events that no space tells.
func (e *Events) trimRunEvents(ctx context.Context) error {
	for after := shoal.SessionID(""); ; {
		var page []shoal.Session
		err := e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			page, err = tx.Sessions(after, shoal.MaxPage)
			return err
		})
		for _, s := range page {
			after = s.ID
			err = errors.Join(err, e.core.Store.Update(ctx, func(tx storage.Tx) error { return tx.TrimEvents(s.ID, "", e.core.KeepEvents) }))
		}
		if err != nil || len(page) < shoal.MaxPage {
			return err
		}
	}
}

// Start starts the task that trims the events without a space.
func (e *Events) Start() {
	e.core.Go(func(ctx context.Context) { e.core.Repeat(ctx, time.Hour, "events of runs", e.trimRunEvents) })
}

// feedKey names what is followed: a run, a space, all spaces of an entity, or,
// with all empty, all of a session.
type feedKey struct {
	session shoal.SessionID
	run     shoal.RunID
	space   shoal.SpaceID
	entity  shoal.EntityID
}

func (k feedKey) filter() storage.EventFilter {
	return storage.EventFilter{Run: k.run, Space: k.space, Entity: k.entity}
}

// topic is hinted at by every event of the thing, but for those of an entity's
// spaces, which have their own.
func (k feedKey) topic() string {
	switch {
	case k.run != "":
		return core.RunTopic(k.session, k.run)
	case k.space != "":
		return core.SpaceTopic(k.session, k.space)
	case k.entity != "":
		return core.EntityTopic(k.session, k.entity)
	}
	return core.SessionTopic(k.session)
}

// Bounds of a feed's window, which is also how far a follower may lag: stored events,
// all entries, and their bytes.
const (
	feedEvents  = 1024
	feedEntries = 8192
	feedBytes   = 4 << 20
	feedPage    = 256
)

// entry is an event in a feed's window; place is 0 for a passing one. Of a passing
// one, after is the place up to which stored events came before it, and delta what
// it is if it is a delta; part is what a stored one does to a part, and cursor the one
// that it has for all who know of no part in progress.
type entry struct {
	place  int64
	after  int64
	cursor shoal.Cursor
	event  storage.Event
	delta  *runs.DeltaNote
	part   *partEvent
}

// feed reads the events of one thing once, for all who follow it on this node,
// and keeps the newest in a window. Followers read the window by index, so a
// slow one costs nobody anything: it just falls out of the window.
type feed struct {
	key          feedKey
	cancel       context.CancelCauseFunc
	opened       chan struct{} // closed when the feed works, or has failed to
	ended        chan struct{}
	loadRequests chan struct{}          // holds a value when the pump is to look at the store
	memberOf     memberSpaces           // as of last; it belongs to the pump
	resets       map[runs.PartKey]int64 // where parts in progress were reset last; of the pump
	followers    int                    // guarded by Events.mu

	mu      sync.Mutex
	window  []entry
	base    int64 // index of window[0]
	lost    int64 // index behind the newest stored event that fell out of the window
	bytes   int
	stored  int   // how many of window are stored events
	last    int64 // stored events up to this place have been through the window
	changed chan struct{}
	err     error
}

// attach joins the feed for key, starting it if nobody else follows it. The
// caller must detach it.
func (e *Events) attach(ctx context.Context, key feedKey) (*feed, error) {
	f, err := e.findOrStart(key)
	if err != nil {
		return nil, err
	}
	select {
	case <-f.opened:
		err = f.failure()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		e.detach(f)
		return nil, err
	}
	return f, nil
}

func (e *Events) findOrStart(key feedKey) (*feed, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.feeds[key]
	if f == nil || f.failure() != nil {
		if !e.core.Begin() {
			return nil, core.ErrStopping
		}
		ctx, cancel := context.WithCancelCause(e.core.Ctx)
		f = &feed{
			key: key, cancel: cancel, opened: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{}),
			loadRequests: make(chan struct{}, 1), resets: map[runs.PartKey]int64{},
		}
		e.feeds[key] = f
		go e.runFeed(ctx, f)
	}
	f.followers++
	return f, nil
}

// detach leaves the feed and ends it when nobody follows it any more.
func (e *Events) detach(f *feed) {
	e.mu.Lock()
	f.followers--
	unused := f.followers == 0
	if unused && e.feeds[f.key] == f {
		delete(e.feeds, f.key)
	}
	e.mu.Unlock()
	if unused {
		f.cancel(nil)
		<-f.ended
	}
}

// run is the feed's goroutine.
func (e *Events) runFeed(ctx context.Context, f *feed) {
	defer e.core.FillRunState.Done()
	defer close(f.ended)
	sub := e.core.Bus.Subscribe()
	defer sub.Close()
	topics, err := e.resubscribe(ctx, f.key, sub, nil)
	if err == nil {
		err = e.openFeed(ctx, f)
	}
	if err != nil {
		f.fail(err)
	}
	// A delta that came until now may be from before a reset that the feed will not
	// read. Who follows looks for itself what has passed.
	sub.Take()
	close(f.opened)
	if err == nil {
		f.fail(e.pump(ctx, f, sub, topics))
	}
}

// open notes where the events end: whatever comes later goes through the window.
func (e *Events) openFeed(ctx context.Context, f *feed) error {
	return e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		if f.last, err = tx.EventEnd(f.key.session); err != nil {
			return err
		}
		f.memberOf, err = currentSpaces(tx, f.key)
		return err
	})
}

// topics are those whose notes concern the feed: events of its spaces, and
// passing events of the entities in them.
func (e *Events) topics(ctx context.Context, key feedKey) ([]string, error) {
	out := []string{key.topic()}
	if key.run != "" || key.space == "" && key.entity == "" {
		return out, nil
	}
	err := e.core.Store.View(ctx, func(tx storage.Tx) error {
		out = out[:1]
		in, err := currentSpaces(tx, key)
		if err != nil {
			return err
		}
		spaces := slices.Collect(maps.Keys(in))
		if key.space != "" {
			spaces = append(spaces, key.space)
		}
		members, err := tx.MembersOf(key.session, spaces)
		if err != nil {
			return err
		}
		for _, s := range spaces {
			out = append(out, core.SpaceTopic(key.session, s))
			for _, m := range members[s] {
				out = append(out, core.EntityTopic(key.session, m.EntityID))
			}
		}
		return nil
	})
	return out, err
}

// pump moves notes and stored events into the window until ctx ends.
func (e *Events) pump(ctx context.Context, f *feed, sub core.Subscription, topics []string) (err error) {
	for membersChanged := true; ; {
		for membersChanged {
			if topics, err = e.resubscribe(ctx, f.key, sub, topics); err != nil {
				return err
			}
			// What was stored before the new topics were heard gave no hint here.
			if membersChanged, err = e.loadEvents(ctx, f); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-f.loadRequests:
			membersChanged, err = e.loadEvents(ctx, f)
		case <-sub.Ready():
			membersChanged, err = e.handleNotes(ctx, f, sub.Take())
		}
		if err != nil {
			return err
		}
	}
}

// handleNotes handles notes in their order: what a hint tells of is in the window before
// the passing events behind the hint, or a delta would come before its part.
func (e *Events) handleNotes(ctx context.Context, f *feed, notes []core.Note) (membersChanged bool, err error) {
	notified := false
	load := func() error {
		some, err := e.loadEvents(ctx, f)
		membersChanged, notified = membersChanged || some, false
		return err
	}
	for _, note := range notes {
		if note.Event == nil {
			notified = true
			continue
		}
		if notified {
			if err := load(); err != nil {
				return membersChanged, err
			}
		}
		f.pushEphemeral(note.Event)
	}
	if notified {
		err = load()
	}
	return membersChanged, err
}

// pass puts a passing event into the window. A delta from before a reset that is
// there already has nothing to say.
func (f *feed) pushEphemeral(note []byte) {
	n, data, isDelta := runs.ParseDeltaNote(note)
	if !isDelta {
		f.push(entry{event: storage.Event{Type: shoal.EventEntityUpdated, Data: note}})
		return
	}
	if n.Base >= f.resets[n.Key] {
		f.push(entry{event: storage.Event{Type: n.Type, Space: n.Space, Data: data}, delta: n})
	}
}

// recordResets remembers where a part in progress was reset last.
func (f *feed) recordResets(p *partEvent, place int64) {
	switch {
	case p == nil:
	case p.what == shoal.EventPartReset:
		f.resets[p.key] = place
	case p.what == shoal.EventMessageCompleted:
		for key := range f.resets {
			if key.Owner == p.key.Owner {
				delete(f.resets, key)
			}
		}
	}
}

// load reads what is stored behind f.last. moved says that somebody joined or
// left.
func (e *Events) loadEvents(ctx context.Context, f *feed) (membersChanged bool, err error) {
	for {
		var page []storage.Event
		var end int64
		err := e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			if page, err = tx.Events(f.key.session, f.key.filter(), f.last, feedPage); err != nil {
				return err
			}
			end, err = tx.EventEnd(f.key.session)
			return err
		})
		if err != nil {
			return membersChanged, err
		}
		for _, ev := range page {
			membersChanged = membersChanged || ev.Type == shoal.EventMemberJoined || ev.Type == shoal.EventMemberLeft
			part := partEventOf(ev)
			f.recordResets(part, ev.Place)
			if f.memberOf.apply(f.key.entity, ev) {
				f.push(entry{place: ev.Place, cursor: e.cursorAt(cursorPosition{place: ev.Place}), event: ev, part: part})
			} else {
				f.advanceTo(ev.Place)
			}
		}
		if len(page) < feedPage {
			f.advanceTo(end)
			return membersChanged, nil
		}
	}
}

// resubscribe subscribes to what the feed concerns now and drops the rest.
func (e *Events) resubscribe(ctx context.Context, key feedKey, sub core.Subscription, before []string) ([]string, error) {
	now, err := e.topics(ctx, key)
	if err != nil {
		return nil, err
	}
	keep := make(map[string]bool, len(now))
	for _, t := range now {
		keep[t] = true
	}
	sub.Add(now...)
	for _, t := range before {
		if !keep[t] {
			sub.Remove(t)
		}
	}
	return now, nil
}
