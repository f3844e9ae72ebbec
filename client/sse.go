package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent bounds the size of one event: a snapshot of fifty messages at their
// limits, written with escapes, stays below it.
const maxEvent = 128 << 20

var errEventTooLarge = errors.New("an event is larger than any that the server sends")

// frame is one event of a stream as it was written. id is nil if the event has
// none of its own.
type frame struct {
	id   *string
	name string
	data []byte
}

// frames reads the events of a text/event-stream, as the HTML standard defines
// it: lines end in CR, LF or both, however the bytes arrive. It takes time
// linear in their number and holds at most one event of limit bytes.
type frames struct {
	in     *bufio.Reader
	limit  int
	line   []byte
	begun  bool // whether a line was read: only the first may begin with a BOM
	skipLF bool // whether the line before ended in CR
}

func newFrames(in io.Reader, limit int) *frames {
	return &frames{in: bufio.NewReader(in), limit: limit}
}

// next returns the next event that has an ID or data. It discards an event that the end
// of the stream truncates. The data belongs to the caller.
func (f *frames) next() (frame, error) {
	var out frame
	var data []byte
	for {
		line, err := f.readLine(f.limit - len(data))
		if err != nil {
			return frame{}, err
		}
		if len(line) == 0 {
			if data != nil {
				out.data = data[:len(data)-1] // without the last line's end
			}
			if out.id != nil || data != nil {
				return out, nil
			}
			out = frame{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			data = append(append(data, value...), '\n')
		case "event":
			out.name = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				id := string(value)
				out.id = &id
			}
		}
	}
}

// readLine returns the next line without its end. The line is valid until the
// next call. A line that the end of the stream cuts is lost with it.
func (f *frames) readLine(limit int) ([]byte, error) {
	f.line = f.line[:0]
	for {
		if _, err := f.in.Peek(1); err != nil {
			return nil, err
		}
		chunk, _ := f.in.Peek(f.in.Buffered())
		if f.skipLF {
			f.skipLF = false
			if chunk[0] == '\n' {
				_, _ = f.in.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			f.line = append(f.line, chunk...)
			_, _ = f.in.Discard(len(chunk))
		} else {
			f.line = append(f.line, chunk[:end]...)
			f.skipLF = chunk[end] == '\r'
			_, _ = f.in.Discard(end + 1)
		}
		if len(f.line) > limit {
			return nil, errEventTooLarge
		}
		if end >= 0 {
			break
		}
	}
	if !f.begun {
		f.begun = true
		return bytes.TrimPrefix(f.line, []byte("\xef\xbb\xbf")), nil
	}
	return f.line, nil
}
