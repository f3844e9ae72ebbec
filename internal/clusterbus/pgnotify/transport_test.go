package pgnotify_test

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/clusterbus/pgnotify"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, url string) clusterbus.Transport {
	t.Helper()
	transport, err := pgnotify.New(url)
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

func TestConformance(t *testing.T) {
	url := postgrestest.Database(t)
	clustertest.Exercise(t, func(t *testing.T) clusterbus.Transport { return open(t, url) })
}

// The bus recovers when PostgreSQL cuts its connections, and everybody is notified.
func TestConnectionsLost(t *testing.T) {
	server := postgrestest.NewServer(t)
	c := clustertest.NewCluster()
	one, two := c.Start(t, "one", open(t, server.URL)), c.Start(t, "two", open(t, server.URL))
	clustertest.Recovers(t, one, two, func() { server.Stop(t, postgrestest.Immediate) }, func() { server.Start(t) })
}

// An invalid URL is refused without repeating it.
func TestInvalidURL(t *testing.T) {
	_, err := pgnotify.New("postgres://ann:secret@[broken/shoal")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

// BenchmarkPublish measures the time until the subscriber of another server has a notification.
func BenchmarkPublish(b *testing.B) {
	url := postgrestest.Database(b)
	c := clustertest.NewCluster()
	var buses [2]*clusterbus.Bus
	for i := range buses {
		transport, err := pgnotify.New(url)
		if err != nil {
			b.Fatal(err)
		}
		buses[i] = c.Start(b, "a server", transport)
	}
	sub := buses[1].Subscribe()
	defer sub.Close()
	sub.Add("a")
	for b.Loop() {
		buses[0].Publish(core.Notification{Topic: "a"})
		select {
		case <-sub.Ready():
			sub.Take()
		case <-time.After(10 * time.Second):
			b.Fatal("nothing arrived")
		}
	}
}
