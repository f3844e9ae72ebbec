package agui_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

var update = flag.Bool("update", false, "write the transcripts of testdata/wire anew")

// painting is an app with a tool and something to say about what it shows.
func painting(shows string, more map[string]any) map[string]any {
	run := map[string]any{
		"tools": []map[string]any{{
			"name": "paint", "description": "Paints the page.",
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"color": map[string]any{"type": "string"}}, "required": []string{"color"}},
		}},
		"context": []map[string]any{{"description": "What the page shows", "value": shows}},
	}
	for name, value := range more {
		run[name] = value
	}
	return run
}

// painter calls the app's tool and says how it went.
const painter = `
call paint {"color":"red"}
---
when paint ok
call sendSpaceMessage {"spaceId":"%[1]s","text":"Painted."}
else
call sendSpaceMessage {"spaceId":"%[1]s","text":"I cannot paint."}
---
say over`

// ignored writes which parts of the input had no effect.
func (got *report) ignored() (all []string) {
	for _, e := range got.Custom {
		if value, ok := e.Value.(map[string]any); ok && e.Name == "ignored" {
			all = append(all, fmt.Sprint(value["what"]))
		}
	}
	return all
}

// prompt returns the prompt of the newest run of an agent: the system text and its input.
func (s *server) prompt(agent shoal.EntityID) string {
	s.t.Helper()
	runs, err := s.Hub.Runs.List(s.t.Context(), person, shoal.DefaultSession, storage.RunFilter{Agent: agent, Limit: 1})
	if err != nil || len(runs) != 1 {
		s.t.Fatalf("%s has the runs %+v, %v", agent, runs, err)
	}
	sent, err := s.Hub.Runs.Request(s.t.Context(), person, shoal.DefaultSession, runs[0].ID, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	text := sent.System
	for _, m := range sent.Messages {
		for _, c := range m.Content {
			text += c.Text
		}
	}
	return text
}

// The agent of a space calls a tool of the front end, which executes it and goes on; the
// context is in the prompt.
func TestHostedFrontendTool(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("studio", "[]", fmt.Sprintf(painter, "studio"))
	c := s.client("studio", "operator")
	app := painting("A <white> page", nil)
	got := c.say("u1", "Paint it.", app)
	begin := "user Paint it.\nassistant paint{\"color\":\"red\"}\n"
	got.hosted(t, "success", begin)
	if len(got.Pending) != 1 || len(got.ignored()) > 0 {
		t.Fatalf("pending is %q, ignored %q", got.Pending, got.ignored())
	}
	if prompt := s.prompt("bot-studio"); !strings.Contains(prompt, `<context description="What the page shows">A &lt;white&gt; page</context>`) {
		t.Errorf("the prompt is %s", prompt)
	}
	next := got.answers(t, "done")
	next.Run = app
	got = c.run(next)
	got.hosted(t, "success", begin+"tool done\nassistant Painted.\n")
	if len(got.ignored()) > 0 || len(got.Pending) > 0 {
		t.Errorf("pending is %q, ignored %q", got.Pending, got.ignored())
	}
}

// What has no effect is named: state, properties, tools that the agent has itself, and
// what comes too late for a run.
func TestHostedInputWithoutEffectIsNamed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("own", `[{"name":"paint","execution":{"mode":"static","output":{"by":"agent"}}}]`, fmt.Sprintf(painter, "own"))
	got := s.client("own", "operator").say("u1", "Paint it.", painting("white", map[string]any{"forwardedProps": map[string]any{"mentions": []string{}, "zoom": 2, "a": 1}}))
	got.hosted(t, "success", "user Paint it.\nassistant Painted.\n")
	if all := got.ignored(); !slices.Equal(all, []string{"forwardedProps.a", "forwardedProps.zoom", "tools[0]"}) {
		t.Errorf("ignored are %q", all)
	}

	s.host("late", "[]", fmt.Sprintf(painter, "late"))
	c := s.client("late", "operator")
	got = c.say("u1", "Paint it.", painting("white", nil))
	next := got.answers(t, "done")
	next.Run = painting("red", nil) // the page has changed
	got = c.run(next)
	if all := got.ignored(); got.Outcome != "success" || !slices.Equal(all, []string{"context"}) {
		t.Errorf("it ends as %s, ignored are %q", got.Outcome, all)
	}
}

var madeID = regexp.MustCompile(`\b(run|trn|msg|prt|pnd|req)_[A-Za-z0-9]+`)

// cut finds two pieces of one text, which may be cut anywhere.
var cut = regexp.MustCompile(`(data: \{"type":"TEXT_MESSAGE_CONTENT","messageId":"[^"]+","delta":"[^"]*)"\}\n\ndata: \{"type":"TEXT_MESSAGE_CONTENT","messageId":"[^"]+","delta":"`)

// The wire, byte by byte but for the ids that the server makes and for where texts are
// cut: each request of a transcript gets the answer that is written below it.
func TestWire(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host("studio", "[]", fmt.Sprintf(painter, "studio"))
	file := filepath.Join("testdata", "wire", "frontend.txtar")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script := txtar.Parse(text)
	names := map[string]string{} // of ids
	made := map[string]string{}  // by name
	for i := 0; i+1 < len(script.Files); i += 2 {
		request, want := script.Files[i], &script.Files[i+1]
		body := string(request.Data)
		for name, id := range made {
			body = strings.ReplaceAll(body, name, id)
		}
		got := madeID.ReplaceAllStringFunc(s.wire(body), func(id string) string {
			if names[id] == "" {
				kind, _, _ := strings.Cut(id, "_")
				names[id] = fmt.Sprintf("%s-%d", strings.ToUpper(kind), len(names)+1)
				made[names[id]] = id
			}
			return names[id]
		})
		for cut.MatchString(got) {
			got = cut.ReplaceAllString(got, "$1")
		}
		if *update {
			want.Data = []byte(got)
		} else if got != string(want.Data) {
			t.Errorf("%s is answered by\n%s\nnot by\n%s", request.Name, got, want.Data)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(script.Files) < 6 || bytes.Contains(script.Files[1].Data, []byte("RUN_ERROR")) {
		t.Errorf("the transcript has %d files", len(script.Files))
	}
}

// wire returns the answer to a run of the protocol in the space studio.
func (s *server) wire(body string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL()+"/agui/default/studio", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("X-Shoal-Entity", "operator")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it is read
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%d\nContent-Type: %s\n\n%s\n", res.StatusCode, res.Header.Get("Content-Type"), strings.TrimSpace(string(answer)))
}
