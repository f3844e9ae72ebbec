package faults

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// What each guest starts before it disconnects.
const (
	guestCount   = 5
	guestWaits   = 3
	guestStreams = 3
)

// guestClients are clients that disconnect in the middle of long calls. They use one proxy,
// which resets all connections.
type guestClients struct {
	*world
	line *faultproxy.Proxy
	all  []*crowd.Caller
}

func (w *world) newGuests(t *testing.T) *guestClients {
	t.Helper()
	g := &guestClients{world: w, line: faultproxy.New(t, "tcp", w.server.Addr)}
	for n := range guestCount {
		c := w.prober(t, fmt.Sprintf("guest-%d", n))
		c.URL = "http://" + g.line.Addr()
		g.all = append(g.all, c)
	}
	return g
}

// visit lets all guests start waits, streams, MCP sessions, half a request and the reading
// of an export, and disconnects them when the server has accepted everything. A call in an
// MCP session continues without its caller until the MCP session is ended.
func (g *guestClients) visit(t *testing.T) {
	t.Helper()
	before := g.serverMetrics(t)
	var inside sync.WaitGroup
	var ended []crowd.MCPSpeaker
	begun := make(chan error, guestCount*(guestWaits+1))
	wait := func(s crowd.Speaker) {
		inside.Go(func() {
			_, err := s.Wait(t.Context(), crowd.Waiting{Kind: shoal.WaitMentions, TimeoutMs: shoal.MaxWait.Milliseconds()})
			begun <- err
		})
	}
	for _, c := range g.all {
		c.HTTP = &http.Client{Transport: &http.Transport{}}
		for range guestWaits {
			wait(crowd.RestSpeaker{Caller: c})
		}
		m := crowd.MCPSpeaker{Caller: &crowd.Caller{HTTP: c.HTTP, URL: c.URL, Key: c.Key, As: c.As}}
		if err := m.Initialize(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait(m)
		ended = append(ended, m)
		for range guestStreams {
			openStream(t, g.line.Addr(), c.Key)
		}
		beginRequest(t, g.line.Addr())
	}
	g.until(t, serverMetrics{
		"shoal_waits_open":   before["shoal_waits_open"] + guestCount*(guestWaits+1) - float64(len(g.Waiters)), // those start and end
		"shoal_streams_open": before["shoal_streams_open"] + guestCount*guestStreams,
	})
	g.line.Reset()
	inside.Wait()
	close(begun)
	for err := range begun {
		if !errors.Is(err, crowd.ErrGone) {
			g.Found = append(g.Found, fmt.Sprintf("rig: the wait of a guest was not interrupted: %v", err))
		}
	}
	for n, m := range ended {
		g.all[n].HTTP.CloseIdleConnections()
		g.endSession(t, m)
	}
	if err := g.Admin.Export(t.Context(), &leavesAfter{bytes: 1 << 10}); !errors.Is(err, errEnough) {
		g.Found = append(g.Found, fmt.Sprintf("rig: the export was not abandoned: %v", err))
	}
}

// until waits until the metrics are at least as high as want.
func (g *guestClients) until(t *testing.T, want serverMetrics) {
	t.Helper()
	for began := time.Now(); ; crowd.Pause(t.Context(), 10*time.Millisecond) {
		now, enough := g.serverMetrics(t), true
		for name, least := range want {
			enough = enough && now[name] >= least
		}
		if enough {
			return
		}
		if time.Since(began) > crowd.SettleLimit {
			t.Fatalf("the guests did not reach %v: got %v waits, %v streams", want, now["shoal_waits_open"], now["shoal_streams_open"])
		}
	}
}

// endSession ends an MCP session, over an intact connection.
func (g *guestClients) endSession(t *testing.T, m crowd.MCPSpeaker) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, g.server.URL()+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+m.Key)
	req.Header.Set("Mcp-Session-Id", m.MCPSession)
	req.Header.Set("Mcp-Protocol-Version", crowd.MCPVersion)
	res, err := program.Probe.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // only the status matters
	if res.StatusCode != http.StatusNoContent {
		t.Fatalf("ending an MCP session returned %d", res.StatusCode)
	}
}

// beginRequest sends the first half of a request.
func beginRequest(t *testing.T, addr string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, "POST /v1/sessions/default/spaces/probes/messages HTTP/1.1\r\nHost: "+addr+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
}

var errEnough = errors.New("the reader stops")

// leavesAfter is a writer that fails after a number of bytes.
type leavesAfter struct{ bytes int }

func (l *leavesAfter) Write(b []byte) (int, error) {
	if l.bytes -= len(b); l.bytes <= 0 {
		return 0, errEnough
	}
	return len(b), nil
}
