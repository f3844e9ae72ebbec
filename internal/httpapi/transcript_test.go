package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The transcripts in testdata show on the wire how clients and the server talk.
// A file named "WHO METHOD PATH [EVENTS]" is a call: header lines, then the
// body. The file after it, named by a status, is the answer; of a stream, its
// first EVENTS events. What differs from run to run is replaced by a name, such
// as msg_#1 for the first message, which later calls may use. WHO is admin, an
// entity of the session default, whose key is created on first use, or nobody,
// without a key. `go test -run Transcripts -update` writes the answers anew.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no transcript: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p := &play{world: newWorld(t), keys: map[string]string{"nobody": ""}, names: map[string]string{}, seen: map[string]int{}}
			p.keys["admin"] = p.admin
			for i := 0; i+1 < len(archive.Files); i += 2 {
				call, answer := archive.Files[i], &archive.Files[i+1]
				status, text := p.call(call)
				if *update {
					answer.Name, answer.Data = status, []byte(text)
				}
				if answer.Name != status || string(answer.Data) != text {
					t.Fatalf("%s\nanswers %s\n%s\nwant %s\n%s", call.Name, status, text, answer.Name, answer.Data)
				}
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// play is a transcript on its way.
type play struct {
	*world
	keys  map[string]string // by who
	names map[string]string // the id that a name replaces
	seen  map[string]int    // how many names of a kind there are
}

// call makes a call and returns its status and answer in the form of a
// transcript.
func (p *play) call(file txtar.File) (status, text string) {
	p.Helper()
	words := strings.Fields(file.Name)
	if _, known := p.keys[words[0]]; !known {
		p.keys[words[0]] = p.entity("default", words[0])
	}
	var headers []string
	body := p.real(string(file.Data))
	for !strings.HasPrefix(body, "{") && body != "" {
		line, rest, _ := strings.Cut(body, "\n")
		name, value, _ := strings.Cut(line, ": ")
		headers, body = append(headers, name, value), rest
	}
	var in any
	if body != "" {
		in = body
	}
	headers = append(headers, "X-Request-Id", "req_1") // problems repeat it
	if len(words) == 4 {
		return "200", p.stream(words, headers)
	}
	a := p.do(p.keys[words[0]], words[1], p.real(words[2]), in, headers...)
	if len(a.body) == 0 {
		return strconv.Itoa(a.status), ""
	}
	var out bytes.Buffer
	p.must(json.Indent(&out, a.body, "", "  "))
	return strconv.Itoa(a.status), p.named(out.String()) + "\n"
}

// stream takes the first events of a stream as they are on the wire.
func (p *play) stream(words, headers []string) string {
	p.Helper()
	n, err := strconv.Atoi(words[3])
	p.must(err)
	res, err := http.DefaultClient.Do(p.request(p.Context(), p.keys[words[0]], words[1], p.real(words[2]), nil, headers...))
	p.must(err)
	defer res.Body.Close()
	var out bytes.Buffer
	for bytes.Count(out.Bytes(), []byte("\n\n")) < n+1 { // retry: comes before the events
		if _, err := io.CopyN(&out, res.Body, 1); err != nil {
			p.Fatalf("the stream ends after %s", out.String())
		}
	}
	return p.named(out.String())
}

var (
	variable = regexp.MustCompile(`\b(ses_|spc_|msg_|key_|run_|pnd_|pln_|fil_)[0-9a-z]{22}\b|\bshoal_[\w-]{43}\b|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|` +
		`"(?:cursor|nextCursor)": ?"([^"]+)"|(?m)^id: (.+)$`)
	placeholder = regexp.MustCompile(`\b(ses_|spc_|msg_|key_|run_|pnd_|pln_|fil_|cursor_)#\d+`)
)

// named replaces what differs from run to run by names.
func (p *play) named(text string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		groups := variable.FindStringSubmatch(found)
		value, kind := found, groups[1]
		switch {
		case groups[2] != "":
			value, kind = groups[2], "cursor_"
		case groups[3] != "":
			value, kind = groups[3], "cursor_"
		case strings.HasPrefix(found, "shoal_"):
			return "SECRET"
		case kind == "":
			return "TIME"
		}
		for name, is := range p.names {
			if is == value {
				return strings.Replace(found, value, name, 1)
			}
		}
		p.seen[kind]++
		name := fmt.Sprint(kind, "#", p.seen[kind])
		p.names[name] = value
		return strings.Replace(found, value, name, 1)
	})
}

// real replaces names by the ids that they replace.
func (p *play) real(text string) string {
	p.Helper()
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		if p.names[name] == "" {
			p.Fatalf("nothing was called %s yet", name)
		}
		return p.names[name]
	})
}
