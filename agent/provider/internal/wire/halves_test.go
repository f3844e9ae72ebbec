package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/shoal-dev/shoal/agent"
)

// event is one text as a server that escapes everything writes it.
func event(units []uint16) string {
	var b strings.Builder
	b.WriteString(`data: {"text":"`)
	for _, u := range units {
		fmt.Fprintf(&b, `\u%04x`, u)
	}
	b.WriteString("\"}\n\n")
	return b.String()
}

// texts reads a stream of such events as an adapter does, and returns what it emits.
func texts(t *testing.T, kind agent.ChunkKind, body io.Reader) string {
	t.Helper()
	var out strings.Builder
	c := New(acme, "m", Reach{APIKey: "k"})
	for chunk, err := range c.Call(t.Context(), func(x *Exchange) error {
		events := NewEvents(markHalves(io.NopCloser(body)))
		for {
			data, err := events.Next()
			if err == io.EOF { //nolint:errorlint // the very one
				x.Finish(agent.FinishStop)
				return nil
			}
			if err != nil {
				return err
			}
			var said struct{ Text string }
			if err := json.Unmarshal(data, &said); err != nil {
				return err
			}
			x.Emit(agent.Chunk{Kind: kind, Index: 1, Text: said.Text})
		}
	}) {
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(chunk.Text)
	}
	return out.String()
}

// A text is the same whatever its server's events cut in two, and wherever the network
// cuts those.
func TestTextsSurviveEverySplit(t *testing.T) {
	for _, want := range []string{"😀", "a😀b", "😀😀👩‍🚀", "ä\\u😀\"", "𝄞 and \ufdd0d83d", "plain"} {
		units := utf16.Encode([]rune(want))
		for cut := range len(units) + 1 {
			body := event(units[:cut]) + event(units[cut:])
			for name, read := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "the end with the data": iotest.DataErrReader,
			} {
				if got := texts(t, agent.ChunkText, read(strings.NewReader(body))); got != want && !strings.ContainsRune(want, mark) {
					t.Errorf("%q cut at %d, %s: %q", want, cut, name, got)
				}
				if got := texts(t, agent.ChunkCallDelta, read(strings.NewReader(body))); got != want && !strings.ContainsRune(want, mark) {
					t.Errorf("arguments %q cut at %d, %s: %q", want, cut, name, got)
				}
			}
		}
		var single strings.Builder
		for _, u := range units {
			single.WriteString(event([]uint16{u}))
		}
		if got := texts(t, agent.ChunkText, strings.NewReader(single.String())); got != want && !strings.ContainsRune(want, mark) {
			t.Errorf("%q in single units: %q", want, got)
		}
	}
}

// A half whose other half never comes is the replacement character, at its place.
func TestUnpairedSurrogatesAreReplaced(t *testing.T) {
	for body, want := range map[string]string{
		`{"text":"a\ud83d"}`:                               "a\ufffd",
		`{"text":"a\ud83db"}`:                              "a\ufffdb",
		`{"text":"\ude00a"}`:                               "\ufffda",
		`{"text":"\ud83d\ud83d\ude00"}`:                    "\ufffd😀",
		"{\"text\":\"\\ud83d\"}\n\ndata: {\"text\":\"b\"}": "\ufffdb",
		`{"text":"\\ud83d"}`:                               `\ud83d`,
		`{"text":"\\\ud83d\ude00"}`:                        `\😀`,
		`{"text":"\n\t\u00e4"}`:                            "\n\tä",
	} {
		if got := texts(t, agent.ChunkText, strings.NewReader("data: "+body+"\n\n")); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// Everything except unpaired halves passes through unchanged, byte for byte.
func FuzzMarkHalves(f *testing.F) {
	f.Add([]byte(`{"a":"\ud83d\ude00 \\ud83d \u00e4"}`), 3)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = 1 + (size&0xff)%17
		whole, err := io.ReadAll(markHalves(io.NopCloser(bytes.NewReader(in))))
		if err != nil {
			t.Fatal(err)
		}
		var parts []io.Reader
		for rest := in; len(rest) > 0; {
			n := min(size, len(rest))
			parts, rest = append(parts, bytes.NewReader(rest[:n])), rest[n:]
		}
		cut, err := io.ReadAll(markHalves(io.NopCloser(io.MultiReader(parts...))))
		if err != nil || !bytes.Equal(cut, whole) {
			t.Errorf("%q in pieces of %d is %q, at once %q, %v", in, size, cut, whole, err)
		}
		if back := bytes.ReplaceAll(whole, []byte(`\ufdd0`), []byte(`\u`)); !bytes.Contains(in, []byte(`\ufdd0`)) && !bytes.Equal(back, in) {
			t.Errorf("%q comes out as %q", in, whole)
		}
	})
}
