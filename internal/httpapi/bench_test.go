package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// quiet is a world without a log, in which one key may call without end.
func quiet(o *Options) {
	o.Log = slog.New(slog.DiscardHandler)
	o.Limits = limit.NewPrincipals(limit.Bounds{}, nil)
}

// BenchmarkPost posts durable messages over kept connections.
func BenchmarkPost(b *testing.B) {
	for _, senders := range []int{1, 64} {
		b.Run(fmt.Sprint("senders=", senders), func(b *testing.B) {
			w, ann, _ := conversation(b, quiet)
			transport := &http.Transport{MaxIdleConnsPerHost: senders}
			defer transport.CloseIdleConnections()
			body := []byte(`{"text": "` + string(bytes.Repeat([]byte("word "), 40)) + `", "mentions": ["bot"]}`)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			var all sync.WaitGroup
			for range senders {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						r, _ := http.NewRequest(http.MethodPost, w.server.URL+base+"/spaces/shop/messages", bytes.NewReader(body))
						r.Header.Set("Authorization", "Bearer "+ann)
						r.Header.Set("Content-Type", "application/json")
						res, err := transport.RoundTrip(r)
						if err != nil || res.StatusCode != http.StatusCreated {
							b.Error(res, err)
							return
						}
						_, _ = io.Copy(io.Discard, res.Body)
						res.Body.Close()
					}
				})
			}
			all.Wait()
		})
	}
}

// sink is a connection whose other end takes everything.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header            { return s.header }
func (*sink) Write(p []byte) (int, error)      { return len(p), nil }
func (*sink) WriteHeader(int)                  {}
func (*sink) FlushError() error                { return nil }
func (*sink) SetReadDeadline(time.Time) error  { return nil }
func (*sink) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkFace measures what the guard and this package add to the hub: a
// message that is refused for its sender is decoded and answered like any
// other, and the store is not asked.
func BenchmarkFace(b *testing.B) {
	w, ann, _ := conversation(b, quiet)
	body := []byte(`{"text": "` + string(bytes.Repeat([]byte("word "), 40)) + `", "mentions": ["bot"], "senderId": "bot"}`)
	b.ReportAllocs()
	for b.Loop() {
		r, _ := http.NewRequest(http.MethodPost, "http://localhost"+base+"/spaces/shop/messages", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+ann)
		r.Header.Set("Content-Type", "application/json")
		w.server.Config.Handler.ServeHTTP(&sink{http.Header{}}, r)
	}
}

// BenchmarkFanOut delivers one event to many streams at once.
func BenchmarkFanOut(b *testing.B) {
	event := shoal.Event{Type: shoal.EventMessageCreated, Cursor: "0123456789abcdef.12345", Data: bytes.Repeat([]byte("x"), 600)}
	s := &stream{call: &call{API: &API{Options: Options{WriteTimeout: 10 * time.Second}}, w: &sink{http.Header{}}}}
	s.control = http.NewResponseController(s.w)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.writeEvents([]shoal.Event{event}, false, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWake measures from a posted mention to the answer of a wait, for one
// pair of agents.
func BenchmarkWake(b *testing.B) {
	w, ann, bot := conversation(b, quiet)
	client := w.server.Client()
	for b.Loop() {
		woken := make(chan struct{})
		ready := make(chan struct{})
		go func() {
			defer close(woken)
			r := w.request(context.Background(), bot, "POST", base+"/entities/bot/wait", `{"kind": "mentions", "timeoutMs": 60000}`)
			close(ready)
			res, err := client.Do(r)
			if err != nil || res.StatusCode != http.StatusOK {
				b.Error(res, err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}()
		<-ready
		w.post(ann, "shop", "hello", "bot")
		<-woken
	}
}

// A blocked wait costs little more than net/http needs to hold any request: its
// buffers and two goroutines.
func TestIdleWaitIsSmall(t *testing.T) {
	const waits, limit = 1000, 24 << 10
	w := newWorld(t, quiet)
	admin := shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test"}
	secrets := make([]string, waits)
	for i := range secrets {
		key, err := w.auth.CreateKey(t.Context(), admin, shoal.NewKey{Role: shoal.RoleEntity, EntityID: shoal.EntityID(fmt.Sprint("agent-", i))}, "")
		w.must(err)
		secrets[i] = *key.Secret
	}
	ask := func(w *world, i int) {
		w.raw(secrets[i], fmt.Sprint(base, "/entities/agent-", i, "/wait"), `{"kind": "mentions", "timeoutMs": 600000}`)
	}
	var held atomic.Int64
	plain := *w
	plain.server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		held.Add(1)
		<-r.Context().Done()
	}))
	defer plain.server.Close()
	defer plain.server.CloseClientConnections()
	before := memory()
	for i := range waits {
		ask(&plain, i)
	}
	w.until("everybody is held", func() bool { return held.Load() == waits })
	bare := (memory() - before) / waits

	before = memory()
	for i := range waits {
		ask(w, i)
	}
	w.until("everybody waits", func() bool {
		all, err := w.hub.Entities.List(t.Context(), admin, shoal.DefaultSession, "", 2*waits)
		w.must(err)
		return !slices.ContainsFunc(all, func(e shoal.Entity) bool { return e.State != shoal.Waiting })
	})
	each := (memory() - before) / waits
	t.Logf("an idle wait holds %d bytes, a request to a bare net/http handler %d (both ends of the connection)", each, bare)
	if each > bare+limit {
		t.Errorf("an idle wait holds %d bytes more than a bare request, at most %d are allowed", each-bare, limit)
	}
}

// memory is what the process holds after a collection, heap and stacks.
func memory() int64 {
	for range 4 { // stacks shrink by half in each collection
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
