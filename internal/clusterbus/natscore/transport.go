// Package natscore carries the frames of a cluster as messages of core NATS.
package natscore

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/clusterbus"
)

// Transport is a [clusterbus.Transport].
type Transport struct {
	urls    string
	log     *slog.Logger
	conn    *nats.Conn // nil before Start, and after it if no connection could even be tried
	subject string
}

var _ clusterbus.Transport = (*Transport)(nil)

// New returns a transport over the NATS servers with the given URLs, separated by commas. It
// fails with InvalidArgument if there is none; the error quotes nothing, because a URL can
// contain a password.
func New(urls string, log *slog.Logger) (*Transport, error) {
	for u := range strings.SplitSeq(urls, ",") {
		scheme, host, ok := strings.Cut(u, "://")
		if !ok || host == "" || scheme != "nats" && scheme != "tls" {
			return nil, shoal.E("natscore.New", shoal.InvalidArgument, "--bus must be nats://HOST:PORT or tls://HOST:PORT, or several of them separated by commas.")
		}
	}
	return &Transport{urls: urls, log: log}, nil
}

// Limits implements [clusterbus.Transport].
func (t *Transport) Limits() clusterbus.Limits {
	return clusterbus.Limits{FrameBytes: 64 << 10, Pause: time.Millisecond, QuietPause: 5 * time.Millisecond, EventPause: 10 * time.Millisecond}
}

const (
	// retryEvery is the time between two attempts to connect.
	retryEvery = 250 * time.Millisecond
	// pingEvery is how often an idle connection is checked. Two lost pings end it.
	pingEvery = 2 * time.Second
	// maxPendingFrames and maxPendingBytes limit what waits to be received. More is lost,
	// which the bus makes up for.
	maxPendingFrames = 16 << 10
	maxPendingBytes  = 32 << 20
)

// Start implements [clusterbus.Transport].
func (t *Transport) Start(cluster string, receive func([]byte), up func(bool)) {
	t.subject = "shoal." + cluster
	var err error
	t.conn, err = nats.Connect(
		t.urls, nats.Name("shoal"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(retryEvery),
		nats.ReconnectBufSize(-1), // old notifications are worth nothing
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2), nats.Timeout(2*time.Second),
		nats.ConnectHandler(func(*nats.Conn) { up(true) }),
		nats.ReconnectHandler(func(*nats.Conn) { up(true) }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { up(false) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			t.log.Warn("NATS reports an error", "error", err)
		}),
	)
	if err == nil {
		var sub *nats.Subscription
		if sub, err = t.conn.Subscribe(t.subject, func(m *nats.Msg) { receive(m.Data) }); err == nil {
			err = sub.SetPendingLimits(maxPendingFrames, maxPendingBytes)
		}
	}
	if err != nil {
		t.log.Error("NATS cannot be used; notifications from other servers are late until this is corrected and the server is started again", "error", err)
	}
}

// Send implements [clusterbus.Transport].
func (t *Transport) Send(_ context.Context, frame []byte) error {
	if t.conn == nil {
		return nats.ErrConnectionClosed
	}
	return t.conn.Publish(t.subject, frame)
}

// Stop implements [clusterbus.Transport].
func (t *Transport) Stop() {
	if t.conn == nil {
		return
	}
	closed := t.conn.StatusChanged(nats.CLOSED)
	t.conn.Close() // sends what is buffered
	<-closed
}
