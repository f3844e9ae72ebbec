// Package eventstream writes the server-sent events of protocols whose events are JSON values
// without an id.
//
//	s := eventstream.New(w, 10*time.Second)
//	defer s.Close()
//	err := eventstream.Write(s, events)
package eventstream

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// ErrGone means that the client no longer takes the stream.
var ErrGone = errors.New("the client is gone")

// Stream writes events to a client. It has no goroutine: writes block. It belongs to one
// goroutine.
type Stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	started  bool
}

// New returns a stream over w. patience is how long the client may take nothing of what is
// written to it; then a write fails with [ErrGone].
func New(w http.ResponseWriter, patience time.Duration) *Stream {
	return &Stream{w: w, control: http.NewResponseController(w), patience: patience}
}

// Named is an event that has a name besides its value.
type Named interface {
	// EventName returns a name without line breaks.
	EventName() string
}

// Write sends events in one piece, each as the JSON of its value, with its name if it is [Named]. The
// first call begins the response. It does nothing for no events.
func Write[T any](s *Stream, events []T) error {
	var text []byte
	for _, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if named, ok := any(e).(Named); ok {
			text = append(append(append(text, "event: "...), named.EventName()...), '\n')
		}
		text = append(append(append(text, "data: "...), body...), "\n\n"...)
	}
	return s.send(text)
}

// WriteText sends one event with this text, which must have no line breaks.
func (s *Stream) WriteText(text string) error { return s.send([]byte("data: " + text + "\n\n")) }

// Beat sends a comment, which keeps proxies from closing the connection.
func (s *Stream) Beat() error { return s.send([]byte(": keepalive\n\n")) }

// Started reports whether the response has begun.
func (s *Stream) Started() bool { return s.started }

func (s *Stream) send(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if !s.started {
		s.started = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Accel-Buffering", "no") // nginx would hold the events back
		s.w.WriteHeader(http.StatusOK)
	}
	err := s.control.SetWriteDeadline(time.Now().Add(s.patience))
	if err == nil {
		_, err = s.w.Write(text)
	}
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		return errors.Join(ErrGone, err)
	}
	return nil
}

// Close clears the write deadline for the next response on the connection.
func (s *Stream) Close() { _ = s.control.SetWriteDeadline(time.Time{}) } // as in send
