package guard

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Browsers reach the server by TLS itself, or by a proxy whose origin is allowed.
func TestOrigin(t *testing.T) {
	g, err := New(Options{AllowOrigins: []string{"https://shoal.example", "http://plain.example", "https://other.example:8443"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host string
		tls  bool
		want string
	}{
		{"127.0.0.1:7462", false, "http://127.0.0.1:7462"},
		{"127.0.0.1:7462", true, "https://127.0.0.1:7462"},
		{"shoal.example", false, "https://shoal.example"},
		{"shoal.example:443", false, "https://shoal.example:443"},
		{"shoal.example:80", false, "http://shoal.example:80"},
		{"plain.example", false, "http://plain.example"},
		{"other.example", false, "http://other.example"},
		{"other.example:8443", false, "https://other.example:8443"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if r.Host = c.host; c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := g.Origin(r); got != c.want {
			t.Errorf("%s, TLS %v: %s, want %s", c.host, c.tls, got, c.want)
		}
		if got := g.Secure(r); got != (c.want[:6] == "https:") {
			t.Errorf("%s, TLS %v: secure is %v", c.host, c.tls, got)
		}
	}
}

// What changes something says where it comes from, and says the truth.
func TestOwnPage(t *testing.T) {
	g, err := New(Options{AllowOrigins: []string{"https://shoal.example"}})
	if err != nil {
		t.Fatal(err)
	}
	const own = "http://127.0.0.1:7462"
	for _, c := range []struct {
		method, origin, site string
		want                 bool
	}{
		{"GET", "", "", true},
		{"GET", "", "none", true},
		{"GET", "", "same-origin", true},
		{"GET", "", "same-site", false},
		{"GET", "", "cross-site", false},
		{"GET", "https://evil.example", "", false},
		{"POST", "", "", false},
		{"POST", "", "none", false},
		{"POST", "", "same-origin", true},
		{"POST", own, "", true},
		{"POST", own, "none", true},
		{"POST", own, "cross-site", false},
		{"POST", "https://shoal.example", "same-site", true},
		{"POST", "https://evil.example", "same-origin", false},
		{"POST", "null", "same-origin", false},
	} {
		r := httptest.NewRequest(c.method, own+"/", nil)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if got := g.OwnPage(r); got != c.want {
			t.Errorf("%s from origin %q, site %q: %v, want %v", c.method, c.origin, c.site, got, c.want)
		}
	}
}
