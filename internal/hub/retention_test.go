package hub_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
)

func keepMessages(t *testing.T, h *hub.Hub, ms int64) (shoal.Session, error) {
	t.Helper()
	return h.Sessions.Change(t.Context(), root, shoal.DefaultSession, shoal.SessionChange{Retention: &shoal.RetentionChange{MessagesForMs: &ms}})
}

// The server keeps nothing for longer than it is configured to, whatever a session says.
func TestTheServerLimitsWhatASessionKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hour := time.Hour.Milliseconds()
		h := shop(t, func(o *hub.Options) { o.Keep = shoal.Retention{MessagesForMs: 2 * hour} })
		if _, err := keepMessages(t, h, 2*hour+1); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "retention.messagesForMs must be at most 7200000 (2h)") {
			t.Errorf("a longer time is answered with %v", err)
		}
		if s, err := keepMessages(t, h, 2*hour); err != nil || s.Retention.MessagesForMs != 2*hour {
			t.Errorf("the session is %+v, %v", s, err)
		}
		_, err := keepMessages(t, h, 0)
		must(t, err)
		m, err := say(h, "hello")
		must(t, err)
		for _, later := range []time.Duration{2*time.Hour - time.Minute, 2*time.Hour + time.Minute} {
			must(t, h.Retention.Sweep(t.Context(), shoal.At(time.Now().Add(later))))
			got, err := h.Messages.Get(t.Context(), root, shoal.DefaultSession, m.ID)
			if must(t, err); (got.DeletedAt != nil) != (later > 2*time.Hour) {
				t.Errorf("after %v the message is %+v", later, got)
			}
		}
	})
}

// Followers on every server receive the tombstones, each once, also if several servers erase at once.
func TestFollowersOfAnotherServerReceiveTombstones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w clustertest.Wire
		hubs, _ := cluster(t, &w, 2)
		_, err := keepMessages(t, hubs[0], time.Hour.Milliseconds())
		must(t, err)
		m, err := say(hubs[0], "hello")
		must(t, err)
		f, err := hubs[1].Events.Follow(t.Context(), bot, feed.FollowRequest{Session: shoal.DefaultSession, Space: "shop"})
		must(t, err)
		defer f.Close()
		_, err = f.Next(t.Context(), time.Now().Add(time.Second)) // the snapshot
		must(t, err)
		var both sync.WaitGroup
		for _, h := range hubs {
			both.Go(func() {
				if err := h.Retention.Sweep(t.Context(), shoal.At(time.Now().Add(2*time.Hour))); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		var tombstones []shoal.MessageData
		for {
			events, err := f.Next(t.Context(), time.Now().Add(time.Second))
			if must(t, err); len(events) == 0 {
				break
			}
			for _, ev := range events {
				var data shoal.MessageData
				if must(t, json.Unmarshal(ev.Data, &data)); ev.Type == shoal.EventMessageUpdated {
					tombstones = append(tombstones, data)
				}
			}
		}
		if len(tombstones) != 1 || tombstones[0].Message.ID != m.ID || tombstones[0].Message.DeletedAt == nil {
			t.Errorf("the follower received %+v, want one tombstone", tombstones)
		}
	})
}
