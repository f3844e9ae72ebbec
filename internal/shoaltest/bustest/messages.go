package bustest

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

func notification(topic string) core.Notification { return core.Notification{Topic: topic} }

func ephemeral(topic, event string) core.Notification {
	return core.Notification{Topic: topic, Event: []byte(event)}
}

// receive returns the next messages, at least n.
func receive(t *testing.T, sub core.Subscription, n int) (out []core.Notification) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for len(out) < n {
		select {
		case <-sub.Ready():
			out = append(out, sub.Take()...)
		case <-late.C:
			t.Fatalf("got %d messages after %v, want %d: %s", len(out), patience, n, show(out))
		}
	}
	return out
}

func show(notifications []core.Notification) string {
	out := ""
	for _, n := range notifications {
		out += fmt.Sprintf("[%s %s %d]", n.Topic, n.Event, n.Place)
	}
	return out
}

func wantMessages(t *testing.T, got []core.Notification, want ...core.Notification) {
	t.Helper()
	if show(got) != show(want) {
		t.Errorf("got %s, want %s", show(got), show(want))
	}
}
