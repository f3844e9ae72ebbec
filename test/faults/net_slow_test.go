package faults

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// maxReaderMemory is the memory limit of the server for a slow reader.
const maxReaderMemory = 1 << 20

// Stream readers read one byte per second: the server disconnects them, they do not exceed
// their memory limit, and posts do not become slower. The latency of posts is reported and
// not asserted, because it depends on the machine as much as on the server.
func TestSlowReaders(t *testing.T) {
	seed := randomSeed(t)
	s := program.NewServer(t, productBinary(t))
	s.Start(t)
	w := newWorld(t, s, seed, 0)
	count, posts := times(t, "SHOAL_SLOW_READERS", 120), times(t, "SHOAL_SLOW_POSTS", 600)
	talker, alone := w.prober(t, "talker"), 0.0 // the peak of the memory, which varies by itself
	high := func() bool {
		alone = max(alone, w.serverMetrics(t)["process_resident_memory_bytes"])
		return false
	}
	timePosts(t, talker, posts/2, high) // until memory that grows with use has grown
	idle := w.serverMetrics(t)
	baseline := timePosts(t, talker, posts, high)
	before := w.serverMetrics(t)

	line := faultproxy.New(t, "tcp", s.Addr)
	line.Harm(faultproxy.Fault{}, faultproxy.Fault{Rate: 1})
	key := ""
	for n := range count {
		if n%15 == 0 { // the limit of a caller is 20 streams
			key = w.prober(t, fmt.Sprintf("slow-%d", n)).Key
		}
		openStream(t, line.Addr(), key)
	}
	most := 0.0
	let := func() bool {
		now := w.serverMetrics(t)
		most = max(most, now["process_resident_memory_bytes"])
		return now["shoal_streams_open"] <= before["shoal_streams_open"]
	}
	began := time.Now()
	for w.serverMetrics(t)["shoal_streams_open"] < before["shoal_streams_open"]+float64(count) {
		if crowd.Pause(t.Context(), 10*time.Millisecond); time.Since(began) > crowd.SettleLimit {
			t.Fatalf("%.0f streams are open, want %d more than %.0f", w.serverMetrics(t)["shoal_streams_open"], count, before["shoal_streams_open"])
		}
	}
	beside := timePosts(t, talker, posts, let)
	for began := time.Now(); !let(); timePosts(t, talker, 50, let) {
		if time.Since(began) > crowd.SettleLimit {
			w.Found = append(w.Found, fmt.Sprintf("slow: %.0f streams of slow readers are still open after %v", w.serverMetrics(t)["shoal_streams_open"], time.Since(began)))
			break
		}
	}
	grown := max(0, most-alone) / float64(count)
	if grown > maxReaderMemory {
		w.Found = append(w.Found, fmt.Sprintf("memory: the server grew by %.0f bytes for each slow reader, want at most %d", grown, maxReaderMemory))
	}
	line.Reset()
	w.Found = append(w.Found, w.exceeding(t, idle, wideBounds)...)
	note := fmt.Sprintf("p99 of posts %v alone, %v with them; the server grew by %.0f KiB for each, and disconnected all",
		p99(baseline).Round(100*time.Microsecond), p99(beside).Round(100*time.Microsecond), grown/1024)
	w.finish(t)
	report(t, outcome{fault: "readers of one byte per second", count: count, operations: len(baseline) + len(beside), found: w.Found, slowest: s.Slowest, note: note})
}

// prober creates an entity that is a member of the space of probes.
func (w *world) prober(t *testing.T, name string) *crowd.Caller {
	t.Helper()
	c := &crowd.Caller{HTTP: w.HTTP, URL: w.server.URL(), As: shoal.EntityID(name)}
	c.Key = w.NewKey(t, c.As)
	if _, err := w.Admin.AddMember(t.Context(), crowd.Probed, c.As); err != nil {
		t.Fatal(err)
	}
	return c
}

// openStream follows the space of probes over a connection that limits its speed.
func openStream(t *testing.T, addr, key string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := fmt.Fprintf(c, "GET /v1/sessions/default/spaces/%s/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n\r\n", crowd.Probed, addr, key); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = bufio.NewReader(c).Discard(1 << 30) }() // ends with the connection
}

// timePosts posts texts of 4 KiB to the space of probes, one after the other, until there
// are most of them or enough returns true. It returns the latency of each.
func timePosts(t *testing.T, who *crowd.Caller, most int, enough func() bool) (took []time.Duration) {
	t.Helper()
	text := strings.Repeat("0123456789abcde ", 256)
	for n := range most {
		began := time.Now()
		who.Calls++
		p := &crowd.Post{Key: fmt.Sprintf("%s-%d", who.As, who.Calls), Space: crowd.Probed, Text: text, Mentions: []shoal.EntityID{}}
		if _, err := (crowd.RestSpeaker{Caller: who}).Post(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
		if n%50 == 49 && enough() {
			break
		}
	}
	return took
}

func p99(of []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)*99/100]
}
