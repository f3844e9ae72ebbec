package aguiapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal/agent/agui"
)

// errGone says that the client does not take the stream any more.
var errGone = errors.New("the client is gone")

// stream writes events to a client. It has no goroutine: writes block.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	started  bool
}

func newStream(w http.ResponseWriter, patience time.Duration) *stream {
	return &stream{w: w, control: http.NewResponseController(w), patience: patience}
}

// write sends events in one piece. The first call begins the answer.
func (s *stream) write(events []agui.Event) error {
	var text []byte
	for _, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		text = append(append(append(text, "data: "...), body...), "\n\n"...)
	}
	return s.send(text)
}

// beat sends a comment, which keeps proxies from closing the connection.
func (s *stream) beat() error { return s.send([]byte(": keepalive\n\n")) }

func (s *stream) send(text []byte) error {
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
		return errors.Join(errGone, err)
	}
	return nil
}

// close clears the write deadline for the next response on the connection.
func (s *stream) close() { _ = s.control.SetWriteDeadline(time.Time{}) } // as in send
