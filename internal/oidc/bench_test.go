//go:build unix

package oidc_test

import (
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/oidc"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

// BenchmarkCallers recognises the caller of a request: by a key, by a token that was seen before, and, without
// the server, by the signature of a token, which is the price of a new one besides a commit.
func BenchmarkCallers(b *testing.B) {
	i := newIssuer(b)
	h := hub.New(hub.Options{Store: shoaltest.OpenSQLite(b), Bus: localbus.New()})
	if err := h.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(h.Stop)
	tokens, err := oidc.NewTokens(oidc.Options{People: h.Entities, Issuer: i.URL, Session: shoal.DefaultSession, Domains: []string{"*"}, Client: i.Client()}, audience)
	if err != nil {
		b.Fatal(err)
	}
	a := auth.New(h, auth.Options{Tokens: tokens})
	key, err := a.CreateKey(b.Context(), root, shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann"}, "")
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().Unix()
	token := i.sign(map[string]any{"iss": i.URL, "aud": audience, "sub": "sub-1", "iat": now, "exp": now + 3600, "name": "Ann Lee", "email": "ann@example.com", "groups": []string{"staff", "all", "developers"}})
	for name, secret := range map[string]string{"key": *key.Secret, "token": token} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/v1/me", nil)
			r.Header.Set("Authorization", "Bearer "+secret)
			defer reportCPU(b)()
			for b.Loop() {
				if _, err := a.Bearer(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("new token", func(b *testing.B) {
		defer reportCPU(b)()
		for b.Loop() {
			if _, _, _, err := tokens.Recognise(b.Context(), token); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// reportCPU reports the CPU time that this process uses until the returned function is called.
func reportCPU(b *testing.B) func() {
	b.Helper()
	before := cpu(b)
	return func() { b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op") }
}

func cpu(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
