package core

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// EmitInSpace stores an event of a space, which is encoded once for all followers, and
// wakes its followers after the commit. about is the entity whose membership the event is
// about, or empty.
func EmitInSpace(ch *Change, session shoal.SessionID, space shoal.SpaceID, about shoal.EntityID, what shoal.EventType, data func(shoal.EventHead) any) error {
	_, err := Emit(ch, storage.Event{Session: session, Space: space, Entity: about, Type: what}, data)
	return err
}

// Emit is EmitInSpace for events that runs cause: of a space, of a run's stream, or of
// both. It fills in the data and returns the position of the event.
func Emit(ch *Change, ev storage.Event, data func(shoal.EventHead) any) (place int64, err error) {
	if ev.Data, err = shoal.EncodeJSON(data(EventHead(ev, ch.At))); err != nil {
		return 0, err
	}
	return ch.emit(ev)
}

// emit stores an event, returns its position, and wakes its followers after the commit.
func (ch *Change) emit(ev storage.Event) (place int64, err error) {
	place, err = ch.AppendEvent(ev)
	if ev.Run != "" {
		ch.Notify(RunTopic(ev.Session, ev.Run))
	}
	ch.NotifyFollowers(ev.Session, ev.Space)
	return place, err
}

// NotifyFollowers wakes the followers of a session, and those of a space unless space is
// empty.
func (ch *Change) NotifyFollowers(session shoal.SessionID, space shoal.SpaceID) {
	if space != "" {
		ch.Notify(SpaceTopic(session, space))
	}
	ch.Notify(SessionTopic(session))
}

// EventHead returns the fields that every event has, for a stored event.
func EventHead(ev storage.Event, at shoal.Time) shoal.EventHead {
	h := shoal.EventHead{Type: ev.Type, At: at}
	if ev.Space != "" {
		h.SpaceID = &ev.Space
	}
	if ev.Run != "" {
		h.RunID = &ev.Run
	}
	return h
}
