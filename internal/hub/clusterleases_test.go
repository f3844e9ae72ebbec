package hub_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
)

// lease holds a lease of a minute for bot on a server.
func lease(t *testing.T, h *hub.Hub, busy bool) {
	t.Helper()
	_, err := h.Entities.HoldWakeLease(context.Background(), bot, shoal.DefaultSession, bot.EntityID, shoal.WakeLease{
		Via: "runner", Runner: "ada-mbp", SessionRef: "term-1", TTLMs: time.Minute.Milliseconds(), Busy: busy,
	})
	must(t, err)
	synctest.Wait()
}

// wantWake checks how a mention reaches bot according to each server.
func wantWake(t *testing.T, when string, want shoal.ReachState, hubs ...*hub.Hub) {
	t.Helper()
	for i, h := range hubs {
		e, err := h.Entities.Get(context.Background(), ann, shoal.DefaultSession, bot.EntityID)
		must(t, err)
		if e.Wake.State != want {
			t.Errorf("%s, bot is %s on server %d (%s), want %s", when, e.Wake.State, i, e.Wake.Text, want)
		}
	}
}

// A lease on one server is known on the others at once, its renewals within a second, and its end when
// it ends. It outlives the server that has received it.
func TestLeasesOnOtherServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w clustertest.Wire
		hubs, _ := cluster(t, &w, 3)
		lease(t, hubs[1], false)
		<-time.After(5 * time.Millisecond)
		wantWake(t, "with a lease", shoal.ReachWakeable, hubs...)
		m, err := say(hubs[2], "hello")
		must(t, err)
		if len(m.Reach) != 1 || m.Reach[0].State != shoal.ReachWakeable || m.Reach[0].Text != "will be woken (runner ada-mbp)" {
			t.Errorf("the sender reads %+v", m.Reach)
		}
		lease(t, hubs[0], true) // through a load balancer
		<-time.After(5 * time.Millisecond)
		wantWake(t, "at work", shoal.ReachBusy, hubs...)
		<-time.After(50 * time.Second)
		lease(t, hubs[1], true)
		<-time.After(50 * time.Second)
		wantWake(t, "after a renewal", shoal.ReachBusy, hubs...)
		hubs[1].Stop()
		wantWake(t, "after its server has stopped", shoal.ReachBusy, hubs[0], hubs[2])
		<-time.After(11 * time.Second)
		wantWake(t, "after a minute without a renewal", shoal.ReachAsleep, hubs[0], hubs[2])
		lease(t, hubs[2], false)
		must(t, hubs[0].Entities.ReleaseWakeLease(context.Background(), bot, shoal.DefaultSession, bot.EntityID, "term-1"))
		<-time.After(5 * time.Millisecond)
		wantWake(t, "after its release", shoal.ReachAsleep, hubs[0], hubs[2])
	})
}

// A server that joins others asks them, and so does one that has missed something.
func TestLeasesAfterJoining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w clustertest.Wire
		store := shoaltest.OpenSQLite(t)
		start := func(name string) (*hub.Hub, *clustertest.End) {
			return joinCluster(t, &w, store, name, func(bus core.Bus) *hub.Hub {
				if name == "first" {
					return shop(t, func(o *hub.Options) { o.Store, o.Bus = store, bus })
				}
				return nil
			})
		}
		first, _ := start("first")
		<-time.After(time.Second)
		second, line := start("second")
		wantWake(t, "before anybody knows", shoal.ReachUnknown, second)
		<-time.After(time.Minute)
		third, _ := start("third")
		<-time.After(50 * time.Millisecond)
		e, err := third.Entities.Get(context.Background(), ann, shoal.DefaultSession, bot.EntityID)
		must(t, err)
		if e.Wake.Text != "never connected" {
			t.Errorf("a server that joined others which know every lease says %q", e.Wake.Text)
		}
		lease(t, first, false)
		fourth, _ := start("fourth")
		<-time.After(50 * time.Millisecond)
		wantWake(t, "on a server that has joined", shoal.ReachWakeable, fourth)
		line.SetCut(true)
		lease(t, first, true)
		<-time.After(10 * time.Second)
		wantWake(t, "with a broken line", shoal.ReachWakeable, second)
		line.SetCut(false)
		<-time.After(5 * time.Second)
		wantWake(t, "after the line was repaired", shoal.ReachBusy, second)
	})
}

// Followers are notified of the end of a lease once, also if the server that has received it is gone.
func TestEndOfLeaseIsAnnounced(t *testing.T) {
	for name, gone := range map[string]bool{"by the server that has received it": false, "by another one": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w clustertest.Wire
				hubs, _ := cluster(t, &w, 2)
				follower, err := hubs[0].Events.Follow(context.Background(), ann, feed.FollowRequest{Session: shoal.DefaultSession})
				must(t, err)
				defer follower.Close()
				lease(t, hubs[1], false)
				if <-time.After(5 * time.Second); gone {
					hubs[1].Stop()
				}
				<-time.After(70 * time.Second)
				got := wakeEvents(t, follower)
				if len(got) != 2 || got[0] != shoal.ReachWakeable || got[1] != shoal.ReachAsleep {
					t.Errorf("the follower received %v", got)
				}
			})
		})
	}
}

// wakeEvents returns how a mention reaches bot, according to the events that a follower has received.
func wakeEvents(t *testing.T, f *feed.Follower) (got []shoal.ReachState) {
	t.Helper()
	until := time.Now().Add(time.Second)
	for {
		events, err := f.Next(context.Background(), until)
		must(t, err)
		if len(events) == 0 {
			return got
		}
		for _, e := range events {
			var data shoal.EntityData
			if e.Type != shoal.EventEntityUpdated {
				continue
			}
			must(t, json.Unmarshal(e.Data, &data))
			if data.Entity.ID == bot.EntityID {
				got = append(got, data.Entity.Wake.State)
			}
		}
	}
}
