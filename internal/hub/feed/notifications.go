package feed

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// handleNotifications handles bus messages in order: what a notification announces is in the window
// before the ephemeral events that follow it. Otherwise a delta would come before its part.
func (e *Events) handleNotifications(ctx context.Context, f *feed, notifications []core.Notification) (membersChanged bool, err error) {
	notified, missed := false, false
	load := func() error {
		some, err := e.loadEvents(ctx, f, false)
		membersChanged, notified = membersChanged || some, false
		return err
	}
	for _, notification := range notifications {
		if notification.Event == nil {
			notified, missed = true, missed || notification.Missed
			continue
		}
		n, data, isDelta := live.ParseDeltaEvent(notification.Event)
		// The notification of what a remote delta follows may be lost.
		if notified || isDelta && n.Base > f.last {
			if err := load(); err != nil {
				return membersChanged, err
			}
		}
		switch {
		case !isDelta:
			f.push(entry{event: ephemeralEvent(notification.Event)})
		case notification.Remote:
			err = e.pushRemoteDelta(ctx, f, n, data)
		default:
			f.pushDelta(n, data)
		}
		if err != nil {
			return membersChanged, err
		}
	}
	if notified {
		err = load()
	}
	if missed && (len(f.bases) > 0 || f.draftReads.asked) {
		f.draftReads.request()
	}
	return membersChanged, err
}

// ephemeralEvent returns an ephemeral event that is not a delta. Its entity, if it has one, is
// the only one that receives it, besides admins.
func ephemeralEvent(data []byte) storage.Event {
	ev := storage.Event{Type: shoal.EventEntityUpdated, Data: data}
	if !bytes.HasPrefix(data, deliveryPrefix) {
		return ev
	}
	var head struct {
		EntityID shoal.EntityID `json:"entityId"`
	}
	if json.Unmarshal(data, &head) == nil {
		ev.Type, ev.Entity = shoal.EventDeliveryUpdated, head.EntityID
	}
	return ev
}

// deliveryPrefix begins the data of delivery.updated.
var deliveryPrefix = []byte(`{"type":"` + shoal.EventDeliveryUpdated + `"`)

// pushDelta puts a delta into the window, unless it precedes a reset that was loaded already.
func (f *feed) pushDelta(n *live.DeltaEvent, data []byte) {
	if n.Base >= f.bases[n.Key] {
		f.push(entry{event: storage.Event{Type: n.Type, Space: n.Space, Data: data}, delta: n})
	}
}

// recordBase records the position of the opening or last reset of each streaming part.
func (f *feed) recordBase(p *partEvent, position int64) {
	switch {
	case p == nil:
	case p.begins():
		f.bases[p.key] = position
	case p.what == shoal.EventMessageCompleted:
		for key := range f.bases {
			if key.Owner == p.key.Owner {
				delete(f.bases, key)
			}
		}
		f.dropDrafts(p.key.Owner)
	}
}

// pushRemoteDelta is pushDelta for a delta of another server. It may arrive late: the first of
// a part is compared with the store, which may have a reset from before the feed began.
func (e *Events) pushRemoteDelta(ctx context.Context, f *feed, n *live.DeltaEvent, data []byte) error {
	if _, known := f.bases[n.Key]; !known && !n.OfRun {
		base, streaming, err := e.partBase(ctx, n)
		if err != nil || !streaming {
			return err
		}
		f.bases[n.Key] = base
	}
	f.pushDelta(n, data)
	return nil
}

// partBase returns the position of the last event of a part that its text begins with, for a
// delta that arrives from another server and may be older. It is that of the delta unless a
// later one is stored. ok is false if the part has ended.
func (e *Events) partBase(ctx context.Context, n *live.DeltaEvent) (base int64, ok bool, err error) {
	err = e.core.Store.View(ctx, func(tx storage.Tx) error {
		base, ok = n.Base, true
		for position := n.Base; ; {
			page, err := tx.Events(n.Key.Session, storage.EventFilter{Run: n.Run}, position, feedPage)
			if err != nil {
				return err
			}
			for _, ev := range page {
				position = ev.Position
				p := partEventOf(ev)
				switch {
				case p == nil || p.key.Owner != n.Key.Owner:
				case p.what == shoal.EventMessageCompleted:
					ok = false
				case p.key == n.Key:
					base, ok = ev.Position, p.begins()
				}
			}
			if len(page) < feedPage {
				return nil
			}
		}
	})
	return base, ok, err
}
