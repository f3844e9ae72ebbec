package main

import (
	"context"
	"testing"

	"github.com/shoal-dev/shoal/internal/apptest"
)

// What is said to echo comes back in capitals, to whom it came from.
func TestAnswersInCapitals(t *testing.T) {
	server := apptest.Start(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	key := server.Agent("echo")
	go func() { done <- run(ctx, server.URL, key, "echo") }()
	if got := server.Ask("echo", "is anybody there?"); got != "IS ANYBODY THERE?" {
		t.Errorf("echo answered %q", got)
	}
	stop()
	if err := <-done; err == nil {
		t.Error("the agent ended without a cause")
	}
}
