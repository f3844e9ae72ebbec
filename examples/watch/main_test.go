package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// Watch prints the messages from before its start and the new ones, each once.
func TestPrintsMessagesOnce(t *testing.T) {
	server := apptest.Start(t)
	say := func(text string) {
		if _, err := server.Operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	say("before")
	ctx, stop := context.WithCancel(t.Context())
	key := server.Agent("watcher")
	pipe, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, out, server.URL, key, app.Welcome) }()
	printed := bufio.NewReader(pipe)
	if line, err := printed.ReadString('\n'); err != nil || !strings.HasPrefix(line, "1 shop-agent: \"Hello!") {
		t.Errorf("got line %q, error %v; want the greeting of the first start", line, err)
	}
	for _, want := range []string{"2 operator: \"before\"\n", "3 operator: \"after\"\n"} {
		if line, err := printed.ReadString('\n'); err != nil || line != want {
			t.Errorf("got line %q, error %v; want %q", line, err, want)
		}
		if want[0] == '2' {
			say("after")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
