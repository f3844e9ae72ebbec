package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// An error says by what the server's operator finds the call, and how long the
// server asks to stay away.
func TestErrorsNameTheirRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("X-Request-Id", "req_1")
		w.Header().Set("Retry-After", "3600") // longer than a client waits
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"code":"rate_limited","detail":"Slow down.","requestId":"req_1"}`))
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Session(shoal.DefaultSession).Space(t.Context(), "shop")
	var e *shoal.Error
	if !errors.As(err, &e) || e.RequestID != "req_1" || e.RetryAfter != time.Hour || e.Kind != shoal.RateLimited {
		t.Errorf("the error is %#v", err)
	}
}
