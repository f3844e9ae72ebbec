package httpapi

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/fields"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// maxBuffer is the size at which buffered events are written before more are added; longer buffers
// are not reused. Data of that size is written without copying, so that a large snapshot for a slow
// reader is in memory only once.
const maxBuffer = 64 << 10

func eventRoutes() []route {
	after := []param{{"after", "Resume after the event with this id. The header Last-Event-ID has the same effect and takes precedence.", stringParam}}
	snapshots := append(slices.Clone(after), param{"snapshot", "`light` makes each `snapshot` small: the space with its counts and without `members`, and only those messages that are still being written.", stringParam})
	const resume = " Every event has `id`, `event` and `data`; `data` is one JSON object. With Last-Event-ID a stream resumes where it ended, without lost or repeated events; " +
		"for an id that is too old it starts with a new snapshot. A comment line every 15 s keeps the connection alive. A reader that is too slow is disconnected and can resume."
	return []route{
		{
			method: http.MethodGet, path: spacePath + "/events", do: followSpace, stream: true, id: "followSpace", tag: "Events",
			summary: "Follow a space", about: "A new connection gets `snapshot` first, then the events that follow it." + resume,
			query: snapshots, status: http.StatusOK, errors: []shoal.Kind{shoal.InvalidArgument},
		},
		{
			method: http.MethodGet, path: sessionPath + "/events", do: followSession, stream: true, id: "followSession", tag: "Events",
			summary: "Follow all spaces of the caller",
			about:   "Includes spaces that the caller joins later. A new connection gets one `snapshot` per space and then `snapshot.end`." + resume,
			query:   snapshots, status: http.StatusOK, errors: []shoal.Kind{shoal.InvalidArgument},
		},
		{
			method: http.MethodGet, path: runPath + "/events", do: followRun, stream: true, id: "followRun", tag: "Events",
			summary: "Follow a run",
			about: "Returns its states, steps, messages and reasoning; an entity gets only what its spaces show. A new connection gets `snapshot` with `{run, steps, messages, cursor}` first." +
				resume,
			query: after, status: http.StatusOK, errors: []shoal.Kind{shoal.InvalidArgument},
		},
	}
}

func followSpace(c *call) error {
	return c.followSpaces(feed.FollowRequest{Session: c.session(), Space: c.space()})
}

func followSession(c *call) error {
	return c.followSpaces(feed.FollowRequest{Session: c.session()})
}

func (c *call) followSpaces(req feed.FollowRequest) error {
	switch size, _ := c.value("snapshot"); size {
	case "", "full":
	case "light":
		req.Light = true
	default:
		return shoal.Invalid("query.snapshot", `must be "light" or "full"`)
	}
	return c.follow(req)
}

func followRun(c *call) error {
	return c.follow(feed.FollowRequest{Session: c.session(), Run: c.run()})
}

// follow streams events until the caller disconnects, loses the right to follow, or is too slow. A
// disconnected caller can resume with the last id.
func (c *call) follow(req feed.FollowRequest) error {
	after, place := c.r.Header.Get("Last-Event-ID"), "header.Last-Event-ID"
	if after == "" {
		after, _ = c.value("after")
		place = "query.after"
	}
	req.After = shoal.Cursor(after)
	if err := c.Limits.Open(c.caller); err != nil {
		return err
	}
	defer c.Limits.Close(c.caller)
	follower, err := c.Hub.Events.Follow(c.ctx(), c.caller, req)
	if err != nil {
		return fields.Rename(err, "after", place)
	}
	defer follower.Close()
	s := stream{call: c, follower: follower, control: http.NewResponseController(c.w)}
	defer c.endTime(s.control)
	return s.run()
}

// stream is one response of server-sent events. It holds no buffer while it is idle.
type stream struct {
	*call
	follower      *feed.Follower
	control       *http.ResponseController
	nextHeartbeat time.Time // when the next comment line is due
	deadline      time.Time // the write deadline of the connection
}

// begin starts the response.
func (s *stream) begin(now time.Time) error {
	h := s.startResponse(http.StatusOK)
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	// A stream ends with its connection, so chunked encoding would only add overhead.
	h.Set("Transfer-Encoding", "identity")
	s.w.WriteHeader(http.StatusOK)
	return s.write([]byte("retry: 1000\n\n"), now)
}

func (s *stream) run() error {
	now := time.Now()
	if err := s.begin(now); err != nil {
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

// checkKey returns an error if the key has become invalid. The hub ends the streams of a key that
// this server revokes; the check finds keys that have expired or were revoked on another server.
func (s *stream) checkKey() error {
	caller, err := s.Auth.Principal(s.r)
	if err == nil && caller != s.caller {
		err = shoal.E("httpapi.stream", shoal.Unauthenticated, "The key has changed.")
	}
	return err
}

// buffers are the buffers that no stream is using.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// writeEvents writes events, and the comment line if it is due, in one Write where they fit in maxBuffer.
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

// eventEnd follows the data of an event.
const eventEnd = "\n\n"

func appendEvent(out []byte, ev shoal.Event) []byte {
	return append(append(appendHead(out, ev), ev.Data...), eventEnd...)
}

// appendHead appends the lines of an event up to its data.
func appendHead(out []byte, ev shoal.Event) []byte {
	if ev.Cursor != "" {
		out = append(append(append(out, "id: "...), ev.Cursor...), '\n')
	}
	out = append(append(out, "event: "...), ev.Type...)
	return append(out, "\ndata: "...)
}

// write writes a piece with a deadline between three quarters of WriteTimeout and WriteTimeout. The deadline
// is not moved for every piece because that would cost more than writing a small piece.
func (s *stream) write(piece []byte, now time.Time) error {
	if s.deadline.Sub(now) < s.WriteTimeout*3/4 {
		s.deadline = now.Add(s.WriteTimeout)
		if err := s.control.SetWriteDeadline(s.deadline); err != nil {
			return err
		}
	}
	_, err := s.w.Write(piece)
	if err == nil {
		err = s.control.Flush()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.metrics.Stalled.Add(1)
	}
	return err
}
