// Package ledger is a server with tools for agents whose own server is under test. It
// records the effects of their calls in the process of the test, which no fault affects:
//
//	l := ledger.New(t, 10*time.Millisecond)
//	// … a tool with {"url": l.URL} is called with {"key": "job 1", "step": "pay"}
//	n := l.Of("job 1", "pay")
package ledger

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Ledger is a server that records calls. It is safe for concurrent use.
type Ledger struct {
	*httptest.Server

	mu    sync.Mutex
	count map[entry]int
	named map[entry]map[string]bool
}

// entry is the effect of a call: one step of the job with a key.
type entry struct{ Key, Step string }

// New starts a ledger that runs until the test ends. A call has its effect immediately and
// returns later, so that a fault can happen in between.
func New(t testing.TB, later time.Duration) *Ledger {
	t.Helper()
	l := &Ledger{count: map[entry]int{}, named: map[entry]map[string]bool{}}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var did entry
		if err := json.NewDecoder(r.Body).Decode(&did); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		l.mu.Lock()
		l.count[did]++
		if l.named[did] == nil {
			l.named[did] = map[string]bool{}
		}
		l.named[did][r.Header.Get("Idempotency-Key")] = true
		l.mu.Unlock()
		<-time.After(later)
		_, _ = io.WriteString(w, `{"noted":true}`) // the caller may have disconnected
	}))
	t.Cleanup(l.Close)
	return l
}

// Of returns the number of times that a step of a job was done.
func (l *Ledger) Of(key, step string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count[entry{key, step}]
}

// Calls returns the number of different calls that did the step, by their
// Idempotency-Key: a repeated call keeps its key.
func (l *Ledger) Calls(key, step string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.named[entry{key, step}])
}
