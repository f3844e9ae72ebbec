package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	reconnectReaders = 2000
	reconnectSpaces  = 20
	reconnectBehind  = 100 // messages
	reconnectDialers = 64
	reconnectLate    = 60 * time.Second

	wholeCol = "s until complete"
)

// reconnect measures a restart of a server to which all readers reconnect at once, each
// with many missed events.
func (r *run) reconnect(ctx context.Context) error {
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("%s concurrent reconnects, %d missed messages each", report.Thousands(reconnectReaders), reconnectBehind),
		Note: fmt.Sprintf("The server has just been restarted. The readers follow %d spaces; each connects with the id of the last event that it received. Meanwhile %d posts/s go to another space.",
			reconnectSpaces, hostedPosts),
		Shown: []string{wholeCol, deliveries, lostEvents, ackP50, ackP99},
	})
	for range min(r.Rounds, 3) {
		if err := r.reconnectRound(ctx, t.Row(restRow)); err != nil {
			return err
		}
	}
	found := t.Row(restRow)
	r.Report.AtMost(10, "s", found.Value(wholeCol), t.Title+", until complete")
	r.Report.AtMost(0, "events", found.Worst(lostEvents), t.Title+", lost")
	r.Report.AtMost(200e3, "µs", found.Value(ackP99), t.Title+", p99 of a post's acknowledgement")
	return nil
}

func (r *run) reconnectRound(ctx context.Context, into *report.Row) error {
	data := r.NewPath("shoal")
	p, err := r.StartShoal(ctx, data)
	if err != nil {
		return err
	}
	s := &restSide{server: p}
	last, services, err := s.postBacklog(ctx)
	p.Stop()
	if err != nil {
		return err
	}
	if p, err = r.StartShoal(ctx, data); err != nil {
		return err
	}
	defer p.Stop()
	s.server, s.Wire = p, load.NewWire(p.URL())
	f := &fan{Side: s, Readers: new(load.Readers), connect: func(c net.Conn, i int) error {
		header := load.StreamHeader(services[i/load.StreamsEach])
		header.Set("Last-Event-ID", last[i%reconnectSpaces])
		return request(c, http.MethodGet, s.EventsPath(load.SpaceID(i%reconnectSpaces)), header, nil)
	}}
	defer f.Close()
	return f.reconnectAll(ctx, s, into)
}

// postBacklog posts the messages that the readers will have missed into all spaces. It
// returns the id of the event before them in each space, and keys for the readers.
func (s *restSide) postBacklog(ctx context.Context) (last, services []string, err error) {
	if err := s.Prepare(ctx, reconnectSpaces+1); err != nil {
		return nil, nil, err
	}
	if services, err = s.Services(ctx, reconnectReaders); err != nil {
		return nil, nil, err
	}
	for i := range reconnectSpaces {
		id, err := s.lastEvent(ctx, load.SpaceID(i), services[0])
		if err != nil {
			return nil, nil, err
		}
		last = append(last, id)
	}
	var posting sync.WaitGroup
	failed := make([]error, reconnectSpaces)
	for i := range reconnectSpaces {
		posting.Go(func() {
			for range reconnectBehind {
				if failed[i] = s.Send(ctx, i, load.Marked(), false); failed[i] != nil {
					return
				}
			}
		})
	}
	posting.Wait()
	return last, services, errors.Join(failed...)
}

// lastEvent returns the id of the last event of a space without new events, which is the
// id at the end of the snapshot.
func (s *restSide) lastEvent(ctx context.Context, space shoal.SpaceID, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	stream, err := s.Open(ctx, s.EventsPath(space), load.StreamHeader(key))
	if err != nil {
		return "", err
	}
	defer func() { _ = stream.Close() }() // not used any more
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
			return id, nil
		}
	}
	return "", errors.Join(lines.Err(), fmt.Errorf("the stream of %s ended without an id", space))
}

// reconnectAll connects all readers and waits until they have received all events.
func (f *fan) reconnectAll(ctx context.Context, s *restSide, into *report.Row) error {
	posting, stop := context.WithCancel(ctx)
	defer stop()
	posts := make(chan flowResult, 1)
	go func() { // ends with the flow, which ends with posting
		found, _ := flow{rate: hostedPosts, length: reconnectLate, send: func(_ context.Context, _ int) error {
			return s.Send(ctx, reconnectSpaces, load.Text(), false)
		}}.run(posting)
		posts <- found
	}()
	began := time.Now()
	var dialing sync.WaitGroup
	failed := make([]error, reconnectDialers)
	for k := range failed {
		dialing.Go(func() {
			for i := k; i < reconnectReaders && failed[k] == nil; i += reconnectDialers {
				failed[k] = f.follow(i)
			}
		})
	}
	dialing.Wait()
	due := int64(reconnectReaders * reconnectBehind)
	for f.Seen() < due && time.Since(began) < reconnectLate && load.Pause(ctx, 5*time.Millisecond) {
	}
	took := time.Since(began).Seconds()
	stop()
	found := <-posts
	if err := errors.Join(errors.Join(failed...), found.failed, context.Cause(ctx)); err != nil {
		return err
	}
	into.Add(wholeCol, took)
	into.Add(deliveries, float64(f.Seen())/took)
	into.Add(lostEvents, float64(due-f.Seen()))
	into.Add(ackP50, load.Percentile(found.took, 50))
	into.Add(ackP99, load.Percentile(found.took, 99))
	return nil
}
