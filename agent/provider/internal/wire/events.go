package wire

import (
	"bytes"
	"errors"
	"io"
)

// MaxEvent bounds one event of a stream, and an answer that comes in one piece.
const MaxEvent = 16 << 20

// ErrTooLong says that an event or an answer exceeds [MaxEvent].
var ErrTooLong = errors.New("an event or answer is longer than 16 MiB")

// ErrNoEvent reports a JSON object or array in place of an event
// begin: servers send their errors so, and answers in one piece.
var ErrNoEvent = errors.New("JSON in place of an event")

// Events splits a text/event-stream into events. It keeps one event in
// memory and copies only data that spans several lines.
type Events struct {
	src   io.Reader
	buf   []byte
	start int // of the event in buf
	pos   int // of the next unread byte
	end   int // of what was read into buf
	err   error

	skipLF bool   // the last line ended with \r; a \n right after it belongs to it
	begun  bool   // the first line was inspected
	joined []byte // data of several lines

	// IsError says that the event returned last was named error.
	IsError bool
	// Cut says that the stream ended within the event returned last.
	Cut bool
}

// NewEvents returns a reader of the events in src.
func NewEvents(src io.Reader) *Events {
	return &Events{src: src, buf: make([]byte, 16<<10)}
}

// Next returns the data of the next event, valid until the call after it. Its
// error is io.EOF at the end, [ErrNoEvent], [ErrTooLong], or that of the source.
func (r *Events) Next() ([]byte, error) {
	r.begin()
	var lo, hi, lines int // where the first data line is, seen from start
	for {
		from, to, err := r.line()
		switch {
		case err != nil && (lines == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		case err != nil:
			r.Cut = true
			return r.data(lo, hi, lines), nil
		case from == to && lines > 0:
			return r.data(lo, hi, lines), nil
		case from == to:
			r.begin()
			continue
		}
		line := r.buf[r.start+from : r.start+to]
		name, value := splitField(line)
		switch string(name) {
		case "event":
			r.IsError = string(value) == "error"
		case "data":
			if lines++; lines == 1 {
				lo, hi = to-len(value), to
				break
			}
			if lines == 2 {
				r.joined = append(r.joined[:0], r.buf[r.start+lo:r.start+hi]...)
			}
			r.joined = append(append(r.joined, '\n'), value...)
		default:
			if json := bytes.TrimLeft(line, " \t"); lines == 0 && len(json) > 0 && (json[0] == '{' || json[0] == '[') {
				r.pos, r.skipLF = r.start+from, false
				return nil, ErrNoEvent
			}
		}
	}
}

// Rest returns everything that is left: after [ErrNoEvent], the content that was sent
// instead of a stream.
func (r *Events) Rest() ([]byte, error) {
	data, err := bytes.Clone(r.buf[r.pos:r.end]), r.err
	if err == nil {
		var more []byte
		more, err = io.ReadAll(io.LimitReader(r.src, int64(MaxEvent+1-len(data))))
		data = append(data, more...)
	}
	switch {
	case len(data) > MaxEvent:
		return nil, ErrTooLong
	case errors.Is(err, io.EOF):
		err = nil
	}
	return data, err
}

func (r *Events) begin() {
	r.start, r.IsError, r.Cut = r.pos, false, false
}

func (r *Events) data(lo, hi, lines int) []byte {
	if lines > 1 {
		return r.joined
	}
	return r.buf[r.start+lo : r.start+hi]
}

// splitField splits a line at its colon; a comment has an empty name.
func splitField(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return name, value
}

// line returns where the next line is, seen from start, without its end. The
// last line may lack one.
func (r *Events) line() (from, to int, err error) {
	scanned := 0
	for {
		if r.skipLF && r.pos < r.end {
			r.skipLF = false
			if r.buf[r.pos] == '\n' {
				r.pos++
			}
		}
		rest := r.buf[r.pos:r.end]
		if i := lineEnd(rest, scanned); i >= 0 {
			from = r.pos - r.start
			r.pos += i + 1
			switch {
			case rest[i] == '\n':
			case i+1 < len(rest) && rest[i+1] == '\n':
				r.pos++
			default:
				r.skipLF = i+1 == len(rest)
			}
			return from + r.mark(rest[:i]), from + i, nil
		}
		scanned = len(rest)
		if err := r.fill(); err != nil {
			if len(rest) == 0 || !errors.Is(err, io.EOF) {
				return 0, 0, err
			}
			from = r.pos - r.start
			r.pos = r.end
			return from + r.mark(rest), from + len(rest), nil
		}
	}
}

// lineEnd finds the first \r or \n at or after from, -1 if there is none.
func lineEnd(b []byte, from int) int {
	i := bytes.IndexByte(b[from:], '\n')
	if i < 0 {
		i = len(b) - from
	}
	if j := bytes.IndexByte(b[from:from+i], '\r'); j >= 0 {
		i = j
	}
	if from+i == len(b) {
		return -1
	}
	return from + i
}

// mark returns the length of a byte order mark at the stream's beginning.
func (r *Events) mark(line []byte) int {
	if r.begun {
		return 0
	}
	r.begun = true
	if bytes.HasPrefix(line, []byte("\ufeff")) {
		return len("\ufeff")
	}
	return 0
}

// fill reads once more, and enlarges the buffer if it is full.
func (r *Events) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.end == len(r.buf) {
		if r.start > 0 {
			r.end = copy(r.buf, r.buf[r.start:r.end])
			r.pos -= r.start
			r.start = 0
		}
		if r.end == len(r.buf) {
			if r.end >= MaxEvent {
				return ErrTooLong
			}
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
