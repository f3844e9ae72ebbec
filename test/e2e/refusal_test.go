package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

// refusal is how the server says no: the status of HTTP, the code of the
// protocol, and a sentence.
type refusal struct {
	status   int
	code     string
	sentence string
}

// Two eras of MCP.
const (
	sessionEra = "2025-11-25"
	modernEra  = "2026-07-28"
)

// market is the world in which wrong requests are made: the session "market"
// with the spaces open, done (closed) and hidden (without the writer), and the
// session "elsewhere" with a writer and a space of its own.
type market struct {
	*server
	keys    map[string]string // by what is special about them
	session string            // the writer's MCP session
	clients map[string]agent  // the writer, on several SDKs
}

const (
	home  shoal.SessionID = "market"
	there shoal.SessionID = "elsewhere"
)

func openMarket(t *testing.T) *market {
	t.Helper()
	m := &market{server: serve(t, t.TempDir()), keys: map[string]string{}, clients: map[string]agent{}}
	soon := shoal.At(time.Now().Add(2 * time.Second))
	m.newSession(t, home)
	m.newSession(t, there)
	m.mint(t, "writer", shoal.NewKey{Role: shoal.RoleEntity, SessionID: home, EntityID: writer})
	m.mint(t, "analyzer", shoal.NewKey{Role: shoal.RoleEntity, SessionID: home, EntityID: analyzer})
	m.mint(t, "foreign", shoal.NewKey{Role: shoal.RoleEntity, SessionID: there, EntityID: writer})
	m.mint(t, "service", shoal.NewKey{Role: shoal.RoleService, SessionID: home})
	m.mint(t, "expired", shoal.NewKey{Role: shoal.RoleEntity, SessionID: home, EntityID: writer, ExpiresAt: &soon})
	revoked := m.mint(t, "revoked", shoal.NewKey{Role: shoal.RoleEntity, SessionID: home, EntityID: writer})
	m.rest(t, http.MethodDelete, "/v1/keys/"+string(revoked), nil, nil)
	m.keys["unknown"] = "shoal_" + strings.Repeat("A", 43)

	as := func(key string) http.Header { return http.Header{"Authorization": {"Bearer " + m.keys[key]}} }
	spaces := "/v1/sessions/" + string(home) + "/spaces"
	both := []shoal.EntityID{analyzer}
	m.restAs(t, as("writer"), http.MethodPost, spaces, shoal.NewSpace{ID: "open", Name: "Open", Members: both}, nil)
	m.restAs(t, as("writer"), http.MethodPost, spaces, shoal.NewSpace{ID: "done", Name: "Done", Members: both}, nil)
	m.restAs(t, as("analyzer"), http.MethodPost, spaces, shoal.NewSpace{ID: "hidden", Name: "Hidden"}, nil)
	m.restAs(t, as("foreign"), http.MethodPost, "/v1/sessions/"+string(there)+"/spaces", shoal.NewSpace{ID: "abroad", Name: "Abroad"}, nil)
	m.restAs(t, as("writer"), http.MethodPost, spaces+"/done/close", args{"summary": "over"}, nil)
	header := as("writer")
	header.Set("Idempotency-Key", "used")
	m.restAs(t, header, http.MethodPost, spaces+"/open/messages", args{"text": "first"}, nil)

	m.session = m.initialize(t, "writer")
	for _, c := range []client{ts1HTTP, ts2Modern, goSSE} {
		m.clients[c.name] = c.connect(t, m.server, writer, m.keys["writer"])
	}
	select {
	case <-time.After(time.Until(soon.Time)):
	case <-t.Context().Done():
	}
	return m
}

func (m *market) mint(t *testing.T, name string, n shoal.NewKey) shoal.KeyID {
	t.Helper()
	var made shoal.Key
	m.rest(t, http.MethodPost, "/v1/keys", n, &made)
	m.keys[name] = *made.Secret
	return made.ID
}

// initialize opens an MCP session of the older era.
func (m *market) initialize(t *testing.T, key string) string {
	t.Helper()
	header := http.Header{
		"Authorization": {"Bearer " + m.keys[key]}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + sessionEra + `","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	res := request(t, http.MethodPost, m.url+"/mcp", header, strings.NewReader(body))
	if res.status != http.StatusOK || res.header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("initialize answers %d %v %s", res.status, res.header, res.body)
	}
	return res.header.Get("Mcp-Session-Id")
}

// edit changes the headers of a request. A name without a value is taken away.
type edit struct{ name, value string }

// asking returns the headers of a request with the writer's key, edited.
func (m *market) asking(header http.Header, edits []edit) http.Header {
	header.Set("Authorization", "Bearer "+m.keys["writer"])
	header.Set("Content-Type", "application/json")
	for _, e := range edits {
		switch {
		case e.name == "key":
			header.Set("Authorization", "Bearer "+m.keys[e.value])
		case e.value == "":
			header.Del(e.name)
		default:
			header.Set(e.name, e.value)
		}
	}
	return header
}

// asks is one way to make a wrong request. It returns what came back for each
// client or era that it was made by.
type asks func(t *testing.T, m *market) map[string]refusal

// rest makes a request to the REST API; a path that starts with a dot is below the
// session.
func rest(method, path, body string, edits ...edit) asks {
	return func(t *testing.T, m *market) map[string]refusal {
		t.Helper()
		if below, ok := strings.CutPrefix(path, "."); ok {
			path = "/v1/sessions/" + string(home) + below
		}
		path := strings.ReplaceAll(path, "WRITER", m.keys["writer"])
		res := request(t, method, m.url+path, m.asking(http.Header{}, edits), strings.NewReader(body))
		var problem struct {
			Type, Title, Detail, Code string
			Status                    int
		}
		if err := json.Unmarshal(res.body, &problem); err != nil {
			t.Errorf("REST answers %d %s", res.status, res.body)
		}
		if res.header.Get("Content-Type") != "application/problem+json" || problem.Status != res.status || problem.Title == "" || problem.Type == "" {
			t.Errorf("REST answers %d with no problem document: %v %s", res.status, res.header, res.body)
		}
		return map[string]refusal{"REST": {res.status, problem.Code, problem.Detail}}
	}
}

// rpc posts a body unchanged to the MCP endpoint in both eras.
func rpc(body string, edits ...edit) asks {
	return func(t *testing.T, m *market) map[string]refusal {
		t.Helper()
		return map[string]refusal{
			sessionEra: m.rpc(t, http.MethodPost, sessionEra, body, edits),
			modernEra:  m.rpc(t, http.MethodPost, modernEra, body, edits),
		}
	}
}

// rpcIn makes a request to the MCP endpoint in one era.
func rpcIn(era, method, body string, edits ...edit) asks {
	return func(t *testing.T, m *market) map[string]refusal {
		t.Helper()
		return map[string]refusal{era: m.rpc(t, method, era, body, edits)}
	}
}

func (m *market) rpc(t *testing.T, method, era, body string, edits []edit) refusal {
	t.Helper()
	header := http.Header{"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {era}}
	path := "/mcp"
	if era == modernEra {
		header.Set("Mcp-Method", "tools/call")
		header.Set("Mcp-Name", "send_message")
	} else {
		header.Set("Mcp-Session-Id", m.session)
	}
	edits = slices.Clone(edits)
	for i, e := range edits {
		if e.name == "query" {
			path, edits[i].value = path+"?"+strings.ReplaceAll(e.value, "WRITER", m.keys["writer"]), ""
		}
	}
	res := request(t, method, m.url+path, m.asking(header, edits), strings.NewReader(body))
	var answer struct {
		Error *struct {
			Code    int
			Message string
		}
		Result json.RawMessage
	}
	text := res.body
	if _, data, isStream := strings.Cut(string(text), "data: "); isStream {
		text = []byte(data)
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Error == nil {
		return refusal{res.status, "", string(res.body)}
	}
	return refusal{res.status, fmt.Sprint(answer.Error.Code), answer.Error.Message}
}

// tool makes a call through every SDK.
func tool(name string, in args) asks {
	return func(t *testing.T, m *market) map[string]refusal {
		t.Helper()
		told := map[string]refusal{}
		for client, a := range m.clients {
			text := refused(t, a, name, in)
			code, sentence, _ := strings.Cut(text, ": ")
			told[client] = refusal{code: code, sentence: sentence}
		}
		return told
	}
}

// internals are words that mean something inside the server only.
var internals = regexp.MustCompile(`(?i)goroutine|panic|\.go:\d|sqlite|sql:|\bjson: |unmarshal|\bhub\.|httpapi|mcpapi|guard\.|0x[0-9a-f]{6,}|/shoal\.db`)

// Whatever is wrong with a request, the answer has the contract's code and says
// in a sentence what is wrong, and nothing has changed.
func TestWrongRequestsAreRefused(t *testing.T) {
	t.Parallel()
	m := openMarket(t)
	before := m.dump(t)
	for _, row := range slices.Concat(wrongBytes, wrongCallers, wrongREST, wrongMCP, wrongTools) {
		t.Run(row.name, func(t *testing.T) {
			for by, got := range row.asks(t, m) {
				want := row.want
				if got.status != want.status || got.code != want.code || !strings.Contains(got.sentence, want.sentence) {
					t.Errorf("%s: answered %d %q %.300q, want %d %q …%s…", by, got.status, got.code, got.sentence, want.status, want.code, want.sentence)
				}
				if len(strings.Fields(got.sentence)) < 3 || internals.MatchString(got.sentence) {
					t.Errorf("%s: %.300q is not a sentence for people", by, got.sentence)
				}
				for name, key := range m.keys {
					if strings.Contains(got.sentence, key) {
						t.Errorf("%s: the answer contains the key %q", by, name)
					}
				}
			}
			if diff := cmp.Diff(before, m.dump(t)); diff != "" {
				t.Errorf("the refused request has changed something (-before +after):\n%s", diff)
				before = m.dump(t)
			}
		})
	}
	// The world that was asked is alive, and nobody was mistaken for another.
	for name, a := range m.clients {
		var me shoal.Entity
		if do(t, a, "register_agent", nil, &me); me.ID != writer || me.SessionID != home {
			t.Errorf("after all this %s is %+v", name, me)
		}
	}
	m.stop()
}
