package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// Of two servers on one PostgreSQL each sends the tombstones that the other has made: of a retention, and
// of an erased person.
func TestTombstonesOfAnotherServer(t *testing.T) {
	url := postgrestest.Database(t)
	var w clustertest.Wire
	var hubs []*hub.Hub
	for i := range 2 {
		store, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url, Cluster: true, Fatal: func(err error) { t.Error(err) }})
		must(t, err)
		t.Cleanup(func() { must(t, store.Close()) })
		h, _ := joinCluster(t, &w, store, fmt.Sprint("server", i), func(bus core.Bus) *hub.Hub {
			if i > 0 {
				return nil
			}
			return shop(t, func(o *hub.Options) { o.Store, o.Bus = store, bus })
		})
		hubs = append(hubs, h)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i, erase := range []func(h *hub.Hub) error{
		func(h *hub.Hub) error { return h.Retention.Sweep(ctx, shoal.At(time.Now().Add(2*time.Hour))) },
		func(h *hub.Hub) error { return h.Erasures.Erase(ctx, root, shoal.DefaultSession, "ann") },
	} {
		by, follows := hubs[i], hubs[1-i]
		ms := time.Hour.Milliseconds()
		_, err := keepMessages(t, by, ms)
		must(t, err)
		left := map[shoal.MessageID]bool{}
		for n := range 3 {
			m, err := say(by, fmt.Sprint("message ", n))
			must(t, err)
			left[m.ID] = true
		}
		f, err := follows.Events.Follow(ctx, bot, feed.FollowRequest{Session: shoal.DefaultSession, Space: "shop"})
		must(t, err)
		must(t, erase(by))
		for len(left) > 0 {
			events, err := f.Next(ctx, time.Now().Add(time.Second))
			must(t, err)
			for _, ev := range events {
				var data shoal.MessageData
				if must(t, json.Unmarshal(ev.Data, &data)); ev.Type == shoal.EventMessageUpdated && data.Message.DeletedAt != nil {
					delete(left, data.Message.ID)
				}
			}
		}
		f.Close()
	}
}
