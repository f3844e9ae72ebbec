package agui

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

const (
	// keepAlive is how often a comment is sent while nothing happens, which keeps
	// proxies from closing the connection.
	keepAlive = 15 * time.Second
	// patience is how long a client may take no bytes.
	patience = 30 * time.Second
)

// stream writes events to a client. Its goroutine sends comments and ends in
// close.
type stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	done chan struct{}
	idle sync.WaitGroup

	mu      sync.Mutex
	started bool
	broken  bool
	quiet   bool // nothing was written since the last tick
}

func newStream(w http.ResponseWriter) *stream {
	return &stream{w: w, rc: http.NewResponseController(w), done: make(chan struct{})}
}

// write sends events and reports whether the client still takes them.
func (s *stream) write(events []Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(events) == 0 || s.broken {
		return !s.broken
	}
	if !s.started {
		s.start()
	}
	var text []byte
	for _, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			s.broken = true // an event of this package that cannot be encoded: the stream must not be truncated
			return false
		}
		text = append(append(append(text, "data: "...), body...), "\n\n"...)
	}
	s.send(text)
	return !s.broken
}

func (s *stream) start() {
	s.started = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold the events back
	s.w.WriteHeader(http.StatusOK)
	s.idle.Go(s.keepAlive)
}

// send writes and flushes within the client's patience. The errors of writers
// that know no deadlines or no flushing change nothing.
func (s *stream) send(text []byte) {
	_ = s.rc.SetWriteDeadline(time.Now().Add(patience))
	_, err := s.w.Write(text)
	_ = s.rc.Flush()
	s.broken = s.broken || err != nil
	s.quiet = false
}

func (s *stream) keepAlive() {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		if s.quiet && !s.broken {
			s.send([]byte(": keep-alive\n\n"))
		}
		s.quiet = true
		s.mu.Unlock()
	}
}

// close ends the goroutine and gives the connection back without a deadline.
func (s *stream) close() {
	close(s.done)
	s.idle.Wait()
	if s.started {
		_ = s.rc.SetWriteDeadline(time.Time{})
	}
}
