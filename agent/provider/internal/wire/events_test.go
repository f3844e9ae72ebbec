package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// events reads a stream to its end; each event is written as its data, with a
// mark for what the reader says about it.
func events(src io.Reader) (got []string, err error) {
	r := NewEvents(src)
	for {
		data, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if errors.Is(err, ErrNoEvent) {
			rest, err := r.Rest()
			return append(got, "?"+string(rest)), err
		}
		if err != nil {
			return got, err
		}
		mark := ""
		if r.IsError {
			mark += "!"
		}
		if r.Cut {
			mark += "~"
		}
		got = append(got, mark+string(data))
	}
}

func TestEvents(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                     nil,
		"\n\n\n":                               nil,
		"data: a\n\n":                          {"a"},
		"data:a\n\n":                           {"a"},
		"data:  a\n\n":                         {" a"},
		"data: a":                              {"~a"},
		"data: a\n":                            {"~a"},
		"data: a\r\rdata: b\r\r":               {"a", "b"},
		"data: a\r\n\r\ndata: b\r\n\r\n":       {"a", "b"},
		"data: a\n\r\ndata: b\r\n\n":           {"a", "b"},
		"data: a\ndata: b\ndata:\n\n":          {"a\nb\n"},
		"data: a\r\ndata: b\r\n\r\n":           {"a\nb"},
		"data\n\n":                             {""},
		"data: a\n: note\nid: 1\ndata: b\n\n":  {"a\nb"},
		": note\n\nretry: 10\n\ndata: a\n\n":   {"a"},
		"event: error\ndata: a\n\ndata: b\n\n": {"!a", "b"},
		"event: error\n\ndata: b\n\n":          {"b"},
		"data: a\nevent:error\n\n":             {"!a"},
		"dat: a\ndatas: b\n data: c\n\n":       nil,
		"\ufeffdata: a\n\n\ufeffdata: b\n\n":   {"a"},
		"data: a:b: c\n\n":                     {"a:b: c"},
		"data: a\n\n\n\n\ndata: b\n\n\n":       {"a", "b"},
		"\r\n  {\"a\":\r1}\n\n":                {"?  {\"a\":\r1}\n\n"},
		"data: a\n\n: b\nevent: c\n[1,\r\n2]":  {"a", "?[1,\r\n2]"},
		"\ufeff{\r\r\ndata: a\n\n":             {"?{\r\r\ndata: a\n\n"},
		"data: a\n{\n\n {":                     {"a", "? {"},
	} {
		for name, src := range map[string]io.Reader{
			"whole": strings.NewReader(in),
			"bytes": iotest.OneByteReader(strings.NewReader(in)),
			"err":   iotest.DataErrReader(strings.NewReader(in)),
		} {
			got, err := events(src)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %s: got %q %v, want %q", in, name, got, err, want)
			}
		}
	}
}

// An event is at hand as soon as its blank line is, even if that ends with \r
// and a \n may follow.
func TestEventsAreFlushedImmediately(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	go func() { _, _ = out.Write([]byte("data: a\r\r")) }()
	if data, err := NewEvents(in).Next(); err != nil || string(data) != "a" {
		t.Errorf("got %q %v", data, err)
	}
}

func TestEventsAreBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), repeat("x"))
	if _, err := events(endless); !errors.Is(err, ErrTooLong) {
		t.Errorf("one line without an end: %v", err)
	}
	if _, err := events(repeat("data: x\n")); !errors.Is(err, ErrTooLong) {
		t.Errorf("lines without an end: %v", err)
	}
	big := strings.Repeat("x", MaxEvent/2)
	got, err := events(strings.NewReader("data: " + big + "\n\ndata: " + big + "\n\n"))
	if err != nil || len(got) != 2 || got[1] != big {
		t.Errorf("%d large events: %v", len(got), err)
	}
	broken := errors.New("broken")
	if got, err := events(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken))); !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("got %q %v", got, err)
	}
	if _, err := events(stuck{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a source that gives nothing: %v", err)
	}
	if _, err := NewEvents(repeat("{")).Rest(); !errors.Is(err, ErrTooLong) {
		t.Errorf("an answer without an end: %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// repeat reads as s without end.
type repeat string

func (s repeat) Read(p []byte) (int, error) {
	n := 0
	for n+len(s) <= len(p) {
		n += copy(p[n:], s)
	}
	if n == 0 {
		return 0, fmt.Errorf("no room for %q", string(s))
	}
	return n, nil
}

// plainEvents reads a stream the long way round: all line ends made one, then
// line by line.
func plainEvents(in string) (got []string) {
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	in = strings.TrimPrefix(in, "\ufeff")
	var data []string
	mark := ""
	for _, line := range strings.Split(in, "\n") {
		if line == "" {
			if data != nil {
				got = append(got, mark+strings.Join(data, "\n"))
			}
			data, mark = nil, ""
			continue
		}
		if json := strings.TrimLeft(line, " \t"); data == nil && json != "" && strings.ContainsRune("{[", rune(json[0])) {
			return append(got, "?") // what follows was cut from the lines
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			mark = ""
			if value == "error" {
				mark = "!"
			}
		}
	}
	if data != nil {
		got = append(got, mark+strings.Join(data, "\n"))
	}
	return got
}

func FuzzEvents(f *testing.F) {
	f.Add("event: error\r\ndata: a\rdata:b\n\n: c\n\ndata", uint8(3))
	f.Add("\ufeffdata: {\"a\":1}\r\n\r\ndata: [DONE]\r\n\r\n", uint8(1))
	f.Add("data: a\r\n\rdata: b", uint8(9))
	f.Fuzz(func(t *testing.T, in string, size uint8) {
		want := plainEvents(in)
		got, err := events(&pieces{strings.NewReader(in), int(size) + 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if rest, ok := strings.CutPrefix(got[i], "?"); ok && i == len(got)-1 && strings.HasSuffix(in, rest) && len(want) > i && want[i] == "?" {
				got[i] = "?"
			}
			// The long way round does not see where the stream was cut.
			got[i] = strings.Replace(got[i], "!~", "!", 1)
		}
		if n := len(got); n > 0 && len(want) == n && got[n-1] == "~"+want[n-1] {
			got[n-1] = want[n-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	})
}

// pieces gives at most size bytes at once.
type pieces struct {
	src  io.Reader
	size int
}

func (p *pieces) Read(b []byte) (int, error) { return p.src.Read(b[:min(len(b), p.size)]) }
