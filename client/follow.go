package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/shoal-dev/shoal"
)

// silence is how long a stream may have no data: the server writes a comment every 15 s.
const silence = 45 * time.Second

// FollowOptions select what to follow.
type FollowOptions struct {
	// Space is the only space to follow. If it is empty, all spaces of the caller are
	// followed, including those that it joins later.
	Space shoal.SpaceID
	// Run, if set, is followed instead of spaces: its steps, output and reasoning. The end
	// of the run is an event and does not end the sequence.
	Run shoal.RunID
	// After resumes after the event with this cursor. If it is empty, the stream
	// begins with a snapshot.
	After shoal.Cursor
	// Light makes the snapshots of spaces small: without members, and with those messages
	// only that are still being written.
	Light bool
	// OnDisconnect, if set, is called each time the connection is lost, before the
	// follower reconnects. It must not block.
	OnDisconnect func(cause error)
	// OnConnect, if set, is called each time a connection is established, the first included,
	// before its first event. It must not block.
	OnConnect func()
}

// Follow yields events in order, each exactly once. It connects when it is ranged over,
// and reconnects after the last event when the connection breaks or is silent for
// 45 s.
//
// A snapshot holds the current state and replaces what was yielded before. It comes first,
// for each space that is joined, and again if the connection broke before the first cursor,
// or was lost for longer than the server stores events.
//
// The sequence ends without an error when ctx ends, and otherwise with one: the
// server's refusal, such as NotFound for a space that the caller may not read or
// has left; ErrUnreachable if the server was not reached even once.
func (s *Session) Follow(ctx context.Context, o FollowOptions) iter.Seq2[shoal.Event, error] {
	return func(yield func(shoal.Event, error) bool) {
		f := follower{client: s.client, lost: o.OnDisconnect, back: o.OnConnect, cursor: o.After, yield: yield}
		if o.Light {
			f.query = filters(map[string]string{"snapshot": "light"})
		}
		switch {
		case o.Run != "":
			f.path = s.path("runs", string(o.Run), "events")
		case o.Space != "":
			f.path = s.path("spaces", string(o.Space), "events")
		default:
			f.path, f.everything = s.path("events"), true
		}
		if err := f.run(ctx); err != nil && !f.left {
			yield(shoal.Event{}, named("client.Follow", err))
		}
	}
}

// follower is an active sequence of events.
type follower struct {
	client     *Client
	path       []string
	query      url.Values
	everything bool
	lost       func(error)
	back       func()
	yield      func(shoal.Event, error) bool

	cursor shoal.Cursor // of the last event; the stream resumes after it
	heard  bool         // whether this connection has received anything
	left   bool         // whether the reader has stopped
}

// run follows, and reconnects when necessary. It returns nil if ctx or the reader ended it.
func (f *follower) run(ctx context.Context) error {
	if err := checkPath(f.path); err != nil {
		return err
	}
	delays := backoff{first: callFirst, most: watchMost}
	reached, began := false, time.Now()
	for tries := 1; ; tries++ {
		f.heard = false
		end := f.connect(ctx)
		if end.sent {
			reached, delays.first = true, watchFirst
		}
		if f.left || ctx.Err() != nil {
			return nil
		}
		away := max(delays.next(), min(end.after, mostAfter))
		if !end.unknown || !reached && f.client.gaveUp(tries, time.Since(began)+away) {
			return end.err
		}
		if f.lost != nil {
			f.lost(end.err)
		}
		if f.heard {
			delays.reset()
			away = max(delays.next(), min(end.after, mostAfter))
		}
		if !pause(ctx, away) {
			return nil
		}
	}
}

// connect opens one connection and reads it until it ends. An unknown outcome means that
// another attempt may succeed.
func (f *follower) connect(ctx context.Context) outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watch.Stop()
	req, err := f.client.request(ctx, http.MethodGet, f.path, f.query)
	if err != nil {
		return outcome{err: err}
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Accept-Encoding", "identity") // compression would hold events back
	if f.cursor != "" {
		req.Header.Set("Last-Event-ID", string(f.cursor))
	}
	res, err := f.client.http.Do(req)
	if err != nil {
		return outcome{err: f.client.unreachable(silent(ctx, err)), unknown: true}
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return f.refused(ctx, res)
	}
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media != "text/event-stream" {
		return outcome{err: f.client.stranger(res.StatusCode, nil), sent: true}
	}
	if f.back != nil {
		f.back()
	}
	err = f.read(&watched{res.Body, watch, &f.heard})
	if errors.Is(err, errEventTooLarge) {
		return outcome{err: f.client.stranger(res.StatusCode, err), sent: true}
	}
	return outcome{err: f.client.unreachable(silent(ctx, err)), sent: true, unknown: true}
}

// refused returns the outcome of a response that is not a stream: final if it is about
// the request, but not if it is about the state of the server.
func (f *follower) refused(ctx context.Context, res *http.Response) outcome {
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return outcome{err: f.client.unreachable(silent(ctx, err)), sent: true, unknown: true}
	}
	status := res.StatusCode
	return outcome{
		err: f.client.refusal(status, res.Header, body), sent: true, after: retryAfter(res.Header),
		unknown: status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout,
	}
}

// read yields the events of one connection until it ends, which is always an error, or
// until the reader stops.
func (f *follower) read(in io.Reader) error {
	events := newFrames(in, maxEvent)
	for {
		got, err := events.next()
		if err != nil {
			return fmt.Errorf("the stream ended: %w", err)
		}
		out := shoal.Event{Type: shoal.EventType(got.name), Data: got.data}
		if got.id != nil {
			out.Cursor = shoal.Cursor(*got.id)
			// A stream cannot resume between several snapshots: the others would be
			// missed.
			if !f.everything || out.Type != shoal.EventSnapshot {
				f.cursor = out.Cursor
			}
		}
		if got.data == nil {
			continue
		}
		if f.left = !f.yield(out, nil); f.left {
			return nil
		}
	}
}

// watched is a stream that is given up when a read takes too long. What its
// reader does between two reads may take any time.
type watched struct {
	in    io.Reader
	watch *time.Timer
	heard *bool
}

func (w *watched) Read(p []byte) (int, error) {
	w.watch.Reset(silence)
	n, err := w.in.Read(p)
	w.watch.Stop()
	*w.heard = *w.heard || n > 0
	return n, err
}
