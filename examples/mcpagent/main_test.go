package main

import (
	"context"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/apptest"
)

// The clerk, asked for the time over and over, tells it each time.
func TestTellsTheTime(t *testing.T) {
	server := apptest.Start(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	key := server.Agent("clerk")
	go func() { done <- run(ctx, server.URL, key) }()
	if got := server.Ask("clerk", "what time is it?"); !strings.HasPrefix(got, "It is ") {
		t.Errorf("the clerk answered %q", got)
	}
	stop()
	if err := <-done; err == nil {
		t.Error("the agent ended without a cause")
	}
}
