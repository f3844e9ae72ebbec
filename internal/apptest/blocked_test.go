//go:build !race

package apptest_test

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// The stacks of a detached wait take at most 8 KiB, 4 KiB each for the goroutine that waits
// and the one that reads: one additional frame can double one of them for every wait.
func TestTheStackOfABlockedWait(t *testing.T) {
	const waits, limit = 200, 8<<10 + 512
	s := apptest.Start(t)
	keys := make([]string, waits)
	for i := range keys {
		keys[i] = s.Agent(shoal.EntityID(fmt.Sprint("agent-", i)))
	}
	host := strings.TrimPrefix(s.URL, "http://")
	before := stacks()
	for i, key := range keys {
		body := `{"kind": "mentions", "timeoutMs": 600000}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprint(s.URL, "/v1/sessions/default/entities/agent-", i, "/wait"), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		// A client of net/http would have stacks of its own.
		c, err := net.DialTimeout("tcp", host, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := r.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	for blocked := 0; blocked < waits; {
		blocked = 0
		for e, err := range s.Operator.Entities(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.State == shoal.Waiting {
				blocked++
			}
		}
	}
	each := (stacks() - before) / waits
	t.Logf("a blocked wait holds %d bytes of stack", each)
	if each > limit {
		t.Errorf("a blocked wait holds %d bytes of stack, want at most %d", each, limit)
	}
}

// stacks returns the size of all stacks of the process after they have shrunk as far as
// possible.
func stacks() int64 {
	for range 4 { // each collection halves them
		runtime.GC()
	}
	found := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(found)
	return int64(found[0].Value.Uint64()) //nolint:gosec // fits
}
