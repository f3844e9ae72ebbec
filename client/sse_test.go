package client

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// parsedFrame is a frame in a form that tests compare; none means no ID or no data.
type parsedFrame struct{ id, name, data string }

const none = "\xffnone"

// readAll reads a stream to its end.
func readAll(t *testing.T, in io.Reader, limit int) ([]parsedFrame, error) {
	t.Helper()
	events := newFrames(in, limit)
	var all []parsedFrame
	for {
		f, err := events.next()
		if err != nil {
			return all, err
		}
		id, data := none, none
		if f.id != nil {
			id = *f.id
		}
		if f.data != nil {
			data = string(f.data)
		}
		all = append(all, parsedFrame{id, f.name, data})
	}
}

func equal(a, b []parsedFrame) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []parsedFrame
	}{
		{"one", "id: 7\nevent: message.created\ndata: {}\n\n", []parsedFrame{{"7", "message.created", "{}"}}},
		{"any line end", "id: 7\rdata: a\r\n\ndata: b\r\n\r\n\rdata:c\n\r", []parsedFrame{{"7", "", "a"}, {none, "", "b"}, {none, "", "c"}}},
		{"CR and LF are one end", "id: 7\r\ndata: a\r\ndata: b\r\n\r\n", []parsedFrame{{"7", "", "a\nb"}}},
		{"many lines", "data: a\ndata\ndata:  b\ndata: \n\n", []parsedFrame{{none, "", "a\n\n b\n"}}},
		{"empty data", "data:\n\n", []parsedFrame{{none, "", ""}}},
		{"comments", ": hello\n\n:\ndata: a\n: b\n\n", []parsedFrame{{none, "", "a"}}},
		{"an id alone moves the cursor", "id: 8\n\n", []parsedFrame{{"8", "", none}}},
		{"an empty id forgets it", "id\ndata: a\n\n", []parsedFrame{{"", "", "a"}}},
		{"an id with a zero byte is ignored", "id: a\x00b\ndata: a\n\n", []parsedFrame{{none, "", "a"}}},
		{"a name alone is nothing", "event: a\n\ndata: b\n\n", []parsedFrame{{none, "", "b"}}},
		{"unknown fields", "retry: 7\nIDs: 1\n id: 2\ndata: a\n\n", []parsedFrame{{none, "", "a"}}},
		{"only the first line has a mark", "\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", []parsedFrame{{none, "", "a"}}},
		{"what is cut is nothing", "data: a\n\nid: 9\ndata: b\n", []parsedFrame{{none, "", "a"}}},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, in := range map[string]io.Reader{
				"at once":          strings.NewReader(c.stream),
				"byte by byte":     iotest.OneByteReader(strings.NewReader(c.stream)),
				"with the end":     iotest.DataErrReader(strings.NewReader(c.stream)),
				"half by half":     iotest.HalfReader(strings.NewReader(c.stream)),
				"with empty reads": &stutter{in: strings.NewReader(c.stream)},
			} {
				got, err := readAll(t, in, 1<<10)
				if !equal(got, c.want) || !errors.Is(err, io.EOF) {
					t.Errorf("%s: got %q, %v, want %q", how, got, err, c.want)
				}
			}
		})
	}
}

// stutter reads nothing every other time.
type stutter struct {
	in  io.Reader
	odd bool
}

func (s *stutter) Read(p []byte) (int, error) {
	if s.odd = !s.odd; s.odd {
		return 0, nil
	}
	return s.in.Read(p[:min(len(p), 3)])
}

// What nobody has memory for is refused before it is read whole.
func TestFramesAreBounded(t *testing.T) {
	for name, stream := range map[string]string{
		"one line":       "data: " + strings.Repeat("x", 2000),
		"many lines":     strings.Repeat("data: xxxxxxxx\n", 200),
		"an endless one": ":" + strings.Repeat("x", 2000),
	} {
		in := &counted{in: iotest.OneByteReader(strings.NewReader(stream))}
		if got, err := readAll(t, in, 1000); !errors.Is(err, errEventTooLarge) || len(got) > 0 || in.n > 2000 {
			t.Errorf("%s: got %q, %v after %d bytes", name, got, err, in.n)
		}
	}
	fits := strings.Repeat("data: "+strings.Repeat("x", 900)+"\n\n", 3)
	if got, err := readAll(t, strings.NewReader(fits), 1000); len(got) != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("three events below the limit: %d, %v", len(got), err)
	}
}

type counted struct {
	in io.Reader
	n  int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += n
	return n, err
}

// Events are the same however their bytes arrive, and the same as a reader finds
// that sees all of the stream at once.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("id: 7\nevent: e\ndata: a\ndata: b\n\n"), uint8(1))
	f.Add([]byte("\xef\xbb\xbfdata:a\r\n\r\n:c\rid:\x00\r\rdata\n\n"), uint8(2))
	f.Add([]byte("data: a\r\rdata: b\r\n\ndata: c"), uint8(3))
	f.Add([]byte("data:-\n\r\n0\r\n\r?????\x12\r"), uint8(4))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		want := reference(string(stream))
		for _, in := range []io.Reader{
			bytes.NewReader(stream),
			iotest.OneByteReader(bytes.NewReader(stream)),
			&chunks{stream, int(size)%7 + 1},
		} {
			if got, err := readAll(t, in, 1<<20); !equal(got, want) || !errors.Is(err, io.EOF) {
				t.Fatalf("stream %q: got %q, %v, want %q", stream, got, err, want)
			}
		}
	})
}

// chunks gives a stream in pieces of changing size.
type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest, c.size = c.rest[n:], c.size%13+1
	return n, nil
}

// reference is the plainest reader of an event stream.
func reference(stream string) (all []parsedFrame) {
	stream = strings.TrimPrefix(stream, "\xef\xbb\xbf")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	id, name, data := none, "", none
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if id != none || data != none {
				all = append(all, parsedFrame{id, name, data})
			}
			id, name, data = none, "", none
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "data" && data == none:
			data = value
		case field == "data":
			data += "\n" + value
		case field == "event":
			name = value
		case field == "id" && !strings.Contains(value, "\x00"):
			id = value
		}
	}
	return all
}

// Reading costs the same for each byte, however large the event and however
// small the pieces.
func BenchmarkFrames(b *testing.B) {
	for name, stream := range map[string]string{
		"small": strings.Repeat("id: 7\nevent: message.created\ndata: "+strings.Repeat("x", 300)+"\n\n", 1000),
		"large": "data: " + strings.Repeat("x", 330_000) + "\n\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				in := newFrames(strings.NewReader(stream), maxEvent)
				for {
					if _, err := in.next(); err != nil {
						break
					}
				}
			}
		})
	}
}
