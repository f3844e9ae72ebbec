package hub

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal"
)

// feedKey names what is followed: a space, all spaces of an entity, or, with
// both empty, all of a session.
type feedKey struct {
	session shoal.SessionID
	space   shoal.SpaceID
	entity  shoal.EntityID
}

func (k feedKey) filter() EventFilter { return EventFilter{Space: k.space, Entity: k.entity} }

// topic is hinted at by every event of the thing, but for those of an entity's
// spaces, which have their own.
func (k feedKey) topic() string {
	switch {
	case k.space != "":
		return spaceTopic(k.session, k.space)
	case k.entity != "":
		return entityTopic(k.session, k.entity)
	}
	return sessionTopic(k.session)
}

// Bounds of a feed's window, which is also how far a follower may lag.
const (
	feedEvents = 1024
	feedBytes  = 1 << 20
	feedPage   = 256
)

// entry is an event in a feed's window; place is 0 for a passing one.
type entry struct {
	place int64
	event StoredEvent
}

// feed reads the events of one thing once, for all who follow it on this node,
// and keeps the newest in a window. Followers read the window by index, so a
// slow one costs nobody anything: it just falls out of the window.
type feed struct {
	key       feedKey
	cancel    context.CancelCauseFunc
	opened    chan struct{} // closed when the feed works, or has failed to
	ended     chan struct{}
	in        spacesIn // as of last; it belongs to the pump
	followers int      // guarded by Events.mu

	mu      sync.Mutex
	window  []entry
	base    int64 // index of window[0]
	bytes   int
	last    int64 // stored events up to this place have been through the window
	changed chan struct{}
	err     error
}

// attach joins the feed for key, starting it if nobody else follows it. The
// caller must detach it.
func (e *Events) attach(ctx context.Context, key feedKey) (*feed, error) {
	f, err := e.join(key)
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

func (e *Events) join(key feedKey) (*feed, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.feeds[key]
	if f == nil || f.failure() != nil {
		if !e.begin() {
			return nil, ErrStopping
		}
		ctx, cancel := context.WithCancelCause(e.ctx)
		f = &feed{key: key, cancel: cancel, opened: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{})}
		e.feeds[key] = f
		go e.run(ctx, f)
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
func (e *Events) run(ctx context.Context, f *feed) {
	defer e.running.Done()
	defer close(f.ended)
	sub := e.bus.Subscribe()
	defer sub.Close()
	err := e.open(ctx, f)
	if err != nil {
		f.fail(err)
	}
	close(f.opened)
	if err == nil {
		f.fail(e.pump(ctx, f, sub))
	}
}

// open notes where the events end: whatever comes later goes through the window.
// The pump subscribes before it reads on from there.
func (e *Events) open(ctx context.Context, f *feed) error {
	return e.store.View(ctx, func(tx Tx) (err error) {
		if f.last, err = tx.EventEnd(f.key.session); err != nil {
			return err
		}
		f.in, err = spacesOf(tx, f.key)
		return err
	})
}

// topics are those whose notes concern the feed: events of its spaces, and
// passing events of the entities in them.
func (e *Events) topics(ctx context.Context, key feedKey) ([]string, error) {
	out := []string{key.topic()}
	if key.space == "" && key.entity == "" {
		return out, nil
	}
	err := e.store.View(ctx, func(tx Tx) error {
		out = out[:1]
		in, err := spacesOf(tx, key)
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
			out = append(out, spaceTopic(key.session, s))
			for _, m := range members[s] {
				out = append(out, entityTopic(key.session, m.EntityID))
			}
		}
		return nil
	})
	return out, err
}

// pump moves notes and stored events into the window until ctx ends.
func (e *Events) pump(ctx context.Context, f *feed, sub Subscription) (err error) {
	var topics []string
	for moved := true; ; {
		for moved {
			if topics, err = e.retopic(ctx, f.key, sub, topics); err != nil {
				return err
			}
			// What was stored before the new topics were heard gave no hint here.
			if moved, err = e.load(ctx, f); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-sub.Ready():
		}
		for _, note := range sub.Take() {
			if note.Event != nil {
				f.push(entry{event: StoredEvent{Type: shoal.EventEntityUpdated, Data: note.Event}})
			}
		}
		if moved, err = e.load(ctx, f); err != nil {
			return err
		}
	}
}

// load reads what is stored behind f.last. moved says that somebody joined or
// left.
func (e *Events) load(ctx context.Context, f *feed) (moved bool, err error) {
	for {
		var page []StoredEvent
		err := e.store.View(ctx, func(tx Tx) (err error) {
			page, err = tx.Events(f.key.session, f.key.filter(), f.last, feedPage)
			return err
		})
		if err != nil {
			return moved, err
		}
		for _, ev := range page {
			moved = moved || ev.Type == shoal.EventMemberJoined || ev.Type == shoal.EventMemberLeft
			if f.in.pass(f.key.entity, ev) {
				f.push(entry{place: ev.Place, event: ev})
			} else {
				f.passOver(ev.Place)
			}
		}
		if len(page) < feedPage {
			return moved, nil
		}
	}
}

// retopic subscribes to what the feed concerns now and drops the rest.
func (e *Events) retopic(ctx context.Context, key feedKey, sub Subscription, before []string) ([]string, error) {
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
