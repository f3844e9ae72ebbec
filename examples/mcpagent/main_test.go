package main

import (
	"context"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/apptest"
)

// The clerk answers a mention with the time.
func TestAnswersWithTheTime(t *testing.T) {
	server := apptest.Start(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	key := server.Agent("clerk")
	go func() { done <- run(ctx, server.URL, key) }()
	if got := server.Ask("clerk", "what time is it?"); !strings.HasPrefix(got, "It is ") {
		t.Errorf("got answer %q, want one that starts with %q", got, "It is ")
	}
	stop()
	if err := <-done; err == nil {
		t.Error("run returned nil after ctx was canceled, want an error")
	}
}
