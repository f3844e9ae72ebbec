package upload

import (
	"io"
	"net/http"
	"time"
)

// Slow returns the body of r, which may take any time to arrive as long as some of it does within
// each interval.
func Slow(w http.ResponseWriter, r *http.Request, interval time.Duration) io.Reader {
	return &slow{http.NewResponseController(w), r.Body, interval}
}

type slow struct {
	control  *http.ResponseController
	body     io.Reader
	interval time.Duration
}

// Read implements [io.Reader].
func (s *slow) Read(p []byte) (int, error) {
	// An error means a broken connection, and reading returns it, too.
	_ = s.control.SetReadDeadline(time.Now().Add(s.interval))
	return s.body.Read(p)
}
