package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// door is a real server with a guard. Its handler answers with the body that
// it got and counts how often it was reached.
type door struct {
	*httptest.Server
	t       *testing.T
	reached chan *http.Request
}

func newDoor(t *testing.T, opts Options, start func(http.Handler) *httptest.Server) *door {
	t.Helper()
	if opts.MCPPaths == nil {
		opts.MCPPaths = []string{"/mcp", "/sse"}
	}
	g, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t, reached: make(chan *http.Request, 100)}
	d.Server = start(g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.reached <- r
		known := Body(r)
		read, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Equal(known, read) || !bytes.Equal(Body(r), read) || int64(len(read)) != r.ContentLength {
			t.Errorf("Body(r) = %q, r.Body reads %q, %v, r.ContentLength = %d: they must agree", known, read, err, r.ContentLength)
		}
		_, _ = w.Write(read)
	})))
	t.Cleanup(d.Close)
	return d
}

// answer is what a client got, and what it could read of a refusal.
type answer struct {
	status  int
	header  http.Header
	body    string
	Code    string
	Detail  string
	Version string `json:"jsonrpc"`
	Error   struct {
		Code    int
		Message string
	}
}

// send sends one request; the headers are pairs of name and value.
func (d *door) send(method, path, body string, headers ...string) answer {
	d.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.URL+path, reader)
	if err != nil {
		d.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := d.Client().Do(req)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatalf("%s %s: reading the answer: %v", method, path, err)
	}
	return readAnswer(d.t, resp, text)
}

func readAnswer(t *testing.T, resp *http.Response, text []byte) answer {
	t.Helper()
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(text)}
	if resp.StatusCode >= 400 && len(text) > 0 { // the answer to a HEAD has none
		if err := json.Unmarshal(text, &a); err != nil {
			t.Fatalf("the refusal %q is not JSON: %v", text, err)
		}
	}
	return a
}

// wantRefusal checks that a REST request was refused with this status, code and
// words, and did not reach the handler.
func (d *door) wantRefusal(a answer, status int, code shoal.Kind, says string) {
	d.t.Helper()
	if a.status != status || a.Code != string(code) || !strings.Contains(a.Detail, says) ||
		a.header.Get("Content-Type") != "application/problem+json" {
		d.t.Errorf("the answer is %d %s %s, want a problem %d %s that says %q", a.status, a.header.Get("Content-Type"), a.body, status, code, says)
	}
	d.wantUntouched()
}

// wantRPCRefusal is wantRefusal for MCP.
func (d *door) wantRPCRefusal(a answer, status, code int, says string) {
	d.t.Helper()
	if a.status != status || a.Error.Code != code || a.Version != "2.0" || !strings.Contains(a.Error.Message, says) ||
		!strings.Contains(a.body, `"id":null`) || a.header.Get("Content-Type") != "application/json" {
		d.t.Errorf("the answer is %d %s %s, want a JSON-RPC error %d with status %d that says %q",
			a.status, a.header.Get("Content-Type"), a.body, code, status, says)
	}
	d.wantUntouched()
}

func (d *door) wantUntouched() {
	d.t.Helper()
	select {
	case r := <-d.reached:
		d.t.Errorf("%s %s reached the handler", r.Method, r.URL)
	default:
	}
}

// wantPassed checks that a request reached the handler with this body.
func (d *door) wantPassed(a answer, body string) *http.Request {
	d.t.Helper()
	if a.status != http.StatusOK || a.body != body {
		d.t.Errorf("the answer is %d %.200q, want 200 %.200q", a.status, a.body, body)
	}
	select {
	case r := <-d.reached:
		return r
	default:
		d.t.Fatal("the request did not reach the handler")
		return nil
	}
}

const jsonType = "application/json"

// What the guard lets through arrives whole, and can be had without reading.
func TestPassesWholeBodies(t *testing.T) {
	for name, start := range map[string]func(http.Handler) *httptest.Server{
		"HTTP/1.1": httptest.NewServer,
		"HTTP/2": func(h http.Handler) *httptest.Server {
			server := httptest.NewUnstartedServer(h)
			server.EnableHTTP2 = true
			server.StartTLS()
			return server
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, Options{}, start)
			for _, size := range []int{2, 100, 511, 512, 513, 64<<10 - 1, 64 << 10, 64<<10 + 1, MaxBody - 1, MaxBody} {
				body := `"` + strings.Repeat("x", size-2) + `"`
				if r := d.wantPassed(d.send("POST", "/v1/x", body, "Content-Type", jsonType), body); r.Proto[:6] != name[:6] {
					t.Fatalf("the request came by %s", r.Proto)
				}
			}
			body := `"` + strings.Repeat("x", MaxMCPBody-2) + `"`
			d.wantPassed(d.send("POST", "/mcp", body, "Content-Type", jsonType), body)
			if r := d.wantPassed(d.send("GET", "/v1/x", ""), ""); Body(r) != nil {
				t.Errorf("Body of a request without a body is %q, want nil", Body(r))
			}
			d.wantPassed(d.send("POST", "/v1/x/cancel", ""), "")
			d.wantPassed(d.send("POST", "/v1/x/cancel", "", "Content-Type", jsonType), "")
			d.wantPassed(d.send("DELETE", "/mcp", ""), "")
			d.wantPassed(d.send("GET", "/sse", ""), "")
		})
	}
}

// A body of unknown length is held to the limit while it is read.
func TestChunkedBodies(t *testing.T) {
	d := newDoor(t, Options{}, httptest.NewServer)
	post := func(body string) answer {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+"/v1/x", io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", jsonType)
		resp, err := d.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return readAnswer(t, resp, text)
	}
	d.wantPassed(post(""), "")
	d.wantPassed(post(`{"a":1}`), `{"a":1}`)
	most := `"` + strings.Repeat("x", MaxBody-2) + `"`
	d.wantPassed(post(most), most)
	d.wantRefusal(post(most+" "), 413, shoal.TooLarge, "more than the 1048576 bytes")
}

func TestRefusesBodies(t *testing.T) {
	d := newDoor(t, Options{}, httptest.NewServer)
	for _, tt := range []struct {
		name, body string
		status     int
		code       shoal.Kind
		rpcCode    int
		says       string
	}{
		{"5 MiB", `"` + strings.Repeat("x", 5<<20) + `"`, 413, shoal.TooLarge, -32600, "The body has more than the %d bytes that are allowed here. Send less at once."},
		{"16,000 nested arrays", nested(16_000), 400, shoal.InvalidJSON, -32700, "The JSON is wrong at byte 64: it is nested deeper than 64 levels; send it flatter."},
		{"a key twice", `{"a":1,"a":2}`, 400, shoal.InvalidJSON, -32700, `The JSON is wrong at byte 7: the key "a" appears a second time in its object; send each key once.`},
		{"not UTF-8", "{\"a\":\"\xff\"}", 400, shoal.InvalidJSON, -32700, "The JSON is wrong at byte 6: this byte is not UTF-8; encode the text as UTF-8."},
		{"trailing data", `{} {}`, 400, shoal.InvalidJSON, -32700, "The JSON is wrong at byte 3: something follows the end of the value; send one value and nothing after it."},
		{"cut off", `{"a":`, 400, shoal.InvalidJSON, -32700, "The JSON is wrong at byte 5: the text ends where a value is expected; send it whole."},
		{"white space", ` `, 400, shoal.InvalidJSON, -32700, "the text ends where a value is expected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
				says := strings.ReplaceAll(tt.says, "%d", fmt.Sprint(MaxBody))
				d.wantRefusal(d.send(method, "/v1/x", tt.body, "Content-Type", jsonType), tt.status, tt.code, says)
			}
			says := string(tt.code) + ": " + strings.ReplaceAll(tt.says, "%d", fmt.Sprint(MaxMCPBody))
			if tt.name == "white space" {
				says = tt.says
			}
			d.wantRPCRefusal(d.send("POST", "/mcp", tt.body, "Content-Type", jsonType), tt.status, tt.rpcCode, says)
		})
	}
	d.wantRPCRefusal(d.send("POST", "/mcp", "", "Content-Type", jsonType), 400, -32700, "at byte 0: the text ends")
}

// What a client announces costs no memory before it arrives.
func TestReadsIntoSmallMemory(t *testing.T) {
	for _, tt := range []struct{ announced, sent, most int64 }{
		{2, 2, 64}, {-1, 2, 512}, {MaxMCPBody, 2, 64 << 10}, {MaxMCPBody, MaxMCPBody, 2 * MaxMCPBody},
	} {
		r := &http.Request{ContentLength: tt.announced, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", int(tt.sent))))}
		memory := body{bodies: bodies{limit.NewBytes(0, 8<<20)}}
		data, err := memory.readAll(r, MaxMCPBody)
		if memory.held != memory.Count() || memory.held < int64(cap(data)) {
			t.Errorf("of %d announced bytes: %d are held, of them %d known, for %d", tt.announced, memory.Count(), memory.held, cap(data))
		}
		if memory.release(); memory.Count() != 0 {
			t.Errorf("of %d announced bytes %d are held at the end", tt.announced, memory.Count())
		}
		if err != nil || int64(len(data)) != tt.sent || int64(cap(data)) > tt.most {
			t.Errorf("of %d announced bytes %d came: readAll holds %d in %d, %v, want at most %d", tt.announced, tt.sent, len(data), cap(data), err, tt.most)
		}
	}
}

// A client that sends all before it reads anything still gets its answer.
func TestHearsOutTooLargeBodies(t *testing.T) {
	d := newDoor(t, Options{}, httptest.NewServer)
	for name, head := range map[string]string{
		"too large":    "Content-Type: application/json\r\nContent-Length: 8388608\r\n",
		"wrong type":   "Content-Type: text/plain\r\nContent-Length: 8388608\r\n",
		"wrong origin": "Origin: https://evil.example\r\nContent-Length: 8388608\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, d.Server)
			if _, err := io.WriteString(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\n"+head+"\r\n"+strings.Repeat("x", maxHeard)); err != nil {
				t.Fatalf("sending: %v", err)
			}
			if status := readStatus(t, conn); status < 400 {
				t.Errorf("the status is %d, want a refusal", status)
			}
			d.wantUntouched()
		})
	}
}

// A client that asks first is refused before it sends anything.
func TestAnswersBeforeTheBodyToWhoAsks(t *testing.T) {
	d := newDoor(t, Options{}, httptest.NewServer)
	conn := dial(t, d.Server)
	if _, err := io.WriteString(conn, "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"+
		"Content-Type: application/json\r\nContent-Length: 5242880\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if status := readStatus(t, conn); status != 413 {
		t.Errorf("the status is %d, want 413", status)
	}
	d.wantUntouched()
}

func TestMediaTypes(t *testing.T) {
	d := newDoor(t, Options{Accept: func(r *http.Request) []string {
		if r.URL.Path == "/v1/agents/a" {
			return []string{"application/yaml"}
		}
		return nil
	}}, httptest.NewServer)
	for _, contentType := range []string{
		"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=UTF-8", "application/merge-patch+json",
	} {
		for _, path := range []string{"/v1/x", "/mcp", "/v1/agents/a"} {
			d.wantPassed(d.send("PATCH", path, `{}`, "Content-Type", contentType), `{}`)
		}
		d.wantRefusal(d.send("PUT", "/v1/x", `{`, "Content-Type", contentType), 400, shoal.InvalidJSON, "the text ends")
	}
	for _, contentType := range []string{
		"", "text/plain", "text/plain; application/json", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/yaml", "application/jsonl", "application/json, text/plain", "image/svg+json", "application/json;;", "*/*",
	} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
			d.wantRefusal(d.send(method, "/v1/x", `{}`, "Content-Type", contentType), 415, shoal.UnsupportedMediaType, "Send application/json.")
		}
		d.wantRPCRefusal(d.send("POST", "/mcp", `{}`, "Content-Type", contentType), 415, -32600, "unsupported_media_type: The body has")
	}
	d.wantRPCRefusal(d.send("POST", "/mcp", ""), 415, -32600, "The body has no Content-Type. Send application/json.")

	d.wantPassed(d.send("PUT", "/v1/agents/a", "a: 1\na: 2\n", "Content-Type", "application/yaml"), "a: 1\na: 2\n")
	d.wantRefusal(d.send("PUT", "/v1/agents/a", "a: 1", "Content-Type", "text/plain"), 415, shoal.UnsupportedMediaType, "Send application/json or application/yaml.")
	d.wantRefusal(d.send("PUT", "/v1/agents/a", strings.Repeat("x", MaxBody+1), "Content-Type", "application/yaml"), 413, shoal.TooLarge, "1048576")
}

func TestContentCodings(t *testing.T) {
	d := newDoor(t, Options{}, httptest.NewServer)
	for _, coding := range []string{"", "identity", "Identity"} {
		d.wantPassed(d.send("POST", "/v1/x", `{}`, "Content-Type", jsonType, "Content-Encoding", coding), `{}`)
	}
	for _, coding := range []string{"gzip", "br", "identity, gzip", "gzip, identity"} {
		a := d.send("POST", "/v1/x", `{}`, "Content-Type", jsonType, "Content-Encoding", coding)
		d.wantRefusal(a, 415, shoal.UnsupportedMediaType, "without Content-Encoding")
		if got := a.header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("the answer to %s accepts %q, want identity", coding, got)
		}
		d.wantRPCRefusal(d.send("POST", "/mcp", `{}`, "Content-Type", jsonType, "Content-Encoding", coding), 415, -32600, "without Content-Encoding")
	}
	d.wantRefusal(d.send("POST", "/v1/x", `{}`, "Content-Type", jsonType, "Content-Encoding", "identity", "Content-Encoding", "deflate"),
		415, shoal.UnsupportedMediaType, "deflate")
}

func TestMCPPaths(t *testing.T) {
	d := newDoor(t, Options{MCPPaths: []string{"/mcp", "/sse/"}}, httptest.NewServer)
	for _, path := range []string{"/mcp", "/mcp/", "/mcp/x/y", "/mcp?agent=a", "/sse", "/sse/message"} {
		d.wantRPCRefusal(d.send("POST", path, `{`, "Content-Type", jsonType), 400, -32700, "at byte 1")
	}
	for _, path := range []string{"/", "/mcpx", "/v1/mcp", "/ss", "/v1/x?p=/mcp"} {
		d.wantRefusal(d.send("POST", path, `{`, "Content-Type", jsonType), 400, shoal.InvalidJSON, "at byte 1")
	}
}

// Waits end when their client goes away: nothing of the request is left unread,
// so the server notices.
func TestContextEndsWithTheClient(t *testing.T) {
	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	waiting, ended := make(chan bool), make(chan bool)
	server := httptest.NewServer(g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		waiting <- true
		<-r.Context().Done()
		ended <- true
	})))
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/wait", strings.NewReader(`{"timeoutMs":600000}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", jsonType)
	left := make(chan error)
	go func() {
		resp, err := server.Client().Do(req)
		if err == nil {
			resp.Body.Close()
		}
		left <- err
	}()
	<-waiting
	leave()
	<-ended
	if err := <-left; err == nil {
		t.Error("the call that was left has an answer")
	}
}

// A ResponseWriter without a read deadline would let slow senders stay.
func TestWrapPanicsWithoutReadDeadline(t *testing.T) {
	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a request with a body was served without a deadline")
		}
	}()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/v1/x", strings.NewReader(`{}`))
	r.Header.Set("Content-Type", jsonType)
	g.Wrap(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
}

func dial(t *testing.T, server *httptest.Server) net.Conn {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
