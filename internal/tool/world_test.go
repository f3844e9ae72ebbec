package tool_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/tool"
)

// effect is one request as the tool server received it.
type effect struct {
	method, host, path, query, body string
	header                          http.Header
}

// toolServer is a real HTTP server that records its effects.
type toolServer struct {
	*httptest.Server
	mu     sync.Mutex
	ledger []effect
}

// serve starts a server at an address of the loopback network, such as
// 127.0.0.2:0.
func serve(t testing.TB, address string, answer http.HandlerFunc) *toolServer {
	t.Helper()
	s := &toolServer{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the tool server cannot read a body: %v", err)
		}
		s.mu.Lock()
		s.ledger = append(s.ledger, effect{r.Method, r.Host, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header.Clone()})
		s.mu.Unlock()
		answer(w, r)
	})
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// effects returns the requests since the last call.
func (s *toolServer) effects() []effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.ledger
	s.ledger = nil
	return seen
}

func (s *toolServer) port() string {
	u, _ := url.Parse(s.URL) // it comes from httptest
	return u.Port()
}

func ok(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"ok":true}`)
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func network(t testing.TB, o tool.NetworkOptions) *tool.Network {
	t.Helper()
	n, err := tool.NewNetwork(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

var environment = map[string]string{"KB": "s3cr3t/value&more", "BASE": "", "LINES": "a\r\nb"}

func options(t testing.TB) tool.Options {
	return tool.Options{
		Network: network(t, tool.NetworkOptions{Private: loopback}),
		Env:     func(name string) (string, bool) { v, ok := environment[name]; return v, ok },
	}
}

// config decodes an agent config with the given YAML after "tools:".
func config(t testing.TB, tools string) *agentconfig.Config {
	t.Helper()
	c, err := agentconfig.Decode([]byte("version: '1.0'\nagent: {id: a, system: s}\nmodel: {provider: script, name: m}\ntools:\n"+tools),
		agentconfig.Options{Env: []string{"KB", "BASE", "LINES", "MISSING"}})
	if err != nil {
		t.Fatalf("%s\n%v", tools, err)
	}
	return c
}

// singleTool creates the only tool of a config.
func singleTool(t testing.TB, o tool.Options, tools string) *tool.Tool {
	t.Helper()
	all, err := tool.All(config(t, tools), o)
	if err != nil || len(all) != 1 {
		t.Fatalf("%s\n%d tools, %v", tools, len(all), err)
	}
	return all[0]
}

// run calls a tool and returns its output with its text as a value.
func run(t testing.TB, tl *tool.Tool, arguments string) (agent.Output, map[string]any) {
	t.Helper()
	out, err := tl.Call(t.Context(), agent.ToolCall{ID: "call-1", Name: tl.Spec().Name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	var v map[string]any
	_ = json.Unmarshal([]byte(out.Text), &v) // a failed result may be a sentence
	return out, v
}

func request(url, more string) string {
	if !strings.Contains(more, "method:") {
		more = "method: GET, " + more
	}
	return "  - {name: call, executionType: request, execution: {url: '" + url + "', " + more + "}}\n"
}

func locations(err error) []string {
	var e *shoal.Error
	if !errors.As(err, &e) {
		return nil
	}
	var all []string
	for _, f := range e.Fields {
		all = append(all, f.Location)
	}
	return all
}
