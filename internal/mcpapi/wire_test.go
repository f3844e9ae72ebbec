package mcpapi_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the server answers into testdata/wire")

// Transcripts of what goes over the wire. Each file is a conversation of ann's
// with a fresh server: a request (headers, an empty line, the body) and what
// answers it. What differs from run to run is replaced, and of tools/list only
// one tool is shown whole.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			if strings.HasSuffix(name, "remote.txtar") {
				w.host("ann")
			}
			w.space("shop", "ann", "bob")
			w.say("bob", "shop", "What were the final Q4 sales figures?", "ann")
			scrub := scrubber{}
			for i := 0; i+1 < len(a.Files); i += 2 {
				got := w.exchange(string(a.Files[i].Data), scrub)
				if *update {
					a.Files[i+1].Data = []byte(got)
				} else if want := string(a.Files[i+1].Data); got != want {
					t.Errorf("%s:\n%s\nwant:\n%s", a.Files[i].Name, got, want)
				}
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// exchange sends one request of a transcript and writes down the answer.
func (w *world) exchange(request string, scrub scrubber) string {
	w.t.Helper()
	head, body, _ := strings.Cut("\n"+request, "\n\n")
	var header []string
	for line := range strings.Lines(head + "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			header = append(header, name, strings.ReplaceAll(value, "SESSION", scrub["session"]))
		}
	}
	status, h, text, err := w.post(w.t.Context(), w.key("ann"), scrub.original(strings.TrimSpace(body)), header...)
	if err != nil {
		w.t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d\n", status)
	for _, name := range []string{"Content-Type", "Cache-Control", "Mcp-Session-Id"} {
		if value := h.Get(name); value != "" {
			if name == "Mcp-Session-Id" {
				scrub["session"], value = value, "SESSION"
			}
			fmt.Fprintf(&out, "%s: %s\n", name, value)
		}
	}
	out.WriteString("\n")
	if !strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") {
		out.WriteString(scrub.pretty(text))
		return out.String()
	}
	for line := range strings.Lines(text) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			out.WriteString("data: " + scrub.pretty(data))
		} else {
			out.WriteString(line)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// scrubber replaces what differs from run to run by names that do not.
type scrubber map[string]string

var (
	generated = regexp.MustCompile(`(msg|spc|req|run)_[0-9a-z]{22}`)
	replaced  = regexp.MustCompile(`\b(msg|spc|req|run)_\d+\b`)
	timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	cursors   = regexp.MustCompile(`p:[0-9a-f]{16}:`)
)

// original puts the ids that an earlier answer had back into a request.
func (s scrubber) original(text string) string {
	ids := map[string]string{}
	for id, name := range s {
		ids[name] = id
	}
	return replaced.ReplaceAllStringFunc(text, func(name string) string { return cmp.Or(ids[name], name) })
}

func (s scrubber) pretty(text string) string {
	text = generated.ReplaceAllStringFunc(text, func(id string) string {
		if s[id] == "" {
			s[id] = fmt.Sprintf("%s%d", id[:4], len(s)+1)
		}
		return s[id]
	})
	text = timestamp.ReplaceAllString(text, "2026-11-20T10:00:00.000Z")
	text = cursors.ReplaceAllString(text, "p:0:")
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	abridge(v)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.String()
}

// abridge leaves of a list of tools but their names, and one whole.
func abridge(v any) {
	answer, _ := v.(map[string]any)
	result, _ := answer["result"].(map[string]any)
	tools, _ := result["tools"].([]any)
	for i, each := range tools {
		if tool := each.(map[string]any); tool["name"] != "send_message" {
			tools[i] = map[string]any{"name": tool["name"]}
		} else {
			delete(tool, "outputSchema")
		}
	}
}
