package hub_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
)

// adapterWaiting starts a wait of a program that wakes bot and returns where its response arrives.
func adapterWaiting(t *testing.T, h *hub.Hub, timeout time.Duration) <-chan *inbox.Delivery {
	answer := make(chan *inbox.Delivery, 1)
	go func() {
		req := mentions(timeout, "")
		req.Adapter = &shoal.WaitAdapter{Kind: "claude-hook", SessionRef: "term-1"}
		got, err := h.Inbox.Wait(context.Background(), bot, req)
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	synctest.Wait()
	return answer
}

// wantNone fails if a wait has returned.
func wantNone(t *testing.T, answer <-chan *inbox.Delivery, when string) {
	t.Helper()
	synctest.Wait()
	select {
	case got := <-answer:
		t.Fatalf("%s, the program got %q", when, textsOf(got))
	default:
	}
}

// A program that waits on one server returns nothing while the entity itself waits on another, leaves
// what that delivers, and returns what comes afterwards.
func TestAdapterBesideWaitOnAnotherServer(t *testing.T) {
	for name, explicit := range map[string]bool{"that acknowledges implicitly": false, "that acknowledges with a cursor": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w clustertest.Wire
				hubs, _ := cluster(t, &w, 2)
				if explicit {
					_, err := say(hubs[1], "before")
					must(t, err)
					_, cursor := waitNow(t, hubs[1], "")
					waitNow(t, hubs[1], cursor)
				}
				own := waiting(t, hubs[1], time.Minute)
				<-time.After(2 * time.Second)
				program := adapterWaiting(t, hubs[0], shoal.MaxWait)
				_, err := say(hubs[0], "for bot itself")
				must(t, err)
				got := <-own
				got.Settle(true)
				if texts := textsOf(got); len(texts) != 1 || texts[0] != "for bot itself" {
					t.Errorf("bot got %q", texts)
				}
				<-time.After(5 * time.Second)
				wantNone(t, program, "after bot itself had received the message")
				began := time.Now()
				_, err = say(hubs[1], "for the program")
				must(t, err)
				if texts := textsOf(<-program); len(texts) != 1 || texts[0] != "for the program" || time.Since(began) > time.Second {
					t.Errorf("the program got %q after %v", texts, time.Since(began))
				}
			})
		})
	}
}

// What the entity itself did not wait for goes to the program when the wait on the other server has
// ended, or its server is gone.
func TestAdapterAfterWaitOnAnotherServer(t *testing.T) {
	for name, c := range map[string]struct {
		cut    bool
		within time.Duration
	}{
		"the wait has ended":      {false, 12 * time.Second},
		"its server is not heard": {true, 45 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w clustertest.Wire
				hubs, lines := cluster(t, &w, 2)
				own := make(chan error, 1)
				timeout := 10 * time.Second
				if c.cut {
					timeout = shoal.MaxWait
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				go func() {
					req := mentions(timeout, "")
					req.From = []shoal.EntityID{"zoe"}
					_, err := hubs[1].Inbox.Wait(ctx, bot, req)
					own <- err
				}()
				<-time.After(2 * time.Second)
				began := time.Now()
				program := adapterWaiting(t, hubs[0], shoal.MaxWait)
				_, err := say(hubs[0], "not from zoe")
				must(t, err)
				wantNone(t, program, "while bot itself waited")
				if c.cut {
					lines[1].SetCut(true)
				}
				if texts := textsOf(<-program); len(texts) != 1 || time.Since(began) > c.within {
					t.Errorf("the program got %q after %v, want one message within %v", texts, time.Since(began), c.within)
				}
				cancel()
				if err := <-own; err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		})
	}
}

// A program says nothing about the entity: it stays offline, on all servers.
func TestAdapterIsNoPresence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w clustertest.Wire
		hubs, _ := cluster(t, &w, 2)
		program := adapterWaiting(t, hubs[0], 10*time.Second)
		<-time.After(2 * time.Second)
		for i, h := range hubs {
			e, err := h.Entities.Get(context.Background(), ann, shoal.DefaultSession, bot.EntityID)
			must(t, err)
			if e.State != shoal.Offline || e.WaitEndsAt != nil || e.LastSeenAt != nil {
				t.Errorf("server %d shows bot as %s, until %v, last seen %v", i, e.State, e.WaitEndsAt, e.LastSeenAt)
			}
		}
		<-program
	})
}
