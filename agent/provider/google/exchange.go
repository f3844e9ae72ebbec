package google

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	maxErrorBody = 64 << 10
	maxLine      = 32 << 20
)

// exchange is one request and its answer.
type exchange struct {
	ctx  context.Context
	key  string
	sent bool
	body *body
}

// post sends the request and turns every answer but 200 into an error.
func (ex *exchange) post(client *http.Client, req *http.Request) error {
	ex.sent = true
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		if err != nil && len(text) == 0 {
			text = nil // the status alone has to say it
		}
		return ex.refusal(resp.StatusCode, text, retryAfter(resp.Header, time.Now()))
	}
	ex.body = &body{from: resp.Body, lines: bufio.NewReader(resp.Body)}
	return nil
}

// body reads the events of an answer.
type body struct {
	from    io.ReadCloser
	lines   *bufio.Reader
	data    []byte // of the event that is being read
	whole   []byte // the event that was read
	events  int
	partial bool   // the stream ended within an event
	stray   []byte // lines that belong to no stream of events
	err     error  // why reading failed
	done    bool
}

// next returns the data of the next whole event, nil when there is none.
func (b *body) next() []byte {
	for b.whole = nil; b.whole == nil && !b.done; {
		b.line()
	}
	return b.whole
}

// line takes one line of the stream.
func (b *body) line() {
	line, err := b.readLine()
	if err != nil {
		b.done = true
		b.partial = len(line) > 0 || len(b.data) > 0
		if len(bytes.TrimSpace(line)) > 0 {
			b.field(line) // a page or an error need not end in a line break
		}
		if !errors.Is(err, io.EOF) {
			b.err = err
		}
		return
	}
	if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
		b.field(line)
		return
	}
	if len(b.data) > 0 {
		b.whole, b.data = b.data, nil
		b.events++
	}
}

// field keeps the data of an event, and what is no field of one.
func (b *body) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "data":
		b.data = append(append(b.data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
	case "", "event", "id", "retry":
	default:
		if len(b.stray)+len(line) <= maxErrorBody {
			b.stray = append(b.stray, line...)
		}
	}
}

var errLongLine = errors.New("a line of the answer is too long")

// readLine reads up to the end of a line, which is bounded.
func (b *body) readLine() ([]byte, error) {
	var line []byte
	for {
		piece, err := b.lines.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxLine:
			return nil, errLongLine
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}
