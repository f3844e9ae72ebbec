package sqlstore_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

func TestCloseLeavesNothingRunning(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		before := goleak.IgnoreCurrent()
		s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		settle(t, s)
		update(t, s, func(tx hub.Tx) error { return post(tx, "m", "something to index") })
		stored(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		goleak.VerifyNone(t, before)
	})
}
