package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// Events lets callers follow what happens.
type Events struct {
	*core
	live  *Live
	mu    sync.Mutex
	feeds map[feedKey]*feed
}

// NewEvents returns the events of a hub.
func NewEvents(c *core, live *Live) *Events {
	return &Events{core: c, live: live, feeds: map[feedKey]*feed{}}
}

// trimRuns keeps only the newest of the events that no space tells.
func (e *Events) trimRuns(ctx context.Context) error {
	for after := shoal.SessionID(""); ; {
		var page []shoal.Session
		err := e.store.View(ctx, func(tx Tx) (err error) {
			page, err = tx.Sessions(after, shoal.MaxPage)
			return err
		})
		for _, s := range page {
			after = s.ID
			err = errors.Join(err, e.store.Update(ctx, func(tx Tx) error { return tx.TrimEvents(s.ID, "", e.keepEvents) }))
		}
		if err != nil || len(page) < shoal.MaxPage {
			return err
		}
	}
}

// tell stores an event of a space, encoded once for everybody who will follow
// it, and wakes its followers after the commit. about is the entity whose
// membership it is about, if any.
func tell(ch *change, session shoal.SessionID, space shoal.SpaceID, about shoal.EntityID, what shoal.EventType, data func(shoal.EventHead) any) error {
	_, err := tellAs(ch, StoredEvent{Session: session, Space: space, Entity: about, Type: what}, data)
	return err
}

// tellAs is tell for events that runs cause: of a space, of a run's stream, or of
// both. It fills in the data and returns the place.
func tellAs(ch *change, ev StoredEvent, data func(shoal.EventHead) any) (place int64, err error) {
	if ev.Data, err = shoal.EncodeJSON(data(head(ev, ch.at))); err != nil {
		return 0, err
	}
	return ch.tell(ev)
}

// tell stores an event, returns its place, and wakes its followers after the commit.
func (ch *change) tell(ev StoredEvent) (place int64, err error) {
	place, err = ch.AppendEvent(ev)
	if ev.Run != "" {
		ch.hint(runTopic(ev.Session, ev.Run))
	}
	ch.told(ev.Session, ev.Space)
	return place, err
}

// told wakes those who follow a space, if the event is of one, or the session.
func (ch *change) told(session shoal.SessionID, space shoal.SpaceID) {
	if space != "" {
		ch.hint(spaceTopic(session, space))
	}
	ch.hint(sessionTopic(session))
}

func head(ev StoredEvent, at shoal.Time) shoal.EventHead {
	h := shoal.EventHead{Type: ev.Type, At: at}
	if ev.Space != "" {
		h.SpaceID = &ev.Space
	}
	if ev.Run != "" {
		h.RunID = &ev.Run
	}
	return h
}

// Start starts the task that trims the events without a space.
func (e *Events) Start() {
	e.own(func(ctx context.Context) { e.every(ctx, time.Hour, "events of runs", e.trimRuns) })
}
