package httpapi

import (
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// maxBuffer is from where on what is to be written goes out before more is
// added to it; longer buffers are not kept. Data of that size is not copied: a
// snapshot that its reader does not take would be there twice.
const maxBuffer = 64 << 10

func eventRoutes() []route {
	after := []param{{"after", "Resume behind the event with this id. The header Last-Event-ID says the same and wins.", stringParam}}
	const resume = " Every event has `id`, `event` and `data`; `data` is one JSON object. With Last-Event-ID a stream goes on where it ended, with nothing lost and nothing twice; " +
		"an id that is too old gets a new snapshot. A comment line every 15 s keeps the connection alive. A reader too slow is cut off and resumes."
	return []route{
		{
			method: http.MethodGet, path: spacePath + "/events", do: followSpace, stream: true, id: "followSpace", tag: "Events",
			summary: "Follow a space", about: "A fresh connection gets `snapshot` first, then what follows it." + resume,
			query: after, status: http.StatusOK, errors: []shoal.Kind{shoal.InvalidArgument},
		},
		{
			method: http.MethodGet, path: sessionPath + "/events", do: followSession, stream: true, id: "followSession", tag: "Events",
			summary: "Follow all spaces of the caller",
			about:   "Spaces that the caller joins later are included. A fresh connection gets one `snapshot` per space and then `snapshot.end`." + resume,
			query:   after, status: http.StatusOK, errors: []shoal.Kind{shoal.InvalidArgument},
		},
		{
			method: http.MethodGet, path: runPath + "/events", do: followRun, stream: true, id: "followRun", tag: "Events",
			summary: "Follow a run",
			about: "Its states, steps, messages and reasoning; to an entity only what its spaces show. A fresh connection gets `snapshot` with `{run, steps, messages, cursor}` first." +
				resume,
			query: after, status: http.StatusOK, errors: []shoal.Kind{shoal.InvalidArgument},
		},
	}
}

func followSpace(c *call) error {
	return c.follow(hub.FollowRequest{Session: c.session(), Space: c.space()})
}

func followSession(c *call) error { return c.follow(hub.FollowRequest{Session: c.session()}) }

func followRun(c *call) error {
	return c.follow(hub.FollowRequest{Session: c.session(), Run: c.run()})
}

// follow streams events until the caller goes, may not follow any more, or is
// too slow. Whoever is cut off resumes with the last id.
func (c *call) follow(req hub.FollowRequest) error {
	after, place := c.r.Header.Get("Last-Event-ID"), "header.Last-Event-ID"
	if after == "" {
		after, _ = c.value("after")
		place = "query.after"
	}
	req.After = shoal.Cursor(after)
	if err := c.Limits.Open(c.who); err != nil {
		return err
	}
	defer c.Limits.Close(c.who)
	follower, err := c.Hub.Events.Follow(c.ctx(), c.who, req)
	if err != nil {
		return renameField(err, "after", place)
	}
	defer follower.Close()
	s := stream{call: c, follower: follower, control: http.NewResponseController(c.w)}
	defer c.endTime(s.control)
	return s.run()
}

// stream is one answer of server-sent events. While it is idle it holds no
// buffer.
type stream struct {
	*call
	follower      *hub.Follower
	control       *http.ResponseController
	nextHeartbeat time.Time // when the next comment line is due
	deadline      time.Time // until when the connection may take what is written
}

func (s *stream) run() error {
	h := s.startResponse(http.StatusOK)
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	// A stream ends with its connection: pieces need no lengths before them.
	h.Set("Transfer-Encoding", "identity")
	s.w.WriteHeader(http.StatusOK)
	now := time.Now()
	if err := s.write([]byte("retry: 1000\n\n"), now); err != nil {
		return err
	}
	s.nextHeartbeat = now.Add(s.Heartbeat)
	for {
		events, err := s.follower.Next(s.ctx(), s.nextHeartbeat)
		if err != nil {
			return err
		}
		now := time.Now()
		due := !now.Before(s.nextHeartbeat)
		if due {
			if err := s.checkKey(); err != nil {
				return err
			}
			s.nextHeartbeat = now.Add(s.Heartbeat)
		}
		if err := s.writeEvents(events, due, now); err != nil {
			return err
		}
	}
}

// mayGoOn looks at the key again. The hub ends the streams of a key that is
// revoked here; this finds one that has expired, or was revoked elsewhere.
func (s *stream) checkKey() error {
	who, err := s.Auth.Principal(s.r)
	if err == nil && who != s.who {
		err = shoal.E("httpapi.stream", shoal.Unauthenticated, "The key has changed.")
	}
	return err
}

// buffers holds the buffers that no stream is writing from.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// deliver writes events, and the comment line if it is due, in one Write.
func (s *stream) writeEvents(events []shoal.Event, due bool, now time.Time) error {
	buffer := buffers.Get().(*[]byte)
	out := (*buffer)[:0]
	defer func() {
		if cap(out) <= maxBuffer {
			*buffer = out
			buffers.Put(buffer)
		}
	}()
	if due {
		out = append(out, ": keepalive\n\n"...)
	}
	for _, ev := range events {
		if len(out)+len(ev.Data) < maxBuffer {
			out = appendEvent(out, ev)
			continue
		}
		for _, piece := range [][]byte{appendHead(out, ev), ev.Data} {
			if err := s.write(piece, now); err != nil {
				return err
			}
			now = time.Now()
		}
		out = append(out[:0], eventEnd...)
	}
	if len(out) == 0 {
		return nil
	}
	return s.write(out, now)
}

// eventEnd stands behind the data of an event.
const eventEnd = "\n\n"

func appendEvent(out []byte, ev shoal.Event) []byte {
	return append(append(appendHead(out, ev), ev.Data...), eventEnd...)
}

// appendHead adds everything of an event up to its data.
func appendHead(out []byte, ev shoal.Event) []byte {
	if ev.Cursor != "" {
		out = append(append(append(out, "id: "...), ev.Cursor...), '\n')
	}
	out = append(append(out, "event: "...), ev.Type...)
	return append(out, "\ndata: "...)
}

// write hands a piece to the connection and waits for it no longer than
// Patience, and at least three quarters of that: moving the deadline with every
// piece would cost more than many a piece.
func (s *stream) write(piece []byte, now time.Time) error {
	if s.deadline.Sub(now) < s.Patience*3/4 {
		s.deadline = now.Add(s.Patience)
		if err := s.control.SetWriteDeadline(s.deadline); err != nil {
			return err
		}
	}
	_, err := s.w.Write(piece)
	if err == nil {
		err = s.control.Flush()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.metrics.stalled.Add(1)
	}
	return err
}
