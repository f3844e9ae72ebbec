package auth_test

import (
	"errors"
	"net/http"
	"net/netip"
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

// An address that keeps sending wrong keys is rate limited. This affects neither other
// addresses nor keys that work at the same address, seen before or not.
func TestWrongKeysAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := metrics.New()
		d := open(t, shoaltest.OpenSQLite(t), auth.Options{Failures: 2, Metrics: set})
		_, good := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "good"})
		_, late := d.createKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "late"})
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
		ask("192.0.2.1:6", late, "") // the same address, a key that nobody has seen work
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
		ask(nextDoor, auth.NewSecret(), shoal.RateLimited) // an attacker with one address of a network has all of them

		var text strings.Builder
		if err := set.Write(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`shoal_callers_refused_total{code="unauthenticated"} 60`, `shoal_callers_refused_total{code="rate_limited"} 3`} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the metrics lack %s:\n%s", want, text.String())
			}
		}
	})
}

// Where a request comes from is what a trusted proxy says, and nobody else.
func TestProxies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, shoaltest.OpenSQLite(t), auth.Options{Failures: 1, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/48")}})
		try := func(address string, forwarded ...string) shoal.Kind {
			t.Helper()
			r := from(address, auth.NewSecret())
			r.Header["X-Forwarded-For"] = forwarded
			_, err := d.Principal(r)
			return shoal.KindOf(err)
		}
		flood := func(address string, forwarded ...string) {
			t.Helper()
			for try(address, forwarded...) != shoal.RateLimited {
			}
		}
		const proxy, other = "10.1.2.3:80", "192.0.2.9:80"
		flood(proxy, "192.0.2.1")
		for name, tt := range map[string]struct {
			address string
			chain   []string
			want    shoal.Kind
		}{
			"the same client":                 {proxy, []string{"192.0.2.1"}, shoal.RateLimited},
			"through two proxies":             {proxy, []string{"192.0.2.1, 10.9.9.9"}, shoal.RateLimited},
			"in two lines":                    {proxy, []string{"203.0.113.5", "192.0.2.1, 10.9.9.9"}, shoal.RateLimited},
			"through a proxy by IPv6":         {"[2001:db8::1]:80", []string{"192.0.2.1"}, shoal.RateLimited},
			"another client":                  {proxy, []string{"192.0.2.2"}, shoal.Unauthenticated},
			"what the client wrote before it": {proxy, []string{"192.0.2.1, 192.0.2.3"}, shoal.Unauthenticated},
			"the proxy itself":                {proxy, nil, shoal.Unauthenticated},
			"not a proxy":                     {other, []string{"192.0.2.1"}, shoal.Unauthenticated},
		} {
			if got := try(tt.address, tt.chain...); got != tt.want {
				t.Errorf("%s: %s, want %s", name, got, tt.want)
			}
		}
		flood(other, "192.0.2.7")
		if got := try(other, "192.0.2.8"); got != shoal.RateLimited {
			t.Errorf("a client that is not a proxy chose its address: %s", got)
		}
	})
}
