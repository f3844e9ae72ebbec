package feed

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Events lets callers follow the events of runs, spaces and sessions.
type Events struct {
	core  *core.Core
	live  *live.Parts
	mu    sync.Mutex
	feeds map[feedKey]*feed
}

// NewEvents returns the events of a hub. live holds the parts that the runs of this server
// are streaming.
func NewEvents(c *core.Core, live *live.Parts) *Events {
	return &Events{core: c, live: live, feeds: map[feedKey]*feed{}}
}

// trimRunEvents deletes the oldest events that belong to no space, so that each session
// keeps at most the configured number.
func (e *Events) trimRunEvents(ctx context.Context) error {
	for after := shoal.SessionID(""); ; {
		var page []shoal.Session
		err := e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			page, err = tx.Sessions(after, shoal.MaxPage)
			return err
		})
		for _, s := range page {
			after = s.ID
			err = errors.Join(err, e.core.Store.Update(ctx, storage.In(s.ID), func(tx storage.Tx) error { return tx.TrimEvents(s.ID, "", e.core.KeepEvents) }))
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

// feedKey identifies what is followed: a run, a space, all spaces of an entity, or, if all
// three are empty, everything in a session.
type feedKey struct {
	session shoal.SessionID
	run     shoal.RunID
	space   shoal.SpaceID
	entity  shoal.EntityID
}

func (k feedKey) filter() storage.EventFilter {
	return storage.EventFilter{Run: k.run, Space: k.space, Entity: k.entity}
}

// topic returns the topic that is notified of every event of the feed. The events of an
// entity's spaces have topics of their own.
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

// Bounds of the window of a feed, and so of the lag of a follower: stored events, all
// entries, and their bytes. feedPage is how many events one transaction reads.
const (
	feedEvents  = 1024
	feedEntries = 8192
	feedBytes   = 4 << 20
	feedPage    = 256
)

// entry is an event in the window of a feed. position is that of a stored event and 0
// for an ephemeral one. after is the position up to which stored events came before an
// ephemeral event, and delta its delta, if it is one. part is what a stored event does to a
// part, and cursor is its cursor for followers without streaming parts. drafts is set in an
// entry without an event: the drafts of the feed are newer than the entries before it.
type entry struct {
	position int64
	after    int64
	cursor   shoal.Cursor
	event    storage.Event
	delta    *live.DeltaEvent
	part     *partEvent
	drafts   bool
}

// feed reads the events of one feedKey once, for all its followers on this server, and
// keeps the newest ones in a window. Followers read the window by index, so a slow follower
// does not delay others: it falls out of the window.
type feed struct {
	key           feedKey
	cancel        context.CancelCauseFunc
	opened        chan struct{} // closed once the feed has started or failed to
	ended         chan struct{}
	loadRequests  chan struct{}          // holds a value if the pump must read the store
	draftRequests chan struct{}          // holds a value if the pump must read drafts
	memberOf      memberSpaces           // as of last; owned by the pump
	topics        map[string]bool        // that the pump is subscribed to
	bases         map[live.PartKey]int64 // position of the opening or last reset of each streaming part; owned by the pump
	draftReads    draftSchedule
	followers     int // guarded by Events.mu

	mu      sync.Mutex
	drafts  map[live.PartKey]*draft // as last read
	window  []entry
	base    int64 // index of window[0]
	lost    int64 // index after the newest stored event that fell out of the window
	bytes   int
	stored  int   // number of stored events in window
	last    int64 // stored events up to this position have been through the window
	changed chan struct{}
	err     error
}

// attach joins the feed for key and starts it if it has no other followers. The caller must
// detach from it.
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
			loadRequests: make(chan struct{}, 1), draftRequests: make(chan struct{}, 1), bases: map[live.PartKey]int64{},
		}
		e.feeds[key] = f
		go e.runFeed(ctx, f)
	}
	f.followers++
	return f, nil
}

// detach leaves the feed and ends it if it has no other followers.
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

// runFeed is the goroutine of a feed.
func (e *Events) runFeed(ctx context.Context, f *feed) {
	defer e.core.Running.Done()
	defer close(f.ended)
	sub := e.core.Bus.Subscribe()
	defer sub.Close()
	err := e.resubscribe(ctx, f, sub)
	if err == nil {
		err = e.openFeed(ctx, f)
	}
	if err != nil {
		f.fail(err)
	}
	// A delta that has arrived by now may precede a reset that the feed will not read.
	// Each follower reads what was relayed before.
	sub.Take()
	close(f.opened)
	if err == nil {
		f.fail(e.pump(ctx, f, sub))
	}
}

// openFeed records where the events end: later ones go through the window.
func (e *Events) openFeed(ctx context.Context, f *feed) error {
	return e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
		if f.last, err = tx.EventEnd(f.key.session); err != nil {
			return err
		}
		f.memberOf, err = currentSpaces(tx, f.key)
		return err
	})
}

// topics returns the topics of the bus messages that concern the feed: those of its spaces,
// and those of the entities that the spaces list, whose ephemeral events it delivers.
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
		members, err := tx.ListedMembers(key.session, key.entity, spaces)
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

// pump moves bus messages and stored events into the window until ctx ends.
func (e *Events) pump(ctx context.Context, f *feed, sub core.Subscription) (err error) {
	defer func() { f.draftReads.stop() }()
	for membersChanged := true; ; {
		for membersChanged {
			if err = e.resubscribe(ctx, f, sub); err != nil {
				return err
			}
			// Events that were stored before the new subscriptions sent no notification here.
			if membersChanged, err = e.loadEvents(ctx, f, false); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-f.loadRequests:
			membersChanged, err = e.loadEvents(ctx, f, false)
		case <-f.draftRequests:
			f.draftReads.asked = true
			f.draftReads.request()
		case <-f.draftReads.due():
			membersChanged, err = e.loadEvents(ctx, f, true)
		case <-sub.Ready():
			membersChanged, err = e.handleNotifications(ctx, f, sub.Take())
		}
		if err != nil {
			return err
		}
	}
}

// loadEvents reads the events stored after f.last into the window, and then, if drafts is set,
// the drafts of the streaming parts. It reports whether an entity joined or left a space so
// that other topics concern the feed.
func (e *Events) loadEvents(ctx context.Context, f *feed, drafts bool) (membersChanged bool, err error) {
	for {
		var page []storage.Event
		var streaming []shoal.Message
		var end int64
		err := e.core.Store.View(ctx, func(tx storage.Tx) (err error) {
			if page, err = tx.Events(f.key.session, f.key.filter(), f.last, feedPage); err != nil {
				return err
			}
			if drafts && len(page) < feedPage {
				if streaming, err = f.streamingMessages(tx); err != nil {
					return err
				}
			}
			end, err = tx.EventEnd(f.key.session)
			return err
		})
		if err != nil {
			return membersChanged, err
		}
		for _, ev := range page {
			membersChanged = membersChanged || f.changesTopics(ev)
			part := e.partEvent(ev)
			f.recordBase(part, ev.Position)
			if f.memberOf.apply(f.key.entity, ev) {
				f.push(entry{position: ev.Position, cursor: e.cursorAt(cursorPosition{position: ev.Position}), event: ev, part: part})
			} else {
				f.advanceTo(ev.Position)
			}
		}
		if len(page) < feedPage {
			f.advanceTo(end)
			if drafts {
				f.draftReads.next(e.setDrafts(f, streaming))
			}
			return membersChanged, nil
		}
	}
}

// changesTopics reports whether other topics may concern the feed after an event. In a space
// that lists only some of its members it does not follow who joins.
func (f *feed) changesTopics(ev storage.Event) bool {
	if ev.Type != shoal.EventMemberJoined && ev.Type != shoal.EventMemberLeft {
		return false
	}
	var data struct {
		MemberCount int64 `json:"memberCount"`
	}
	if ev.Entity == f.key.entity || json.Unmarshal(ev.Data, &data) != nil || data.MemberCount <= shoal.MaxListedMembers {
		return true
	}
	return ev.Type == shoal.EventMemberLeft && f.topics[core.EntityTopic(f.key.session, ev.Entity)]
}

// resubscribe subscribes to the topics that now concern the feed, and removes the others.
func (e *Events) resubscribe(ctx context.Context, f *feed, sub core.Subscription) error {
	now, err := e.topics(ctx, f.key)
	if err != nil {
		return err
	}
	keep := make(map[string]bool, len(now))
	for _, t := range now {
		keep[t] = true
	}
	sub.Add(now...)
	for t := range f.topics {
		if !keep[t] {
			sub.Remove(t)
		}
	}
	f.topics = keep
	return nil
}
