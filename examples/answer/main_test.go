package main

import (
	"context"
	"testing"

	"github.com/shoal-dev/shoal/internal/apptest"
)

// Echo returns a message in capitals to its sender.
func TestAnswersInCapitals(t *testing.T) {
	server := apptest.Start(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	key := server.Agent("echo")
	go func() { done <- run(ctx, server.URL, key, "echo") }()
	if got := server.Ask("echo", "is anybody there?"); got != "IS ANYBODY THERE?" {
		t.Errorf("got answer %q, want %q", got, "IS ANYBODY THERE?")
	}
	stop()
	if err := <-done; err == nil {
		t.Error("run returned nil after ctx was canceled, want an error")
	}
}
