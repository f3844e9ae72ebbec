package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// vendors are the models, played by aimock.
var vendors = sync.OnceValues(func() (string, error) {
	const dir = "../models"
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@copilotkit", "aimock")); err != nil {
		return "", fmt.Errorf("%w; run `make setup`", err)
	}
	cmd := exec.Command("node", "hosted.mjs") // ends with its input, which ends with this process
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	var err error
	if vendorsLive, err = cmd.StdinPipe(); err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return "", fmt.Errorf("hosted.mjs did not say where it is: %w", err)
	}
	var said struct{ URL string }
	return said.URL, json.Unmarshal(line, &said)
})

// vendorsLive is the other end of aimock's input; aimock lives as long as it.
var vendorsLive io.WriteCloser

// wire is a way to speak to a model.
type wire struct {
	provider, api string
	suffix        string // of the base URL
	whole         bool   // arguments are not streamed
}

var wires = []wire{
	{provider: "openai", api: "chat", suffix: "/v1"},
	{provider: "openai", api: "responses", suffix: "/v1"},
	{provider: "anthropic", api: "default"},
	{provider: "google", api: "default", whole: true},
}

// model is what a config says to have a play over the wire.
func (w wire) model(t *testing.T, play string) map[string]any {
	t.Helper()
	url, err := vendors()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"provider": w.provider, "api": w.api, "name": play, "baseURL": url + w.suffix}
}

// inventory is a server that agents ask; it keeps what it was asked.
type inventory struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newInventory(t *testing.T) *inventory {
	in := &inventory{}
	in.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		in.mu.Lock()
		in.asked = append(in.asked, fmt.Sprintf("%s %s %v %s %v", r.Method, r.URL, r.Header, body, err))
		in.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"stock":7}`) // a client that disconnected needs no answer
	}))
	t.Cleanup(in.Close)
	return in
}

// bearer is what a caller with a key sends.
func bearer(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// human creates the key of a human in the session.
func (s *server) human(t *testing.T, session shoal.SessionID, id shoal.EntityID) http.Header {
	t.Helper()
	var made shoal.Key
	s.rest(t, http.MethodPost, "/v1/keys", shoal.NewKey{Role: shoal.RoleEntity, SessionID: session, EntityID: id, Kind: shoal.Human}, &made)
	return bearer(*made.Secret)
}

// run returns the run once it is in one of the states.
func (s *server) run(t *testing.T, path string, states ...shoal.RunStatus) shoal.Run {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	deadline := time.After(patience)
	for {
		var run shoal.Run
		s.rest(t, http.MethodGet, path, nil, &run)
		for _, state := range states {
			if run.Status == state {
				return run
			}
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("the run is %s (%+v) and was not %v within %v", run.Status, run.Error, states, patience)
		}
	}
}

func object(properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
}

// shopAgent is the seed's agent.
func shopAgent(model map[string]any, inventory string) map[string]any {
	return map[string]any{
		"version": "1.0",
		"agent":   map[string]any{"id": "shop-agent", "name": "Shop Agent", "system": "You sell laptops."},
		"model":   model,
		"tools": []any{
			map[string]any{
				"name": "showProductCard", "displayTool": true, "display": map[string]any{"customUI": "ProductCard"},
				"inputSchema": object(`"name":{"type":"string"},"price":{"type":"number"}`),
			},
			map[string]any{
				"name": "showApprovalForm", "displayTool": true,
				"inputSchema": object(`"amount":{"type":"number"},"description":{"type":"string"}`),
			},
			map[string]any{
				"name": "searchInventory", "displayTool": true, "executionType": "request",
				"execution":   map[string]any{"url": inventory + "/search?q={{query}}", "method": "POST"},
				"inputSchema": object(`"query":{"type":"string"}`),
			},
		},
	}
}

// The seed's shopping run (004), over every wire and on both databases: one message in the customer's
// space, whose parts come in the order in which the model wrote them and grow
// while it writes; an approval in another space, by an entity that is only there;
// and neither the inventory's server nor anybody's stream sees where it all went.
func TestShopping(t *testing.T) {
	for i, w := range append(wires, wires[0]) {
		name, flags := w.provider+" "+w.api, []string{"--allow-private", "127.0.0.0/8"}
		if i == len(wires) {
			name, flags = name+" on PostgreSQL", append(flags, "--database", postgrestest.Database(t))
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stock := newInventory(t)
			s := serve(t, t.TempDir(), flags...)
			const base = "/v1/sessions/lab"
			s.newSession(t, "lab")
			ann, bob, eve := s.human(t, "lab", "ann"), s.human(t, "lab", "bob"), s.human(t, "lab", "eve")
			s.rest(t, http.MethodPut, base+"/agents/shop-agent", shopAgent(w.model(t, "shopping"), stock.URL), nil)
			for space, members := range map[shoal.SpaceID][]shoal.EntityID{
				"shop": {"ann", "shop-agent"}, "finance": {"bob", "shop-agent"}, "ops": {"shop-agent"},
			} {
				s.rest(t, http.MethodPost, base+"/spaces", shoal.NewSpace{ID: space, Name: string(space), Members: members}, nil)
			}

			events, _ := s.follow(t, ann, base+"/spaces/shop/events", "")
			read := newReader(t)
			next(t, events, shoal.EventSnapshot, read.see)
			s.restAs(t, ann, http.MethodPost, base+"/spaces/shop/messages", map[string]any{"text": "I need a laptop"}, nil)
			waiting := next(t, events, shoal.EventRunWaitingTool, read.see).data.Run
			run := base + "/runs/" + string(waiting.ID)
			if calls := waiting.PendingToolCalls; len(calls) != 2 || calls[0].ToolCallID != "call_mac" || calls[1].ToolCallID != "call_dell" {
				t.Fatalf("the run waits for %+v", calls)
			}
			for i, part := range read.order[:1] {
				if streamed := read.deltas[part] > 1; streamed == w.whole {
					t.Errorf("part %d came in %d deltas", i, read.deltas[part])
				}
			}

			// A reload in the middle shows the message so far.
			message := func(space string) shoal.Message {
				t.Helper()
				var page struct{ Items []shoal.Message }
				s.rest(t, http.MethodGet, base+"/spaces/"+space+"/messages", nil, &page)
				return page.Items[len(page.Items)-1]
			}
			so := message("shop")
			if so.Status != shoal.MessageStreaming || len(so.Parts) != 4 || so.Parts[1].Status != shoal.PartRequiresAction {
				t.Errorf("in the middle the message is %+v", so)
			}

			// One card is chosen; a second choice, and a choice by an outsider, change nothing.
			choose := func(who http.Header, call, result string) response {
				t.Helper()
				body := fmt.Sprintf(`{"callId":%q,"result":%s}`, call, result)
				header := who.Clone()
				header.Set("Content-Type", "application/json")
				return request(t, http.MethodPost, s.url+run+"/tool-results", header, strings.NewReader(body))
			}
			for _, try := range []struct {
				who          http.Header
				call, result string
				status       int
			}{
				{eve, "call_mac", `{"selected":false}`, http.StatusNotFound},
				{bob, "call_mac", `{"selected":false}`, http.StatusNotFound},
				{ann, "call_none", `{}`, http.StatusNotFound},
				{ann, "call_mac", `{"selected":true}`, http.StatusOK},
				{ann, "call_mac", `{"selected":true}`, http.StatusOK},
				{ann, "call_mac", `{"selected":false}`, http.StatusConflict},
			} {
				if got := choose(try.who, try.call, try.result); got.status != try.status {
					t.Errorf("%s answered with %s: %d, want %d: %s", try.call, try.result, got.status, try.status, got.body)
				}
			}
			forms, _ := s.follow(t, bob, base+"/spaces/finance/events", "")
			form := newReader(t)
			next(t, forms, shoal.EventSnapshot, form.see)
			if got := choose(ann, "call_dell", `{"selected":false}`); got.status != http.StatusOK {
				t.Fatalf("the second card: %d %s", got.status, got.body)
			}

			// The approval shows in finance, to an entity that is in no other space.
			asked := next(t, forms, shoal.EventRunWaitingTool, form.see).data.Run.PendingToolCalls
			if len(asked) != 1 || asked[0].ToolName != "showApprovalForm" || string(asked[0].Args) != `{"amount":1299,"description":"MacBook Pro"}` {
				t.Fatalf("finance is asked %+v", asked)
			}
			answer := base + "/pending-actions/" + string(asked[0].PendingActionID) + "/answer"
			s.restAs(t, bob, http.MethodPost, answer, map[string]any{"result": map[string]any{"approved": true}}, nil)
			next(t, events, shoal.EventRunCompleted, read.see)
			read.agrees()
			form.agrees()

			final := message("shop")
			want := []string{
				"text done Here are some laptops: ☂ 😀 — both in stock.",
				`tool_call done showProductCard {"name":"MacBook Pro","price":1299} {"selected":true} ann`,
				`tool_call done showProductCard {"name":"Dell XPS 15","price":1199} {"selected":false} ann`,
				"text done Want me to add any to your cart?",
				"text done Budget approved by finance!",
			}
			if got := shown(final); strings.Join(got, "\n") != strings.Join(want, "\n") || final.Status != shoal.MessageCompleted {
				t.Errorf("the message (%s) is\n%s\nwant\n%s", final.Status, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if got := shown(message("finance")); len(got) != 1 ||
				got[0] != `tool_call done showApprovalForm {"amount":1299,"description":"MacBook Pro"} {"approved":true} bob` {
				t.Errorf("finance sees %q", got)
			}
			if got := shown(message("ops")); len(got) != 1 || !strings.HasPrefix(got[0], `tool_call done searchInventory {"query":"laptop"} {"success":true,"status":200`) {
				t.Errorf("ops sees %q", got)
			}
			if len(stock.asked) != 1 || !strings.Contains(stock.asked[0], `{"query":"laptop"}`) || strings.Contains(stock.asked[0], "target") {
				t.Errorf("the inventory was asked %q", stock.asked)
			}
			ended := s.run(t, run, shoal.RunCompleted)
			if ended.Steps != 4 || ended.Usage.OutputTokens == 0 {
				t.Errorf("the run is %+v", ended)
			}
		})
	}
}

// shown is what a reader sees of a message, a line for each part.
func shown(m shoal.Message) (lines []string) {
	for _, p := range m.Parts {
		switch p.Type {
		case shoal.TextPart:
			lines = append(lines, fmt.Sprintf("%s %s %s", p.Type, p.Status, p.Text))
		default:
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s %s", p.Type, p.Status, p.ToolName, p.Args, p.Result, p.AnsweredBy)))
		}
	}
	return lines
}
