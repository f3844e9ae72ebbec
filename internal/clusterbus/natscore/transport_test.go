package natscore_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/clusterbus/natscore"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
	"github.com/shoal-dev/shoal/internal/shoaltest/natstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, url string) clusterbus.Transport {
	t.Helper()
	transport, err := natscore.New(url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

func TestConformance(t *testing.T) {
	url := natstest.New(t).URL()
	clustertest.Exercise(t, func(t *testing.T) clusterbus.Transport { return open(t, url) })
}

// The bus recovers when the NATS server restarts, and everybody is notified.
func TestConnectionsLost(t *testing.T) {
	server := natstest.New(t)
	c := clustertest.NewCluster()
	one, two := c.Start(t, "one", open(t, server.URL())), c.Start(t, "two", open(t, server.URL()))
	clustertest.Recovers(t, one, two, server.Kill, func() { server.Start(t) })
}

// A server starts without the NATS server, and is connected to it later.
func TestStartsWithoutTheServer(t *testing.T) {
	server := natstest.New(t)
	server.Kill()
	b := clustertest.NewCluster().Start(t, "one", open(t, server.URL()))
	if s := b.State(); s.Problem == "" {
		t.Error("the bus is up without a NATS server")
	}
	server.Start(t)
	clustertest.AwaitUp(t, b)
}

// An invalid URL is refused without repeating it.
func TestInvalidURL(t *testing.T) {
	for _, url := range []string{"", "nats://", "http://ann:secret@host", "nats://host,ann:secret"} {
		if _, err := natscore.New(url, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v", url, err)
		}
	}
}

// BenchmarkPublish measures the time until the subscriber of another server has a notification.
func BenchmarkPublish(b *testing.B) {
	url := natstest.New(b).URL()
	c := clustertest.NewCluster()
	one, two := c.Start(b, "one", open(b, url)), c.Start(b, "two", open(b, url))
	sub := two.Subscribe()
	defer sub.Close()
	sub.Add("a")
	for b.Loop() {
		one.Publish(core.Notification{Topic: "a"})
		select {
		case <-sub.Ready():
			sub.Take()
		case <-time.After(10 * time.Second):
			b.Fatal("nothing arrived")
		}
	}
}
