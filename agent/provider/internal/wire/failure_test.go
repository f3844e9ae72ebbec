package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

func TestClasses(t *testing.T) {
	for class, statuses := range map[agent.ErrorClass][]int{
		agent.ClassRateLimited:     {429},
		agent.ClassOverloaded:      {0, 409, 425, 500, 502, 503, 504, 520, 529},
		agent.ClassAuth:            {401, 403},
		agent.ClassQuota:           {402},
		agent.ClassContextOverflow: {413},
		agent.ClassTimeout:         {408},
		agent.ClassInvalid:         {300, 307, 400, 404, 405, 422, 501},
	} {
		for _, status := range statuses {
			if got := ClassOf(status); got != class {
				t.Errorf("%d is %q, want %q", status, got, class)
			}
			if status == 0 {
				continue
			}
			reach := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			if got := fails(t, reach); got.Class != class || got.Status != status {
				t.Errorf("%d fails as %v, want %q", status, got, class)
			}
		}
	}
	reach := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "poor: pay first")
	})
	if got := fails(t, reach); got.Class != agent.ClassQuota || got.Code != "poor" || got.Detail != "pay first" {
		t.Errorf("the vendor's own code counts for nothing: %#v", got)
	}
}

// Whatever a provider repeats of the request, no secret is in the error, and it
// is short.
func TestErrorsHoldNoSecrets(t *testing.T) {
	reach := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, "%s: key %s, masked sk-proj-1***7890, AIzaSyA1234567 \xff %s",
			r.Header.Get("Api-Key"), r.Header.Get("X-Key"), strings.Repeat("ü", maxDetail))
	})
	reach.Key = func(context.Context, bool) (string, error) { return "fresh-token", nil }
	reach.Headers = map[string]string{"Api-Key": "Bearer header-secret"}
	err := fails(t, reach)
	for _, secret := range []string{"fresh-token", "header-secret", "7890", "AIza"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q is in %.200s", secret, err.Error())
		}
	}
	if n := len(err.Detail); n > maxDetail || n < maxDetail-3 || !strings.HasSuffix(err.Detail, "ü") || strings.Contains(err.Detail, "\xff ") {
		t.Errorf("the detail has %d bytes: %.100q…%q", n, err.Detail, err.Detail[n-4:])
	}
	_, failure := post(t, New(acme, "m", Reach{APIKey: "k", BaseURL: "http://127.0.0.1:1/v1?key=hidden"}))
	if e, ok := errors.AsType[*agent.ModelError](failure); !ok || e.Class != agent.ClassNetwork || e.Err == nil || strings.Contains(e.Error(), "hidden") {
		t.Errorf("an unreachable server: %v", failure)
	}
}

func TestSlowProviderIsATimeout(t *testing.T) {
	reach := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the caller left
		<-r.Context().Done()
	})
	transport := &http.Transport{ResponseHeaderTimeout: time.Millisecond}
	defer transport.CloseIdleConnections()
	reach.HTTPClient = &http.Client{Transport: transport}
	if err := fails(t, reach); err.Class != agent.ClassTimeout {
		t.Errorf("got %v, want a time-out", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "2", 2 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "-3", 0},
		{"Retry-After", "1e300", longestAsk},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "", 0},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:35 GMT", 30 * time.Second},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"Retry-After", "Fri, 02 Jan 2099 03:04:00 GMT", longestAsk},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		h := http.Header{}
		h.Set(c.name, c.value)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: %s is %v, want %v", c.name, c.value, got, c.want)
		}
	}
	header, words := "1500", "slow: down"
	reach := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.Header().Set("Retry-After-Ms", header)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, words)
	})
	if err := fails(t, reach); err.RetryAfter != 1500*time.Millisecond {
		t.Errorf("the error asks for %v, want the header's", err.RetryAfter)
	}
	if header = "1"; fails(t, reach).RetryAfter != time.Second {
		t.Error("the longer wait, of the words, does not count")
	}
}

func TestEnded(t *testing.T) {
	x := &Exchange{client: New(acme, "m", Reach{APIKey: "k"})}
	reset := errors.New("reset")
	for _, c := range []struct {
		err    error
		events int
		class  agent.ErrorClass
		cause  error
	}{
		{io.EOF, 0, agent.ClassMalformed, nil},
		{io.EOF, 1, agent.ClassNetwork, io.ErrUnexpectedEOF},
		{reset, 0, agent.ClassNetwork, reset},
		{context.DeadlineExceeded, 1, agent.ClassTimeout, context.DeadlineExceeded},
		{ErrTooLong, 1, agent.ClassMalformed, ErrTooLong},
	} {
		if got := x.StreamError(c.err, c.events); got.Class != c.class || !errors.Is(got.Err, c.cause) {
			t.Errorf("%v after %d: got %#v, want %q", c.err, c.events, got, c.class)
		}
	}
}
