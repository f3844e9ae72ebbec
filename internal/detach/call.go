package detach

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Call is a detached call: its context, and the writer of its response. Only the function
// that is passed to Go may use it.
type Call struct {
	pool   *Pool
	conn   net.Conn
	ahead  []byte // bytes of the next request that were already read
	ctx    context.Context
	cancel context.CancelCauseFunc

	header   http.Header
	status   int
	body     bytes.Buffer
	stream   bool          // the response has started, and continues in chunks
	broken   error         // why the stream cannot be completed
	written  bool          // the complete response was written
	answered chan struct{} // closed when the function has returned
	polled   int32         // its number in the poller
	watched  sync.Once     // the start of watch
}

// Context returns a context that ends when the client disconnects, when the function returns,
// and when the pool cancels its calls.
func (c *Call) Context() context.Context { return c.ctx }

// Cancel ends the context of the call with a cause, unless it has ended. Unlike the other
// methods, it may be called from any goroutine. The response can still be written.
func (c *Call) Cancel(cause error) { c.cancel(cause) }

// Go runs the rest of the call on a goroutine of its own and returns immediately. The
// connection continues after answer returns with a complete response; otherwise it is closed.
// A panic with [http.ErrAbortHandler] closes the connection; other panics are not recovered.
func (c *Call) Go(answer func()) {
	if len(c.ahead) == 0 && !c.pool.poller.add(c) {
		c.startWatch()
	}
	go func() {
		defer c.pool.running.Done()
		defer c.done()
		defer func() {
			switch p := recover(); p {
			case nil:
				c.endStream()
			case http.ErrAbortHandler:
				c.written = false
			default:
				panic(p)
			}
		}()
		answer()
	}()
}

// done returns the connection to the watching goroutine, without the response.
func (c *Call) done() {
	c.pool.poller.remove(c)
	c.header, c.body = nil, bytes.Buffer{}
	l := c.pool
	l.mu.Lock()
	l.calls[c] = true
	if c.written && !l.stopped() {
		// An error means a broken connection, which the next read reports.
		_ = c.conn.SetReadDeadline(time.Now().Add(l.idle))
	} else {
		c.interrupt()
	}
	l.mu.Unlock()
	c.cancel(context.Canceled)
	l.answered(c.conn) // before it can come back
	close(c.answered)
	c.startWatch()
}

// startWatch starts to watch the connection, once: when the poller has found that it has data or
// was closed, or when the call has ended.
func (c *Call) startWatch() {
	c.watched.Do(func() { go c.watch() })
}

// interrupt interrupts the wait for another request.
func (c *Call) interrupt() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) }

// watch detects that the client disconnects. It returns the connection to the server when the
// client sends another request and the response to this one is complete.
func (c *Call) watch() {
	defer c.pool.running.Done()
	if len(c.ahead) == 0 && !c.first() {
		c.cancel(errGone)
	}
	<-c.answered
	l := c.pool
	l.mu.Lock()
	delete(l.calls, c)
	l.mu.Unlock()
	if c.written && len(c.ahead) > 0 && c.conn.SetReadDeadline(time.Time{}) == nil {
		select {
		case l.back <- back(c.conn, c.ahead):
			return
		case <-l.stopping:
		}
	}
	_ = c.conn.Close() // an error concerns nobody any more
	l.closed(c.conn)
}

// first reads the first byte of the next request.
func (c *Call) first() bool {
	var b [1]byte
	n, _ := c.conn.Read(b[:]) // any error ends the connection
	if n == 1 {
		c.ahead = []byte{b[0]}
	}
	return n == 1
}

// Header implements [http.ResponseWriter].
func (c *Call) Header() http.Header { return c.header }

// WriteHeader implements [http.ResponseWriter]; only the first call has an effect.
func (c *Call) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
}

// Write implements [http.ResponseWriter]. It buffers b until the flush.
func (c *Call) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	return c.body.Write(b)
}

var errTwice = errors.New("detach: an answer is flushed once")

// FlushError writes the response. If its Content-Length promises more than was written, the
// error is [http.ErrContentLength], and the connection is closed after the written part, so
// that no client mistakes it for complete. A nil error means that the connection was still open
// when the last byte was passed to it.
//
// A stream is flushed repeatedly, each time in part.
func (c *Call) FlushError() error {
	if c.stream {
		return c.flushChunk()
	}
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
	if c.pool.stopped() {
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

// flushChunk writes what the stream has buffered as one chunk.
func (c *Call) flushChunk() error {
	if c.broken != nil || c.body.Len() == 0 {
		return c.broken
	}
	out := make([]byte, 0, c.body.Len()+16)
	out = append(strconv.AppendInt(out, int64(c.body.Len()), 16), "\r\n"...)
	out = append(append(out, c.body.Bytes()...), "\r\n"...)
	c.body.Reset()
	if _, c.broken = c.conn.Write(out); c.broken != nil {
		c.cancel(errGone)
	}
	return c.broken
}

// endTime is how long the client of a stream may take to accept the end of it.
const endTime = 10 * time.Second

// endStream completes a stream, as net/http does when a handler returns.
func (c *Call) endStream() {
	if !c.stream {
		return
	}
	// An error here means a broken connection, which the write reports as well.
	_ = c.conn.SetWriteDeadline(time.Now().Add(endTime))
	if c.flushChunk() == nil {
		_, c.broken = io.WriteString(c.conn, "0\r\n\r\n")
	}
	_ = c.conn.SetWriteDeadline(time.Time{}) // as above
	c.written = c.broken == nil
}

// SetWriteDeadline sets the deadline of the flushes.
func (c *Call) SetWriteDeadline(deadline time.Time) error { return c.conn.SetWriteDeadline(deadline) }
