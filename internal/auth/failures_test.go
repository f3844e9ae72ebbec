package auth_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// from is a call with a key from an address.
func from(address, secret string) *http.Request {
	r := request(secret)
	r.RemoteAddr = address
	return r
}

// An address that sends one wrong key after the other is refused unseen for a
// while. That is nobody else's trouble: not that of other addresses, and at the same
// address not that of keys that have worked.
func TestWrongKeysAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := metrics.New()
		d := open(t, shoaltest.OpenSQLite(t), auth.Options{Failures: 2, Metrics: set})
		_, good := d.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "good"})
		_, late := d.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "late"})
		ask := func(address, secret string, want shoal.Kind) {
			t.Helper()
			_, err := d.Principal(from(address, secret))
			d.wantKind(err, want)
			var e *shoal.Error
			if want == shoal.RateLimited && (!errors.As(err, &e) || e.RetryAfter <= 0 || e.RetryAfter > time.Second) {
				t.Errorf("it may come again after %v, want about half a second", e.RetryAfter)
			}
		}
		const here, there, six, nextDoor = "192.0.2.1:5", "192.0.2.2:5", "[2001:db8:1:1::1]:5", "[2001:db8:1:1::2]:6"
		ask(here, good, "")
		for range 20 {
			ask(here, auth.NewSecret(), shoal.Unauthenticated)
		}
		ask(here, auth.NewSecret(), shoal.RateLimited)
		ask("192.0.2.1:6", late, shoal.RateLimited) // the same address, a key that nobody has seen work
		ask(here, good, "")
		<-time.After(time.Minute) // so that nothing is remembered but that it has worked
		for range 20 {
			ask(here, auth.NewSecret(), shoal.Unauthenticated)
		}
		ask(here, auth.NewSecret(), shoal.RateLimited)
		ask(here, good, "")
		ask(there, late, "")
		ask(here, late, "")

		for range 20 {
			ask(six, auth.NewSecret(), shoal.Unauthenticated)
		}
		ask(nextDoor, auth.NewSecret(), shoal.RateLimited) // who has one address of a network has all

		var text strings.Builder
		if err := set.Write(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`shoal_callers_refused_total{code="unauthenticated"} 60`, `shoal_callers_refused_total{code="rate_limited"} 4`} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the metrics lack %s:\n%s", want, text.String())
			}
		}
	})
}
