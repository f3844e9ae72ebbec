package faults

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// database is a PostgreSQL server, and the proxy between it and the Shoal server.
type database struct {
	*postgrestest.Server
	line *faultproxy.Proxy
	lose atomic.Bool  // whether every second response to COMMIT is lost
	lost atomic.Int64 // the number of lost responses to COMMIT
	seen atomic.Int64 // responses to COMMIT while lose was set
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{Server: postgrestest.NewServer(t)}
	d.line = faultproxy.New(t, "unix", d.Socket)
	d.heal()
	return d
}

// url returns the URL of the database through the proxy.
func (d *database) url() string {
	return "postgres://postgres@" + d.line.Addr() + "/shoal?sslmode=disable"
}

func (d *database) heal() {
	d.line.Harm(faultproxy.Fault{}, faultproxy.Fault{Gate: commitGate(d.takesLoss)})
}

// takesLoss reports whether a response to COMMIT is to be lost.
func (d *database) takesLoss() bool {
	if !d.lose.Load() || d.seen.Add(1)%2 == 0 {
		return false
	}
	d.lost.Add(1)
	return true
}

// commitGate parses the frames of PostgreSQL's responses, and closes a connection before
// the frame that confirms a COMMIT, if lose returns true. It must see a connection from
// its start.
func commitGate(lose func() bool) func() faultproxy.Gate {
	return func() faultproxy.Gate {
		var begun []byte // of an incomplete frame
		return func(piece []byte) (int, bool) {
			passed := len(begun)
			all := append(begun, piece...)
			at := 0
			for len(all)-at >= 5 {
				size := 1 + int(binary.BigEndian.Uint32(all[at+1:]))
				if len(all)-at < size {
					break
				}
				if all[at] == 'C' && string(all[at+5:at+size]) == "COMMIT\x00" && lose() {
					return max(0, at-passed), true
				}
				at += size
			}
			begun = bytes.Clone(all[at:])
			return len(piece), false
		}
	}
}

func TestCommitGateFindsCommitResponses(t *testing.T) {
	const before = "T\x00\x00\x00\x0aCOMMITC\x00\x00\x00\x0aBEGIN\x00"
	const commit = "C\x00\x00\x00\x0bCOMMIT\x00"
	for at := range len(before + commit) {
		gate := commitGate(func() bool { return true })()
		all := []byte(before + commit)
		n, cut := gate(all[:at])
		if n != at || cut {
			t.Fatalf("%q: got %d bytes passed, cut %v", all[:at], n, cut)
		}
		if n, cut = gate(all[at:]); !cut || n != max(0, len(before)-at) {
			t.Errorf("after %q: got %d bytes passed, cut %v", all[:at], n, cut)
		}
	}
	gate := commitGate(func() bool { return false })()
	if n, cut := gate([]byte(before + commit)); n != len(before+commit) || cut {
		t.Errorf("without a loss: got %d bytes passed, cut %v", n, cut)
	}
}

// statuses counts the failed calls by their response, and records the ones that report
// neither busy nor an unknown outcome.
type statuses struct {
	http.RoundTripper
	mu            sync.Mutex
	busy, unknown int
	wrong         []string
}

// unknownOutcome is part of the error for a commit with an unknown outcome.
const unknownOutcome = "may or may not be"

// RoundTrip implements [http.RoundTripper].
func (s *statuses) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := s.RoundTripper.RoundTrip(req)
	if err != nil || res.StatusCode < http.StatusInternalServerError {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // read completely
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "":
		s.wrong = append(s.wrong, fmt.Sprintf("status: %s %s returned %d %s", req.Method, req.URL.Path, res.StatusCode, body))
	case strings.Contains(string(body), unknownOutcome):
		s.unknown++
	default:
		s.busy++
	}
	return res, nil
}
