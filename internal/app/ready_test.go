package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// A load balancer learns from the server whether its database is reachable.
func TestAServerWithoutItsDatabaseIsNotReady(t *testing.T) {
	d := postgrestest.NewServer(t)
	s, err := Start(t.Context(), Config{Data: t.TempDir(), Addr: "127.0.0.1:0", Database: d.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	until := func(want int) {
		t.Helper()
		for began := time.Now(); ; {
			res, err := http.Get(s.URL() + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close() // only the status counts
			if res.StatusCode == want {
				return
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("/readyz is answered with %d after %v, want %d", res.StatusCode, time.Since(began), want)
			}
		}
	}
	until(http.StatusOK)
	d.Stop(t, postgrestest.Immediate)
	until(http.StatusServiceUnavailable)
	d.Start(t)
	until(http.StatusOK)
}

func TestReadinessAsksSeldomAndOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, answers := 0, make(chan error)
		r := &readiness{reachable: func(context.Context) error { asked++; return <-answers }}
		first := make(chan error, 1)
		go func() { first <- r.check() }()
		synctest.Wait()
		if err := r.check(); err != nil {
			t.Errorf("while the database is asked for the first time: %v", err)
		}
		<-time.After(readySilence)
		synctest.Wait()
		select {
		case err := <-first:
			if !errors.Is(err, shoal.Busy) {
				t.Errorf("the first caller, when it keeps silent: %v", err)
			}
		default:
			t.Fatalf("the first caller still waits for the database after %v", readySilence)
		}
		if err := r.check(); !errors.Is(err, shoal.Busy) {
			t.Errorf("when it keeps silent: %v", err)
		}
		answers <- shoal.Busy
		synctest.Wait()
		if err := r.check(); !errors.Is(err, shoal.Busy) || asked != 1 {
			t.Errorf("check right after that: %v after %d queries, want busy after 1", err, asked)
		}
		<-time.After(readyFor)
		go func() { answers <- nil }()
		if err := r.check(); err != nil || asked != 2 {
			t.Errorf("later: %v, it was asked %d times", err, asked)
		}
		r.stop()
	})
}

// A server that has refused callers for more than five seconds because of what others
// hold is not ready, and is again as soon as it refuses nobody.
func TestNotReadyWhileCallersAreRefused(t *testing.T) {
	refused := 6 * time.Second
	r := &readiness{reachable: func(context.Context) error { return nil }, refusing: func() time.Duration { return refused }}
	if err := r.check(); !errors.Is(err, shoal.Busy) || !strings.Contains(err.Error(), "6s") {
		t.Errorf("after six seconds of refusals: %v", err)
	}
	for _, refused = range []time.Duration{5 * time.Second, 0} {
		if err := r.check(); err != nil {
			t.Errorf("after %v of refusals: %v", refused, err)
		}
	}
}
