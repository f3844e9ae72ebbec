package sqlstore_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// One caller with many slow Updates does not fill a batch, which all others would wait for;
// many callers with one each do.
func TestBatchesOfOneCallerAreShort(t *testing.T) {
	const updates = 260 // more than a batch
	slow := func(storage.Tx) error {
		for began := time.Now(); time.Since(began) < 2*time.Millisecond; {
		}
		return nil
	}
	for name, tt := range map[string]struct {
		entity func(i int) string
		long   bool
	}{
		"one caller":   {func(int) string { return "mallory" }, false},
		"many callers": {func(i int) string { return strings.Repeat("x", i+1) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			figures := metrics.New()
			s := openWith(t, sqlstore.Options{URL: newSQLite(t), MaxDelay: time.Hour, Metrics: figures})
			release := held(t, s)
			c := &crowd{T: t, store: s, do: slow}
			for i := range updates {
				c.queue(by("s", shoal.EntityID(tt.entity(i))), "s", "slow "+strconv.Itoa(i+1), 1)
			}
			release()
			c.calls.Wait()
			var text strings.Builder
			if err := figures.Write(&text); err != nil {
				t.Fatal(err)
			}
			count := func(of string) (n string) {
				_, n, _ = strings.Cut(text.String(), "\nshoal_commit_changes_"+of+" ")
				n, _, _ = strings.Cut(n, "\n")
				return n
			}
			ran := make([]string, updates)
			for i := range ran {
				ran[i] = fmt.Sprintf("slow %d 1", i+1)
			}
			if !slices.Equal(c.order, ran) {
				t.Errorf("the Updates ran in the order %v", c.order)
			}
			if long := count(`bucket{le="128"}`) != count("count"); long != tt.long {
				t.Errorf("a batch had more than 128 Updates: %t, want %t", long, tt.long)
			}
		})
	}
}
