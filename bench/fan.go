package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
)

const (
	fanRounds = 3
	fanTime   = 1500 * time.Millisecond
	fanAhead  = 64 // events that may be under way to the slowest reader

	deliveries = "deliveries/s"
	lostEvents = "lost"
)

// fans measures what it costs to show one message to many readers of a stream:
// paced, where each event travels alone, and flat out, where they meet.
func (r *run) fans(ctx context.Context) error {
	for _, readers := range []int{1, 100, 1000} {
		for _, pace := range []time.Duration{20 * time.Millisecond, 0} {
			how := "50 events/s"
			if pace == 0 {
				how = "flat out"
			}
			t := r.report.add(&table{
				title: fmt.Sprintf("Server-sent events to %d readers, %s", readers, how),
				note: "One sender posts one message after the other, all readers follow that space. Every post is durable in both rows. " +
					"The floor's event is the text alone, Shoal's the whole message.",
				ratios: []ratio{{cpuCol, floorRow, "CPU ÷ floor"}, {deliveries, floorRow, "deliveries/s ÷ floor"}, {p50, floorRow, "p50 ÷ floor"}},
				shown:  []string{cpuCol, deliveries, p50, p99, lostEvents},
			})
			if err := r.fanTable(ctx, t, readers, pace); err != nil {
				return err
			}
			if readers < 1000 {
				continue
			}
			r.report.atMost(0, "events", t.row(restRow).value(lostEvents), t.title+", lost")
			if pace > 0 {
				r.report.atMost(1.2, "× floor", t.ratio(cpuCol, restRow, floorRow), t.title+", CPU of a delivery")
			} else {
				r.report.atLeast(0.85, "× floor", t.ratio(deliveries, restRow, floorRow), t.title+", deliveries/s")
			}
		}
	}
	return nil
}

// fan is one server with its readers.
type fan struct {
	side
	connect func(c net.Conn, i int) error
	publish func(ctx context.Context, text string) error
	conns   []net.Conn
	readers sync.WaitGroup

	seen atomic.Int64
	mu   sync.Mutex
	took []float64 // µs from sending to reading
}

func (r *run) fanTable(ctx context.Context, t *table, readers int, pace time.Duration) error {
	fans, done, err := r.openFans(ctx, readers)
	if err != nil {
		return err
	}
	defer done()
	for round := range min(r.rounds, fanRounds) + 1 {
		for _, f := range fans {
			length := fanTime
			if round == 0 {
				length = fanTime / 3
			}
			if err := f.round(ctx, t.row(f.name()), length, pace, round > 0); err != nil {
				return fmt.Errorf("%s: %w", f.name(), err)
			}
		}
	}
	return nil
}

// openFans starts the two servers and connects the readers.
func (r *run) openFans(ctx context.Context, readers int) (fans []*fan, done func(), err error) {
	done = func() {
		for _, f := range fans {
			f.process().stop()
			for _, c := range f.conns {
				_ = c.Close() // its reader has ended or ends now
			}
			f.readers.Wait()
		}
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	p, err := r.beginFloor(ctx)
	if err != nil {
		return fans, done, err
	}
	fans = append(fans, floorFan(p))
	if p, err = r.beginNewShoal(ctx); err != nil {
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

func floorFan(p *process) *fan {
	w := newWire(p)
	return &fan{
		side: floorSide{w},
		connect: func(c net.Conn, _ int) error {
			return request(c, http.MethodGet, "/events?topic=t", http.Header{}, nil)
		},
		publish: func(ctx context.Context, text string) error {
			_, _, err := w.do(ctx, http.MethodPost, "/send?topic=t", nil, []byte(text))
			return err
		},
	}
}

// streamsEach is how many streams Shoal allows one key.
const streamsEach = 20

// shoalFan lets services read: they may look into every space of their session
// without being members, who would get each message into an inbox besides.
func shoalFan(ctx context.Context, p *process, readers int) (*fan, error) {
	s := &restSide{wire: newWire(p)}
	f := &fan{side: s}
	if err := s.open(ctx, 1); err != nil {
		return f, err
	}
	var services []string
	for range (readers + streamsEach - 1) / streamsEach {
		made, err := s.admin.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleService})
		if err != nil {
			return f, err
		}
		services = append(services, *made.Secret)
	}
	f.connect = func(c net.Conn, i int) error {
		header := restHeader(services[i/streamsEach])
		header.Set("Accept", "text/event-stream")
		return request(c, http.MethodGet, sessionPath+"/spaces/"+string(pair(0))+"/events", header, nil)
	}
	f.publish = func(ctx context.Context, text string) error {
		body, err := json.Marshal(post{text, []shoal.EntityID{}})
		if err == nil {
			_, _, err = s.do(ctx, http.MethodPost, sessionPath+"/spaces/"+string(pair(0))+"/messages", restHeader(s.keys[0]), body)
		}
		return err
	}
	return f, nil
}

// follow connects one reader and returns when its stream has begun.
func (f *fan) follow(i int) error {
	c, err := net.Dial("tcp", f.process().addr)
	if err != nil {
		return err
	}
	f.conns = append(f.conns, c)
	if err := f.connect(c, i); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(c, 8<<10), nil)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close() // its status says enough
		return errors.New("a reader was answered " + res.Status)
	}
	f.readers.Go(func() {
		defer res.Body.Close()
		f.read(res.Body)
	})
	return nil
}

// Every message carries the moment at which it was sent, between two marks.
const (
	mark       = '@'
	markLength = 21
)

func marked() string {
	return fmt.Sprintf("@%019d@ and some words more, as people write them", time.Now().UnixNano())
}

// read counts the marks in a stream until it ends.
func (f *fan) read(in io.Reader) {
	buf := make([]byte, 16<<10)
	kept := 0
	for {
		n, err := in.Read(buf[kept:])
		if n == 0 && err != nil {
			return
		}
		now, rest := time.Now().UnixNano(), buf[:kept+n]
		var took []float64
		for {
			i := bytes.IndexByte(rest, mark)
			if i < 0 {
				rest = nil
				break
			}
			if rest = rest[i:]; len(rest) < markLength {
				break
			}
			if sent, err := strconv.ParseInt(string(rest[1:markLength-1]), 10, 64); err == nil {
				took = append(took, float64(now-sent)/1e3)
			}
			rest = rest[markLength:]
		}
		kept = copy(buf, rest)
		if len(took) > 0 {
			f.mu.Lock()
			f.took = append(f.took, took...)
			f.mu.Unlock()
			f.seen.Add(int64(len(took)))
		}
	}
}

// round publishes for a while and waits until every reader has everything.
func (f *fan) round(ctx context.Context, into *row, length, pace time.Duration, counts bool) error {
	f.mu.Lock()
	f.took = nil
	f.mu.Unlock()
	f.seen.Store(0)
	before, began, sent := cpu(f.process().pid()), time.Now(), 0
	for time.Since(began) < length {
		switch {
		case pace > 0:
			if !pause(ctx, time.Until(began.Add(time.Duration(sent)*pace))) {
				return context.Cause(ctx)
			}
		case f.behind(sent-fanAhead) > 0:
			if !pause(ctx, 100*time.Microsecond) {
				return context.Cause(ctx)
			}
			continue
		}
		if err := f.publish(ctx, marked()); err != nil {
			return err
		}
		sent++
	}
	for waited := time.Now(); f.behind(sent) > 0 && time.Since(waited) < 5*time.Second; {
		if !pause(ctx, time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	took, used := time.Since(began), cpu(f.process().pid())-before
	if !counts {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	into.add(deliveries, float64(f.seen.Load())/took.Seconds())
	into.add(lostEvents, float64(f.behind(sent)))
	into.add(p50, percentile(f.took, 50))
	into.add(p99, percentile(f.took, 99))
	into.cpu, into.ops = into.cpu+used, into.ops+float64(f.seen.Load())
	return nil
}

// behind is how many of so many events' deliveries are missing.
func (f *fan) behind(events int) int64 {
	return int64(events)*int64(len(f.conns)) - f.seen.Load()
}
