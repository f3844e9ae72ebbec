package feed_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/chat/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session connects to a server whose stream the handler writes.
func session(t *testing.T, handler http.HandlerFunc) *client.Session {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New(client.Options{URL: server.URL, HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return c.Session(shoal.DefaultSession)
}

// send writes the events after the last one that the client received, up to n.
func send(w http.ResponseWriter, r *http.Request, n int) {
	w.Header().Set("Content-Type", "text/event-stream")
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID")) // 0 without one
	for i := after + 1; i <= n; i++ {
		_, _ = fmt.Fprintf(w, "id: %d\nevent: text-delta\ndata: {\"type\":\"text-delta\",\"spaceId\":\"shop\",\"offset\":%d}\n\n", i, i)
	}
	_ = http.NewResponseController(w).Flush()
}

// Events arrive in batches, in order and complete, however fast they come; Stop ends the
// stream.
func TestBatches(t *testing.T) {
	const events = 20_000
	s := session(t, func(w http.ResponseWriter, r *http.Request) {
		send(w, r, events)
		<-r.Context().Done()
	})
	f := feed.Start(t.Context(), s)
	defer f.Stop()
	began, batches, got := time.Now(), 0, 0
	for got < events {
		batch, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		batches++
		for e := range batch.Events {
			if got++; string(e.Cursor) != strconv.Itoa(got) {
				t.Fatalf("event %s is the %d.", e.Cursor, got)
			}
		}
	}
	if most := int(time.Since(began)/feed.Frame) + events/2000 + 2; batches > most {
		t.Errorf("%d batches in %v", batches, time.Since(began))
	}
}

// A lost connection is reported in its position between the events, and the state follows it.
func TestConnection(t *testing.T) {
	var connections atomic.Int32
	s := session(t, func(w http.ResponseWriter, r *http.Request) {
		if connections.Add(1) == 1 {
			send(w, r, 3)
			panic(http.ErrAbortHandler)
		}
		send(w, r, 5)
		<-r.Context().Done()
	})
	f := feed.Start(t.Context(), s)
	defer f.Stop()
	state, lost, got := chat.New("ann"), false, 0
	for got < 5 {
		batch, err := f.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := batch.Into(state); err != nil {
			t.Fatal(err)
		}
		lost = lost || batch.Lost() != nil
		for range batch.Events {
			got++
		}
	}
	if !lost || !state.Live || connections.Load() != 2 {
		t.Errorf("lost %t, live %t over %d connections", lost, state.Live, connections.Load())
	}
}

// A refusal by the server ends the stream after the preceding events.
func TestRefusal(t *testing.T) {
	s := session(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") == "" {
			send(w, r, 1)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"code":"unauthenticated","detail":"The key was revoked."}`)
	})
	f := feed.Start(t.Context(), s)
	defer f.Stop()
	got := 0
	for {
		batch, err := f.Next(t.Context())
		if err != nil {
			if !errors.Is(err, shoal.Unauthenticated) || got != 1 {
				t.Errorf("after %d events: %v", got, err)
			}
			return
		}
		for range batch.Events {
			got++
		}
	}
}

// Without a reader, Stop still ends the stream.
func TestStopWithoutAReader(t *testing.T) {
	s := session(t, func(w http.ResponseWriter, r *http.Request) { send(w, r, 5000) })
	f := feed.Start(t.Context(), s)
	f.Stop()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(shoal.Busy)
	for {
		if _, err := f.Next(ctx); err != nil {
			if !errors.Is(err, shoal.Busy) {
				t.Errorf("Next ended with %v, want the cause", err)
			}
			return
		}
	}
}
