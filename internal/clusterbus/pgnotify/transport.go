// Package pgnotify carries the frames of a cluster as notifications of PostgreSQL, so that
// several servers need nothing but their database.
package pgnotify

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/clusterbus"
)

// Transport is a [clusterbus.Transport]. It has two connections of its own: one that listens and
// one that notifies, never in a transaction that writes, because such a commit takes a lock on
// the whole database.
type Transport struct {
	config *pgx.ConnConfig

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	channel string

	sending *pgx.Conn // used by Send only, and closed by Stop
}

var _ clusterbus.Transport = (*Transport)(nil)

// New returns a transport over the database with the given URL. It fails with InvalidArgument
// if the URL is not one of PostgreSQL; the error does not quote it.
func New(url string) (*Transport, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, shoal.E("pgnotify.New", shoal.InvalidArgument, "--bus postgres needs --database postgres://USER:PASSWORD@HOST:PORT/NAME.")
	}
	config.ConnectTimeout = 5 * time.Second
	config.RuntimeParams = maps.Clone(config.RuntimeParams)
	config.RuntimeParams["application_name"] = "shoal bus"
	config.RuntimeParams["synchronous_commit"] = "off" // nothing is stored
	ctx, cancel := context.WithCancel(context.Background())
	return &Transport{config: config, ctx: ctx, cancel: cancel}, nil
}

// Limits implements [clusterbus.Transport]. PostgreSQL carries text of less than 8,000 bytes.
func (t *Transport) Limits() clusterbus.Limits {
	return clusterbus.Limits{FrameBytes: base64.StdEncoding.DecodedLen(7_990), Pause: time.Millisecond, QuietPause: 10 * time.Millisecond, EventPause: 40 * time.Millisecond}
}

const (
	// quiet is how long a listening connection may be without a notification: the bus sends
	// a frame every second, which comes back. Poolers and dead lines are noticed by that.
	quiet = 3 * time.Second
	// retryEvery is the time between two attempts to connect.
	retryEvery = 250 * time.Millisecond
)

// Start implements [clusterbus.Transport].
func (t *Transport) Start(cluster string, receive func([]byte), up func(bool)) {
	t.channel = "shoal_" + cluster
	t.running.Go(func() {
		for t.ctx.Err() == nil {
			t.listen(receive, up)
			select {
			case <-t.ctx.Done():
			case <-time.After(retryEvery):
			}
		}
	})
}

// listen receives notifications until the connection is lost.
func (t *Transport) listen(receive func([]byte), up func(bool)) {
	c, err := pgx.ConnectConfig(t.ctx, t.config)
	if err != nil {
		return
	}
	defer closeConn(c)
	if _, err := c.Exec(t.ctx, "LISTEN "+pgx.Identifier{t.channel}.Sanitize()); err != nil {
		return
	}
	up(true)
	defer up(false)
	for {
		frame, err := t.next(c)
		if errors.Is(err, errText) {
			continue
		}
		if err != nil {
			return
		}
		receive(frame)
	}
}

var errText = errors.New("the notification is not a frame")

// next returns the next frame.
func (t *Transport) next(c *pgx.Conn) ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.ctx, quiet)
	defer cancel()
	n, err := c.WaitForNotification(ctx)
	if err != nil {
		return nil, err
	}
	frame, err := base64.StdEncoding.DecodeString(n.Payload)
	if err != nil {
		return nil, errText
	}
	return frame, nil
}

// Send implements [clusterbus.Transport].
func (t *Transport) Send(ctx context.Context, frame []byte) (err error) {
	if t.sending == nil {
		if t.sending, err = pgx.ConnectConfig(ctx, t.config); err != nil {
			t.sending = nil
			return err
		}
	}
	if _, err = t.sending.Exec(ctx, "SELECT pg_notify($1, $2)", t.channel, base64.StdEncoding.EncodeToString(frame)); err != nil {
		closeConn(t.sending)
		t.sending = nil
	}
	return err
}

// Stop implements [clusterbus.Transport].
func (t *Transport) Stop() {
	t.cancel()
	t.running.Wait()
	if t.sending != nil {
		closeConn(t.sending)
	}
}

// closeConn closes a connection whose server may be gone.
func closeConn(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}
