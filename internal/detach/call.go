package detach

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Call is a parked call: its context, and the writer of its answer. It belongs to the
// function that is given to Go.
type Call struct {
	lot    *Lot
	conn   net.Conn
	ahead  []byte // of the next request
	ctx    context.Context
	cancel context.CancelCauseFunc

	header   http.Header
	status   int
	body     bytes.Buffer
	written  bool          // the answer is out, whole
	answered chan struct{} // closed when the function has returned
}

// Context ends when the client goes away, with the function, and when the lot is cut
// off.
func (c *Call) Context() context.Context { return c.ctx }

// Go runs the rest of the call on a goroutine of its own and returns at once. The
// connection goes on when answer returns; without a whole answer it ends. A panic with
// [http.ErrAbortHandler] ends the connection; another one is not stopped.
func (c *Call) Go(answer func()) {
	go c.watch()
	go func() {
		defer c.lot.running.Done()
		defer c.done()
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				c.written = false
			default:
				panic(p)
			}
		}()
		answer()
	}()
}

// done hands the connection to whoever watches it, without what was answered.
func (c *Call) done() {
	c.header, c.body = nil, bytes.Buffer{}
	l := c.lot
	l.mu.Lock()
	l.parked[c] = true
	if c.written && !l.stopped() {
		// An error is that of a broken connection, which reading tells.
		_ = c.conn.SetReadDeadline(time.Now().Add(l.idle))
	} else {
		c.interrupt()
	}
	l.mu.Unlock()
	c.cancel(context.Canceled)
	l.answered(c.conn) // before it can come back
	close(c.answered)
}

// interrupt ends the wait for another request.
func (c *Call) interrupt() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) }

// watch notices that the client goes away, and hands the connection back when it
// sends another request and this one is answered.
func (c *Call) watch() {
	defer c.lot.running.Done()
	if len(c.ahead) == 0 && !c.first() {
		c.cancel(errGone)
	}
	<-c.answered
	l := c.lot
	l.mu.Lock()
	delete(l.parked, c)
	l.mu.Unlock()
	if c.written && len(c.ahead) > 0 && c.conn.SetReadDeadline(time.Time{}) == nil {
		select {
		case l.back <- &returned{c.conn, c.ahead}:
			return
		case <-l.stopping:
		}
	}
	_ = c.conn.Close() // nobody is there to tell
	l.closed(c.conn)
}

// first reads the first byte of the next request.
func (c *Call) first() bool {
	var b [1]byte
	n, _ := c.conn.Read(b[:]) // whatever it is, the connection ends with it
	if n == 1 {
		c.ahead = []byte{b[0]}
	}
	return n == 1
}

// Header implements [http.ResponseWriter].
func (c *Call) Header() http.Header { return c.header }

// WriteHeader implements [http.ResponseWriter]; only the first call counts.
func (c *Call) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
}

// Write implements [http.ResponseWriter]. It keeps b until the flush.
func (c *Call) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	return c.body.Write(b)
}

var errTwice = errors.New("detach: an answer is flushed once")

// FlushError writes the answer, which is whole with it, unless its Content-Length says
// otherwise: then the error is [http.ErrContentLength], and the connection ends behind
// what there is, so that nobody takes it for whole. It returns nil when the connection
// still stood when the last byte had been handed to it.
func (c *Call) FlushError() error {
	if c.written {
		return errTwice
	}
	c.WriteHeader(http.StatusOK)
	h := c.header
	h["Date"] = []string{time.Now().UTC().Format(http.TimeFormat)}
	wrong := false
	if c.status != http.StatusNoContent {
		length := strconv.Itoa(c.body.Len())
		if said := h.Get("Content-Length"); said == "" {
			h["Content-Length"] = []string{length}
		} else {
			wrong = said != length
		}
	}
	var out bytes.Buffer
	out.WriteString("HTTP/1.1 " + strconv.Itoa(c.status) + " " + http.StatusText(c.status) + "\r\n")
	if c.lot.stopped() {
		h["Connection"] = []string{"close"}
	}
	if err := h.Write(&out); err != nil {
		return err
	}
	out.WriteString("\r\n")
	out.Write(c.body.Bytes())
	_, err := c.conn.Write(out.Bytes())
	if err == nil && wrong {
		err = http.ErrContentLength
	}
	c.written = err == nil
	return err
}

// SetWriteDeadline bounds how long the flush may take.
func (c *Call) SetWriteDeadline(deadline time.Time) error { return c.conn.SetWriteDeadline(deadline) }
