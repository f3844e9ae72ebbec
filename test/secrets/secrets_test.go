package secrets_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const base = "/v1/sessions/default"

// unkind is a server that repeats the request in its error responses, as some do. It
// reports each call.
func unkind(t *testing.T) (address string, called chan string) {
	t.Helper()
	called = make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // may be incomplete
		select {
		case called <- r.URL.Path:
		default:
		}
		rw.Header().Set("X-Echo", fmt.Sprint(r.Header))
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(rw, `{"error":{"message":%q,"type":"invalid_request_error","code":"invalid_api_key"}}`, fmt.Sprintf("Incorrect key provided: %v %s", r.Header, body))
	}))
	t.Cleanup(server.Close)
	return server.URL, called
}

// planted is a world in which every kind of secret has been used correctly and
// incorrectly, over every interface.
func planted(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	at, called := unkind(t)
	env := []string{
		"OPENAI_API_KEY=" + w.plant("key of OpenAI", "sk-proj-canary0openai0canary0openai0canary"),
		"ANTHROPIC_API_KEY=" + w.plant("key of Anthropic", "canary-anthropic-0123456789"),
		"GEMINI_API_KEY=" + w.plant("key of Google", "canary google/0123456789+x"),
		"MCP_KEY=" + w.plant("secret of an MCP server", "canary-mcp-server-0123456789"),
		"TOOL_KEY=" + w.plant("${env.X} of a tool", "canary\"tool\"0123456789"),
	}
	greeting := w.start(env...)
	if strings.Contains(greeting, "#login=") {
		t.Errorf("the server prints a sign-in link without a terminal:\n%s", greeting)
	}
	file, err := os.ReadFile(filepath.Join(w.data, "admin.key"))
	w.must(err)
	admin := w.plant("admin key", strings.TrimSpace(string(file)))
	link := into[struct{ URL string }](w, w.quiet(admin, "POST", "/console/links", ""), 201)
	code := w.plant("code of the console", regexp.MustCompile(`#login=(\S+)`).FindStringSubmatch(link.URL)[1])
	mint := func(what, body string) string {
		return w.plant(what, into[struct{ Key string }](w, w.quiet(admin, "POST", "/v1/keys", body), 201).Key)
	}
	bot := mint("entity key", `{"role":"entity","entityId":"bot"}`)
	service := mint("service key", `{"role":"service","sessionId":"default"}`)
	stray := mint("key in wrong places", `{"role":"entity","entityId":"stray"}`)

	w.browser(code)
	w.agents(admin, at, called)
	stop := w.follow(admin, base+"/events")
	defer stop()
	w.interfaces(admin, bot, service, stray)
	return w
}

// browser signs in with the code of the link, twice, and with valid and invalid keys.
func (w *world) browser(code string) {
	w.Helper()
	origin := []string{"Origin", w.url, "Sec-Fetch-Site", "same-origin"}
	in := w.quiet("", "POST", "/console/login", `{"code":"`+code+`"}`, origin...)
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	name, value, _ := strings.Cut(cookie, "=")
	w.plant("cookie", value)
	half := w.plant("half of a sign-in", into[struct{ SignIn string }](w, in, 200).SignIn)
	kept := append([]string{"Cookie", name + "=" + value, "X-Shoal-Sign-In", half}, origin...)
	if a := w.ask("", "GET", base+"/spaces", "", kept...); a.status != 200 {
		w.Fatalf("the cookie does not work: %d %s", a.status, a.body)
	}
	w.ask("", "POST", "/console/login", `{"code":"`+code+`"}`, origin...)                   // used already
	w.ask("", "GET", "/console/"+code, "")                                                  // the code in a path
	w.ask("", "GET", base+"/spaces?login="+code, "", kept...)                               // and in a query
	w.ask("", "GET", base+"/spaces", "", "Cookie", name+"="+value)                          // a foreign page
	w.ask("", "POST", "/console/login", `{"key":"`+value+`","more":1}`, origin...)          // a body that fails
	w.ask("", "POST", "/console/login", `{"key":"wrong-`+value+`"}`, origin...)             // a key that does not work
	w.ask("", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, kept...)          // an interface without cookies
	w.ask("", "POST", base+"/spaces", `{"name":"x`, append(kept, "X-Request-Id", value)...) // invalid JSON
}

// agents creates hosted agents whose vendor, tool and MCP server return errors that repeat
// the request, and waits until each was called.
func (w *world) agents(admin, at string, called chan string) {
	w.Helper()
	put := func(id, config string) {
		if a := w.ask(admin, "PUT", base+"/agents/"+id, config); a.status != 200 && a.status != 201 {
			w.Fatalf("the agent %s: %d %s", id, a.status, a.body)
		}
	}
	model := func(provider string) string {
		return fmt.Sprintf(`{"version":"1.0","agent":{"system":"x"},"model":{"provider":%q,"name":"m","baseURL":%q}}`, provider, at+map[string]string{"openai": "/v1"}[provider])
	}
	put("openai-agent", model("openai"))
	put("anthropic-agent", model("anthropic"))
	put("google-agent", model("google"))
	put("tool-agent", fmt.Sprintf(`{"version":"1.0","agent":{"system":"x"},
		"model":{"provider":"script","name":"s","providerOptions":{"script":"call fetch {\"a\":1}\n---\nsay done"}},
		"tools":[{"name":"fetch","executionType":"request","inputSchema":{"type":"object"},"execution":{"url":%q,"method":"GET",
			"headers":{"X-Api-Key":"${env.TOOL_KEY}"},"queryParams":{"q":"${env.TOOL_KEY}"}}}],
		"mcp":{"servers":[{"name":"kb","url":%q,"headers":{"Authorization":"Bearer ${env.MCP_KEY}"}}]}}`, at+"/tool", at+"/kb"))
	runs := map[string]string{}
	for _, id := range []string{"openai-agent", "anthropic-agent", "google-agent", "tool-agent"} {
		a := w.ask(admin, "POST", base+"/agents/"+id+"/trigger", `{"serviceName":"test","payload":{}}`)
		runs[id] = into[struct{ RunID string }](w, a, 202).RunID
	}
	asked := map[string]bool{}
	for len(asked) < 4 { // two vendors by their paths, the tool, the MCP server
		select {
		case path := <-called:
			asked[strings.Split(strings.Trim(path, "/"), "/")[0]] = true
		case <-time.After(patience):
			w.Fatalf("only %v were called", asked)
		}
	}
	for id, run := range runs {
		for deadline := time.Now().Add(patience); ; {
			state := into[struct{ Status string }](w, w.ask(admin, "GET", base+"/runs/"+run, ""), 200).Status
			if state == "failed" || state == "completed" {
				break
			}
			if time.Now().After(deadline) {
				w.Fatalf("the run of %s is %s", id, state)
			}
		}
		stop := w.follow(admin, base+"/runs/"+run+"/events")
		w.ask(admin, "GET", base+"/runs/"+run+"/steps", "")
		w.ask(admin, "GET", base+"/runs/"+run+"/steps/0/request", "")
		stop()
		w.ask(admin, "GET", base+"/agents/"+id, "")
	}
}

// interfaces makes correct and incorrect calls of every interface, and puts keys in wrong
// places.
func (w *world) interfaces(admin, bot, service, stray string) {
	w.Helper()
	rpc := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	for _, key := range []string{admin, bot, service, stray, "wrong-" + admin, ""} {
		for _, path := range []string{
			"/v1/sessions", "/v1/keys", base + "/spaces", base + "/entities", base + "/agents", base + "/runs", base + "/usage", base + "/pending-actions",
			base + "/search?q=canary", "/metrics", "/docs", "/v1/openapi.json", "/healthz", "/readyz", "/nowhere", "/", base + "/export",
		} {
			w.ask(key, "GET", path, "")
		}
		w.ask(key, "POST", base+"/spaces", `{"id":"room","name":"room"}`)
		w.ask(key, "POST", base+"/spaces/room/messages", `{"text":"hello"}`, "Idempotency-Key", "once")
		w.ask(key, "POST", base+"/entities/bot/wait", `{"kind":"messages","timeoutMs":0}`)
		w.ask(key, "POST", "/mcp", rpc("tools/call", `{"name":"list_threads","arguments":{}}`))
		w.ask(key, "POST", "/mcp", rpc("tools/list", `{}`))
		w.ask(key, "POST", "/mcp", rpc("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
		w.ask(key, "GET", "/mcp", "")
		w.ask(key, "POST", "/sse?sessionid=none", rpc("ping", `{}`))
		w.ask(key, "POST", "/agui/default/room", `{}`)
		w.ask(key, "POST", "/v1/keys", `{"role":"nothing"}`)
	}
	// A key in a wrong place, in calls that fail because of it.
	for _, key := range []string{bot, admin, ""} {
		w.ask(key, "GET", "/v1/"+stray+"/x", "")
		w.ask(key, "GET", "/"+stray, "")
		w.ask(key, "GET", base+"/spaces?key="+stray+"&limit=x", "")
		w.ask(key, "GET", base+"/spaces", "", "X-Request-Id", stray)
		w.ask(key, "GET", base+"/spaces", "", "User-Agent", stray, "Referer", "http://x/"+stray)
		w.ask(key, "POST", base+"/spaces", `{"name":"x","token":"`+stray+`"}`)
		w.ask(key, "POST", base+"/spaces", `{"name":"`+stray)
		w.ask(key, "POST", "/mcp", rpc("tools/call", `{"name":"list_threads","arguments":{"token":"`+stray+`"}}`))
		w.ask(key, "POST", "/mcp", rpc("tools/call", `{"name":"wait_for_mentions","arguments":{"ack":"`+stray+`","timeoutMs":0}}`))
		w.ask(key, "POST", "/mcp?key="+stray, rpc("nothing", `{}`))
		w.ask(key, "GET", "/sse?sessionid="+stray, "", "Accept", "application/json", "Mcp-Session-Id", stray, "Origin", "http://evil.example")
		w.ask(key, "POST", "/agui/default/room", `{"threadId":"x","token":"`+stray+`"}`)
	}
	w.ask("", "GET", base+"/spaces", "", "Authorization", stray) // without its scheme
	w.ask("", "GET", base+"/spaces", "", "Authorization", "Basic "+stray)
	res, err := http.Get(w.metrics) //nolint:noctx // the address of a moment ago
	w.must(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	w.must(err)
	w.note("metrics", text)
	if !strings.Contains(string(text), "shoal_rest_calls_total{") {
		w.Errorf("the metrics are\n%s", text)
	}
}

// A server never discloses a secret, also after errors and crashes.
func TestNoSecretIsDisclosed(t *testing.T) {
	w := planted(t)
	if len(w.secrets) < 11 {
		t.Fatalf("only %d secrets are planted", len(w.secrets))
	}
	for _, where := range []string{"the log", "answers", "streams", "metrics"} {
		if w.seen[where] == nil || w.seen[where].Len() < 1000 {
			t.Errorf("no output recorded from %s", where)
		}
	}
	w.report("while it runs")
	w.stop(syscall.SIGQUIT) // exits like after a panic, with all stacks
	w.report("after a crash")
	w.start()
	w.stop(syscall.SIGKILL)
	w.start()
	w.stop(syscall.SIGTERM)
	w.report("after restarts")
}

func (w *world) report(when string) {
	w.Helper()
	for _, hit := range w.found() {
		w.Errorf("%s: %s", when, hit)
	}
}

// The password of the database is never printed, also if the database is unavailable.
func TestDatabasePasswordIsNotDisclosed(t *testing.T) {
	w := newWorld(t)
	password := w.plant("password of the database", "canary0password0123456789")
	for _, address := range []string{"postgres://shoal:%s@127.0.0.1:1/shoal?sslmode=disable", "postgres://127.0.0.1:1/shoal?user=shoal&password=%s", "postgres://shoal:%s@127.0.0.1:x/shoal"} {
		for _, args := range [][]string{{"serve"}, {"serve", "--print-config"}, {"serve", "--json"}, {"serve", "--print-config", "--json"}, {"doctor"}} {
			c := exec.CommandContext(t.Context(), shoalBinary.Path(), append(args, "--data", w.data)...)
			c.Env = append(os.Environ(), "SHOAL_DATABASE="+fmt.Sprintf(address, password), "SHOAL_ADDR=127.0.0.1:0", "SHOAL_LOG_LEVEL=debug", "HOME="+w.data)
			said, _ := c.CombinedOutput() // most of them fail, as expected
			if len(said) == 0 {
				t.Errorf("%q printed nothing", args)
			}
			w.note("what is said", said)
		}
	}
	w.report("")
}

// The search for secrets works: a disclosed secret is found in responses, in a stream and
// in the database, and so is a part of one.
func TestSearchFindsDisclosedSecrets(t *testing.T) {
	w := newWorld(t)
	w.start()
	file, err := os.ReadFile(filepath.Join(w.data, "admin.key"))
	w.must(err)
	admin := strings.TrimSpace(string(file))
	said := w.plant("control", "canary-that-is-said-aloud-0123456789")
	stop := w.follow(admin, base+"/spaces/welcome/events")
	a := w.ask(admin, "POST", base+"/spaces/welcome/messages", `{"text":"`+said+`"}`, "X-Shoal-Entity", "operator")
	if a.status != 201 {
		t.Fatalf("posting: %d %s", a.status, a.body)
	}
	seen := func(where string) bool {
		for _, hit := range w.found() {
			if strings.Contains(hit, "control in "+where) {
				return true
			}
		}
		return false
	}
	deadline := time.Now().Add(patience)
	for !seen("streams") && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	stop()
	w.note("the half", []byte("x"+said[len(said)/2:]))
	w.stop(syscall.SIGTERM)
	for _, where := range []string{"answers", "streams", "the file shoal.db", "the half"} {
		if !seen(where) {
			t.Errorf("the control secret was not found in %s", where)
		}
	}
}
