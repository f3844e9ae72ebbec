package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	fanRounds = 3
	fanTime   = 1500 * time.Millisecond
	fanAhead  = 64 // the maximum number of undelivered events of the slowest reader

	deliveries = "deliveries/s"
	lostEvents = "lost"
)

// fans measures the cost of delivering one message to many stream readers: paced, so that
// each event is sent alone, and unthrottled, so that events are sent together.
func (r *run) fans(ctx context.Context) error {
	for _, readers := range []int{1, 100, 1000} {
		for _, pace := range []time.Duration{20 * time.Millisecond, 0} {
			how := "50 events/s"
			if pace == 0 {
				how = "unthrottled"
			}
			t := r.Report.Add(&report.Table{
				Title: fmt.Sprintf("Server-sent events to %d readers, %s", readers, how),
				Note: "One sender posts one message after the other to a space that all readers follow. Every post is durable in both rows. " +
					"The floor's event contains only the text, Shoal's the whole message.",
				Ratios: []report.Ratio{{Metric: report.CPUMicros, Base: peer.FloorRow, Heading: "CPU ÷ floor"}, {Metric: deliveries, Base: peer.FloorRow, Heading: "deliveries/s ÷ floor"}, {Metric: report.P50, Base: peer.FloorRow, Heading: "p50 ÷ floor"}},
				Shown:  []string{report.CPUMicros, deliveries, report.P50, report.P99, lostEvents},
			})
			if err := r.fanTable(ctx, t, readers, pace); err != nil {
				return err
			}
			if readers < 1000 {
				continue
			}
			r.Report.AtMost(0, "events", t.Row(restRow).Value(lostEvents), t.Title+", lost")
			if pace > 0 {
				r.Report.AtMost(1.2, "× floor", t.Ratio(report.CPUMicros, restRow, peer.FloorRow), t.Title+", CPU of a delivery").WithTarget(0.8)
			} else {
				r.Report.AtLeast(0.85, "× floor", t.Ratio(deliveries, restRow, peer.FloorRow), t.Title+", deliveries/s").WithTarget(1)
			}
		}
	}
	return nil
}

// fan is one server with its readers.
type fan struct {
	peer.Side
	*load.Readers
	connect func(c net.Conn, i int) error
	publish func(ctx context.Context, text string) error
}

func (r *run) fanTable(ctx context.Context, t *report.Table, readers int, pace time.Duration) error {
	fans, done, err := r.openFans(ctx, readers)
	if err != nil {
		return err
	}
	defer done()
	for round := range min(r.Rounds, fanRounds) + 1 {
		for _, f := range fans {
			length := fanTime
			if round == 0 {
				length = fanTime / 3
			}
			if err := f.round(ctx, t.Row(f.Name()), length, pace, round > 0); err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
		}
	}
	return nil
}

// openFans starts the two servers and connects the readers. The caller must call done,
// which stops them, unless err is set.
func (r *run) openFans(ctx context.Context, readers int) (fans []*fan, done func(), err error) {
	done = func() {
		for _, f := range fans {
			f.Process().Stop()
			f.Close()
		}
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	p, err := peer.StartFloor(ctx, r.Run)
	if err != nil {
		return fans, done, err
	}
	fans = append(fans, floorFan(p))
	if p, err = r.startNewShoal(ctx); err != nil {
		return fans, done, err
	}
	f, err := shoalFan(ctx, p, readers)
	fans = append(fans, f)
	if err != nil {
		return fans, done, err
	}
	for _, f := range fans {
		for i := range readers {
			if err := f.follow(i); err != nil {
				return fans, done, err
			}
		}
	}
	return fans, done, nil
}

func floorFan(p *process.Process) *fan {
	floor := peer.NewFloor(p)
	return &fan{
		Side: floor, Readers: new(load.Readers),
		connect: func(c net.Conn, _ int) error {
			return request(c, http.MethodGet, "/events?topic=t", http.Header{}, nil)
		},
		publish: func(ctx context.Context, text string) error {
			_, _, err := floor.Do(ctx, http.MethodPost, "/send?topic=t", nil, []byte(text))
			return err
		},
	}
}

// shoalFan returns a fan whose readers are services that follow the space of the first
// pair.
func shoalFan(ctx context.Context, p *process.Process, readers int) (*fan, error) {
	s := &restSide{server: p}
	f := &fan{Side: s, Readers: new(load.Readers)}
	if err := s.Prepare(ctx, 1); err != nil {
		return f, err
	}
	var err error
	f.connect, err = s.readerConnector(ctx, readers, func(int) shoal.SpaceID { return load.SpaceID(0) })
	f.publish = func(ctx context.Context, text string) error { return s.Send(ctx, 0, text, false) }
	return f, err
}

// readerConnector creates the keys for a number of readers and returns the function that
// sends the request of the i-th reader, for the space that space returns.
func (s *restSide) readerConnector(ctx context.Context, readers int, space func(i int) shoal.SpaceID) (func(net.Conn, int) error, error) {
	services, err := s.Services(ctx, readers)
	return func(c net.Conn, i int) error {
		return request(c, http.MethodGet, s.EventsPath(space(i)), load.StreamHeader(services[i/load.StreamsEach]), nil)
	}, err
}

// follow connects one reader and returns when its stream has started.
func (f *fan) follow(i int) error {
	c, err := net.Dial("tcp", f.Process().Addr)
	if err != nil {
		return err
	}
	stream, err := openStream(c, f.connect, i)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	f.Follow(stream)
	return nil
}

// openStream sends a request with connect and returns the body of the response. Closing
// the body closes the connection.
func openStream(c net.Conn, connect func(net.Conn, int) error, i int) (io.ReadCloser, error) {
	if err := connect(c, i); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(c, 8<<10), nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close() // the status is the error
		return nil, errors.New("the response to a reader has the status " + res.Status)
	}
	return struct {
		io.Reader
		io.Closer
	}{res.Body, c}, nil
}

// round publishes for the given length and waits until every reader has received all
// events. It adds to the row if counts is set.
func (f *fan) round(ctx context.Context, into *report.Row, length, pace time.Duration, counts bool) error {
	before := process.CPU(f.Process().PID())
	sent, took, err := f.Publish(ctx, load.Fan{Length: length, Pace: pace, Ahead: fanAhead, Publish: f.publish})
	used := process.CPU(f.Process().PID()) - before
	if err != nil || !counts {
		return err
	}
	seen, each := float64(f.Seen()), f.Took()
	into.Add(deliveries, seen/took.Seconds())
	into.Add(lostEvents, float64(f.Missing(sent)))
	into.AddLatencies(each)
	into.AddCPU(used, seen)
	return nil
}
