package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// asked is a wait as the server reads it.
type asked struct {
	Kind      shoal.WaitKind
	TimeoutMs int64
	SpaceID   string
	From      []string
	Ack       string
	Redeliver bool
	Adapter   shoal.WaitAdapter
}

// waits serves waits with what answer returns, and remembers what was asked. A
// wait that was given up may still be with its handler when the next one comes.
func waits(all *[]asked, answers ...func(a asked, w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
	var mu sync.Mutex
	remember := func(a asked) int {
		mu.Lock()
		defer mu.Unlock()
		*all = append(*all, a)
		return len(*all)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var a asked
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			panic(err)
		}
		answers[min(remember(a), len(answers))-1](a, w, r)
	}
}

func nothing(a asked, w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(time.Duration(a.TimeoutMs) * time.Millisecond):
		answer(w, 200, fmt.Sprintf(`{"items":[],"cursor":null,"timedOut":true,"timeoutMs":%d}`, a.TimeoutMs))
	case <-r.Context().Done():
	}
}

func batch(cursor string) func(asked, http.ResponseWriter, *http.Request) {
	return func(_ asked, w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, `{"items":[{"space":{"id":"shop"},"messages":[{"id":"msg_1"}]}],"cursor":"`+cursor+`","timedOut":false,"timeoutMs":1}`)
	}
}

func broken(asked, http.ResponseWriter, *http.Request) { cut() }

// A wait of three minutes is several requests, each short enough for the proxies
// in between, and each asks for the same.
func TestALongWaitIsMadeOfRounds(t *testing.T) {
	var got []asked
	inWorld(t, waits(&got, nothing), func(w *world) {
		began := time.Now()
		req := client.WaitRequest{
			Kind: shoal.WaitMessages, Timeout: 3 * time.Minute, Space: "shop", From: []shoal.EntityID{"bot"}, Ack: "c1", Redeliver: true,
			Adapter: &shoal.WaitAdapter{Kind: "claude-hook", SessionRef: "term-1"},
		}
		r, err := w.client.Session("default").Wait(w.Context(), "ann", req)
		if err != nil || !r.TimedOut || r.TimeoutMs != 180_000 || r.Cursor != nil {
			w.Fatalf("Wait = %+v, %v", r, err)
		}
		if took := time.Since(began); took != 3*time.Minute {
			w.Errorf("took %v", took)
		}
		for i, ms := range []int64{50_000, 50_000, 50_000, 30_000} {
			if want := (asked{"messages", ms, "shop", []string{"bot"}, "c1", true, shoal.WaitAdapter{Kind: "claude-hook", SessionRef: "term-1"}}); i >= len(got) || fmt.Sprint(got[i]) != fmt.Sprint(want) {
				w.Fatalf("asked %+v, want %+v at %d", got, want, i)
			}
		}
	})
}

func TestAWaitOfNothingLooksOnce(t *testing.T) {
	var got []asked
	inWorld(t, waits(&got, nothing), func(w *world) {
		began := time.Now()
		r, err := w.client.Session("default").Wait(w.Context(), "ann", client.WaitRequest{})
		if err != nil || !r.TimedOut || time.Since(began) != 0 {
			w.Fatalf("Wait = %+v, %v after %v", r, err, time.Since(began))
		}
		if len(got) != 1 || got[0].Kind != shoal.WaitMentions || got[0].TimeoutMs != 0 {
			w.Errorf("asked %+v", got)
		}
	})
}

// The server restarts in the middle of a wait: the wait goes on and
// acknowledges the same.
func TestAWaitOutlivesTheServersRestart(t *testing.T) {
	var got []asked
	inWorld(t, waits(&got, nothing, nothing, broken, batch("c2")), func(w *world) {
		time.AfterFunc(70*time.Second, func() { w.pipes.down.Store(true); w.pipes.cutAll() })
		time.AfterFunc(130*time.Second, func() { w.pipes.down.Store(false) })
		began := time.Now()
		r, err := w.client.Session("default").Wait(w.Context(), "ann", client.WaitRequest{Timeout: 10 * time.Minute, Ack: "c1"})
		if err != nil || r.TimedOut || *r.Cursor != "c2" || len(r.Items) != 1 {
			w.Fatalf("Wait = %+v, %v", r, err)
		}
		if took := time.Since(began); took < 130*time.Second || took > 150*time.Second {
			w.Errorf("came back after %v, the server after 130 s", took)
		}
		if len(got) != 4 {
			w.Fatalf("asked %d times, want 4", len(got))
		}
		for _, a := range got {
			if a.Ack != "c1" {
				w.Errorf("asked with ack %q, want c1 each time", a.Ack)
			}
		}
	})
}

func TestAWaitEndsWithTheServerAway(t *testing.T) {
	inWorld(t, waits(new([]asked), nothing), func(w *world) {
		time.AfterFunc(time.Minute, func() { w.pipes.down.Store(true); w.pipes.cutAll() })
		began := time.Now()
		_, err := w.client.Session("default").Wait(w.Context(), "ann", client.WaitRequest{Timeout: 3 * time.Minute})
		if took := time.Since(began); !errors.Is(err, client.ErrUnreachable) || took < 3*time.Minute || took > 200*time.Second {
			w.Errorf("error = %v after %v, want ErrUnreachable after 3 min", err, took)
		}
	})
}

// A wrong address is reported at once, not at the end of the wait.
func TestAWaitForNoServerIsShort(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		w.pipes.down.Store(true)
		began := time.Now()
		_, err := w.client.Session("default").Wait(w.Context(), "ann", client.WaitRequest{Timeout: time.Hour})
		if !errors.Is(err, client.ErrUnreachable) || time.Since(began) > 10*time.Second {
			w.Errorf("error = %v after %v", err, time.Since(began))
		}
	})
}

// The server ends the oldest wait of an entity that opens too many. That wait
// comes back, but ever later, lest two of them push each other out all day.
func TestAWaitThatIsEndedEarlyComesBackLater(t *testing.T) {
	var got []asked
	early := func(_ asked, w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, `{"items":[],"cursor":null,"timedOut":true,"timeoutMs":0}`)
	}
	inWorld(t, waits(&got, early), func(w *world) {
		began := time.Now()
		r, err := w.client.Session("default").Wait(w.Context(), "ann", client.WaitRequest{Timeout: time.Minute})
		if err != nil || !r.TimedOut || time.Since(began) != time.Minute {
			w.Fatalf("Wait = %+v, %v after %v", r, err, time.Since(began))
		}
		if len(got) < 8 || len(got) > 25 {
			w.Errorf("asked %d times in a minute", len(got))
		}
	})
}

func TestARefusedWaitIsOver(t *testing.T) {
	refuse := func(_ asked, w http.ResponseWriter, _ *http.Request) { answer(w, 403, `{"code":"identity_mismatch"}`) }
	var got []asked
	inWorld(t, waits(&got, refuse), func(w *world) {
		_, err := w.client.Session("default").Wait(w.Context(), "bob", client.WaitRequest{Timeout: time.Hour})
		if !errors.Is(err, shoal.IdentityMismatch) || len(got) != 1 {
			w.Errorf("error = %v after %d requests", err, len(got))
		}
	})
}

// An inbox acknowledges a batch when it is asked for the next one, never
// earlier, and never one that it did not get.
func TestInboxAcknowledgesWithTheNextCall(t *testing.T) {
	var got []asked
	inWorld(t, waits(&got, nothing, batch("c1"), broken, batch("c2"), nothing), func(w *world) {
		inbox := w.client.Session("default").Inbox("ann", client.InboxOptions{Space: "shop"})
		if err := inbox.Ack(w.Context()); err != nil || len(got) != 0 {
			w.Fatalf("Ack of nothing: %v, asked %+v", err, got)
		}
		for _, cursor := range []string{"c1", "c2"} {
			r, err := inbox.Next(w.Context())
			if err != nil || r.TimedOut || *r.Cursor != cursor {
				w.Fatalf("Next = %+v, %v, want %s", r, err, cursor)
			}
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if _, err := inbox.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			w.Fatalf("Next = %v, want the end of the context", err)
		}
		if err := inbox.Ack(w.Context()); err != nil {
			w.Fatal(err)
		}
		want := []asked{
			{Ack: "", Redeliver: true},
			{Ack: "", Redeliver: true},
			{Ack: "c1"},
			{Ack: "c1"},
			{Ack: "c2"},
			{Ack: "c2"},
		}
		if len(got) != len(want) {
			w.Fatalf("asked %d times: %+v", len(got), got)
		}
		for i, a := range got {
			if a.Ack != want[i].Ack || a.Redeliver != want[i].Redeliver || a.SpaceID != "shop" {
				w.Errorf("asked at %d: %+v, want %+v", i, a, want[i])
			}
		}
		if got[5].TimeoutMs != 0 {
			w.Errorf("Ack waited %d ms", got[5].TimeoutMs)
		}
	})
}
