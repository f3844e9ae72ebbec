package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// programServer answers a program that executes one run. The first answers to its reports and to
// its connections for orders are statuses; afterwards all is well.
type programServer struct {
	work, orders []int
	reports      atomic.Int32
	connections  atomic.Int32
	claims       atomic.Int32
	claimed      chan claimed // what the second claim sends
	lines        []shoal.WorkLine
	stop         func() // ends the program
}

// claimed is the body of a claim.
type claimed struct {
	Holds []shoal.RunID `json:"holds"`
}

func (s *programServer) handle(w http.ResponseWriter, r *http.Request) {
	refuses := func(statuses []int, n int32) bool {
		if int(n) > len(statuses) {
			return false
		}
		code := map[int]shoal.Kind{http.StatusConflict: shoal.Conflict, http.StatusServiceUnavailable: shoal.Busy, http.StatusGone: shoal.Expired}[statuses[n-1]]
		answer(w, statuses[n-1], fmt.Sprintf(`{"code": %q, "detail": "No."}`, code))
		return true
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/claim"):
		if s.claims.Add(1) == 1 {
			answer(w, http.StatusOK, `{"items": [{"run": {"id": "run_1"}, "generation": 1, "leaseMs": 30000}]}`)
			return
		}
		var body claimed
		_ = json.NewDecoder(r.Body).Decode(&body) // nothing is held then
		select {
		case s.claimed <- body:
		default:
		}
		<-r.Context().Done()
	case strings.HasSuffix(r.URL.Path, "/orders"):
		if refuses(s.orders, s.connections.Add(1)) {
			return
		}
		stream(w, r)
		<-r.Context().Done()
	default:
		if refuses(s.work, s.reports.Add(1)) {
			return
		}
		n := int64(len(s.lines))
		for body := bufio.NewScanner(r.Body); body.Scan(); {
			var l shoal.WorkLine
			if json.Unmarshal(body.Bytes(), &l) == nil && l.N == n+1 {
				s.lines, n = append(s.lines, l), l.N
				if l.Type == shoal.WorkTurnEnded {
					s.stop()
				}
			}
		}
		receipt, _ := json.Marshal(shoal.WorkReceipt{N: n, Status: shoal.RunRunning}) // it has no channels
		answer(w, http.StatusOK, string(receipt))
	}
}

// An answer that may mean that the lease is lost is checked, until the server answers the check:
// one that is starting, or a proxy, refuses what is right. And a program says which runs it holds, so
// that it does not take one from itself.
func TestServeChecksWhetherItsLeaseIsLost(t *testing.T) {
	const conflict, starting, gone = http.StatusConflict, http.StatusServiceUnavailable, http.StatusGone
	for _, c := range []struct {
		name         string
		work, orders []int
		ends         error // with which the handler's context ends, nil for not at all
	}{
		{"orders are refused once", nil, []int{conflict}, nil},
		{"orders are refused, and so is the check for now", []int{http.StatusOK, starting, starting}, []int{conflict}, nil},
		{"a report is refused once", []int{conflict}, nil, nil},
		{"a report is refused, and so is the check for now", []int{conflict, starting, starting}, nil, nil},
		{"a report and its check are refused", []int{conflict, conflict}, nil, client.ErrLeaseLost},
		{"a report is refused, and the run has ended", []int{conflict, gone}, nil, client.ErrRunEnded},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s *programServer
			inWorld(t, func(w http.ResponseWriter, r *http.Request) { s.handle(w, r) }, func(w *world) {
				s = &programServer{work: c.work, orders: c.orders, claimed: make(chan claimed, 1)} // in the bubble
				ctx, stop := context.WithCancel(w.Context())
				s.stop = stop
				var cause error
				var second claimed
				done := make(chan error)
				go func() {
					done <- w.client.Session("default").Serve(ctx, "clerk", client.ServeOptions{Log: func(error) {}}, func(ctx context.Context, work *client.Work) error {
						second = <-s.claimed
						select {
						case <-time.After(time.Minute):
						case <-ctx.Done():
							cause = context.Cause(ctx)
							stop()
							return cause
						}
						return work.Text("Done.")
					})
				}()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if !errors.Is(cause, c.ends) {
					t.Errorf("the handler ends with %v, want %v", cause, c.ends)
				}
				if len(second.Holds) != 1 || second.Holds[0] != "run_1" {
					t.Errorf("its next claim says that the program holds %v", second.Holds)
				}
				if c.ends != nil {
					return
				}
				if n := int(s.connections.Load()); n <= len(c.orders) {
					t.Errorf("%d connections for orders", n)
				}
				if n := len(s.lines); n != 3 || s.lines[1].Delta != "Done." || s.lines[2].Type != shoal.WorkTurnEnded {
					t.Errorf("reported: %+v", s.lines)
				}
			})
		})
	}
}
