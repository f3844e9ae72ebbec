package bustest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

func notification(topic string) core.Notification { return core.Notification{Topic: topic} }

func ephemeral(topic, event string) core.Notification {
	return core.Notification{Topic: topic, Event: []byte(event)}
}

// receiveEvents takes what arrives until it has a number of events, and fails the test if they
// do not arrive within patience. It leaves out notifications: a bus between servers adds some,
// which say that events were missed, when it hears a server for the first time, and when a
// machine with much other work has delayed its frames.
func receiveEvents(t *testing.T, sub core.Subscription, n int) (out []core.Notification) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for len(out) < n {
		select {
		case <-sub.Ready():
			out = append(out, slices.DeleteFunc(sub.Take(), hasNoEvent)...)
		case <-late.C:
			t.Fatalf("got %d events after %v, want %d: %s", len(out), patience, n, show(out))
		}
	}
	return out
}

// receiveAll takes everything that is there once something has arrived, and fails the test if
// nothing arrives within patience.
func receiveAll(t *testing.T, sub core.Subscription) []core.Notification {
	t.Helper()
	select {
	case <-sub.Ready():
		return sub.Take()
	case <-time.After(patience):
		t.Fatalf("got nothing after %v", patience)
		return nil
	}
}

func hasNoEvent(n core.Notification) bool { return n.Event == nil }

func isMissed(n core.Notification) bool { return n.Missed }

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
