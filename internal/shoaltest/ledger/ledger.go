// Package ledger is a server whose tools agents call while a test does harm to the
// server that hosts them. What their calls have done is kept here, where no harm
// reaches it:
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

// Ledger is such a server. It is safe for concurrent use.
type Ledger struct {
	*httptest.Server

	mu    sync.Mutex
	count map[entry]int
	named map[entry]map[string]bool
}

// entry says what a call does: one step of the job with that key.
type entry struct{ Key, Step string }

// New starts a ledger until the test ends. A call has its effect at once and its
// result so much later, so that harm may come in between.
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
		_, _ = io.WriteString(w, `{"noted":true}`) // whoever asked may be gone
	}))
	t.Cleanup(l.Close)
	return l
}

// Of returns how often a step of a job was done.
func (l *Ledger) Of(key, step string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count[entry{key, step}]
}

// Calls returns by how many calls that was, told by their Idempotency-Key: one that is
// made again keeps its own.
func (l *Ledger) Calls(key, step string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.named[entry{key, step}])
}
