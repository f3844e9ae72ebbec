package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/internal/load"
)

// Posts are sent when they are due, regardless of earlier ones, and their latency counts
// from that time.
func TestFlowDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		found, err := flow{rate: 10, length: time.Second, send: func(_ context.Context, n int) error {
			switch {
			case n < 5:
				<-time.After(2 * time.Second)
			case n == 5:
				return &load.RefusedError{Status: http.StatusServiceUnavailable}
			case n == 6:
				return &load.RefusedError{Status: http.StatusTooManyRequests}
			case n == 7:
				return errors.New("another failure")
			}
			return nil
		}}.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := []float64{0, 0, 2e6, 2e6, 2e6, 2e6, 2e6}; !slices.Equal(found.took, want) {
			t.Errorf("acknowledgements took %v µs, want %v", found.took, want)
		}
		if found.refused != 2 || found.unsent != 0 || found.failed == nil || found.lasted != 2400*time.Millisecond {
			t.Errorf("got %+v, want 2 refused, the other failure and 2.4 s", found)
		}
	})
}

// Posts beyond maxInProgress are counted and do not delay the others.
func TestFlowIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		found, err := flow{rate: maxInProgress * 2, length: time.Second, send: func(context.Context, int) error {
			<-time.After(10 * time.Second)
			return nil
		}}.run(t.Context())
		if err != nil || len(found.took) != maxInProgress || found.unsent != maxInProgress {
			t.Errorf("got %d sent, %d unsent, error %v; want %d of each", len(found.took), found.unsent, err, maxInProgress)
		}
	})
}
