package tool_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/tool"
)

func TestRequestMatchesConfig(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	o := options(t)
	for _, c := range []struct {
		name, execution, input string
		want                   effect // without its headers
		header                 map[string]string
	}{
		{
			name: "GET sends no body", execution: request(server.URL+"/todos/{{id}}", ""), input: `{"id": 7, "more": "x"}`,
			want: effect{method: "GET", path: "/todos/7"}, header: map[string]string{"Content-Type": "", "User-Agent": "shoal"},
		},
		{
			name: "without a body the input is sent", execution: request(server.URL, "method: POST"), input: `{"b": 1.50, "a": "ä<"}`,
			want: effect{method: "POST", path: "/", body: `{"b":1.50,"a":"ä<"}`}, header: map[string]string{"Content-Type": "application/json", "Idempotency-Key": ""},
		},
		{
			name: "parts of a path are escaped", execution: request(server.URL+"/a/{{x}}/b?q={{x}}&r=1#{{x}}", ""), input: `{"x": "../b?c#d&e=f/ %"}`,
			want: effect{method: "GET", path: "/a/..%2Fb%3Fc%23d&e=f%2F%20%25/b", query: "q=..%2Fb%3Fc%23d%26e%3Df%2F+%25&r=1"},
		},
		{
			name: "a missing variable stays", execution: request(server.URL+"/{{gone}}?q={{gone}}", "queryParams: {p: '{{ gone }}'}"), input: `{}`,
			want: effect{method: "GET", path: "/%7B%7Bgone%7D%7D", query: "q=%7B%7Bgone%7D%7D&p=%7B%7B+gone+%7D%7D"},
		},
		{
			name: "input.variables wins", execution: request(server.URL+"/{{x}}/{{y}}/{{v.deep}}", ""), input: `{"x": 1, "y": 2, "v": {"deep": "d"}, "variables": {"x": "one"}}`,
			want: effect{method: "GET", path: "/one/2/d"},
		},
		{
			name:      "query parameters",
			execution: request(server.URL+"/?a=1", "queryParams: {q: '{{q}}', n: 5, b: true, list: '{{l}}'}"), input: `{"q": "x&admin=1", "l": [1,"two"]}`,
			want: effect{method: "GET", path: "/", query: "a=1&b=true&list=%5B1%2C%22two%22%5D&n=5&q=x%26admin%3D1"},
		},
		{
			name:      "a body of JSON",
			execution: request(server.URL, `method: PUT, body: {name: '{{n}}', text: 'is {{n}}', count: '{{c}}', deep: [{x: '{{o}}'}], missing: '{{gone}}', own: 7}`),
			input:     `{"n": "a\"}, {\"admin\": true", "c": 12345678901234567890, "o": {"k": [1]}}`,
			want:      effect{method: "PUT", path: "/", body: `{"count":12345678901234567890,"deep":[{"x":{"k":[1]}}],"missing":"{{gone}}","name":"a\"}, {\"admin\": true","own":7,"text":"is a\"}, {\"admin\": true"}`},
		},
		{
			name:      "a body of JSON in a text",
			execution: request(server.URL, `method: POST, body: '{"a": "x {{n}}", "b": {{c}}, "c": {{n}}, "d": {{gone}}}'`),
			input:     `{"n": "q\"\\", "c": [1, {"z": null}]}`,
			want:      effect{method: "POST", path: "/", body: `{"a": "x q\"\\", "b": [1,{"z":null}], "c": "q\"\\", "d": "{{gone}}"}`},
		},
		{
			name:      "a form",
			execution: request(server.URL, `method: POST, headers: {content-type: application/x-www-form-urlencoded}, body: 'a={{n}}&b=2'`), input: `{"n": "1&b=3"}`,
			want: effect{method: "POST", path: "/", body: `a=1%26b%3D3&b=2`}, header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		},
		{
			name:      "XML",
			execution: request(server.URL, `method: POST, headers: {Content-Type: 'text/xml; charset=utf-8'}, body: '<a>{{n}}</a>'`), input: `{"n": "</a><b k=\"1\">"}`,
			want: effect{method: "POST", path: "/", body: `<a>&lt;/a&gt;&lt;b k=&#34;1&#34;&gt;</a>`},
		},
		{
			name:      "headers and the environment",
			execution: request(server.URL+"/${env.KB}?k=${env.KB}", `headers: {Authorization: 'Bearer ${env.KB}', X-Who: 'is {{who}}'}`), input: `{"who": "${env.KB}", "KB": "{{who}}"}`,
			want:   effect{method: "GET", path: "/s3cr3t%2Fvalue&more", query: "k=s3cr3t%2Fvalue%26more"},
			header: map[string]string{"Authorization": "Bearer s3cr3t/value&more", "X-Who": "is ${env.KB}"},
		},
		{
			name: "DELETE", execution: request(server.URL+"/x", "method: DELETE, body: {a: 1}"), input: `{}`,
			want: effect{method: "DELETE", path: "/x", body: `{"a":1}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, result := run(t, singleTool(t, o, c.execution), c.input)
			if out.Failed || result["success"] != true {
				t.Fatalf("got the failed output %s", out.Text)
			}
			seen := server.effects()
			if len(seen) != 1 {
				t.Fatalf("the server saw %d requests", len(seen))
			}
			for name, want := range c.header {
				if got := seen[0].header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			c.want.host = server.Listener.Addr().String()
			seen[0].header = nil
			if diff := cmp.Diff(c.want, seen[0], cmp.AllowUnexported(effect{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInputCannotRedirectRequest(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	o := options(t)
	path := singleTool(t, o, request(server.URL+"/users/{{id}}/notes", "headers: {X-Who: '{{who}}'}"))
	for input, want := range map[string]string{
		`{"id": ".."}`: "changes the path", `{"id": "."}`: "changes the path",
		`{"who": "a\r\nHost: evil"}`: "not valid in the header", `{"who": "\u0000"}`: "not valid in the header",
	} {
		out, result := run(t, path, input)
		why, _ := result["error"].(string)
		if !out.Failed || result["success"] != false || !strings.Contains(why, want) {
			t.Errorf("%s: %s", input, out.Text)
		}
	}
	if seen := server.effects(); len(seen) != 0 {
		t.Errorf("the server saw %+v", seen)
	}
}

func TestResults(t *testing.T) {
	type want struct {
		success bool
		status  float64
		data    any
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   want
	}{
		{"JSON", ok, want{true, 200, map[string]any{"ok": true}}},
		{"a problem", answerWith(422, "application/problem+json", `{"code":"bad"}`), want{false, 422, map[string]any{"code": "bad"}}},
		{"text", answerWith(200, "text/plain", "ü & <b>"), want{true, 200, "ü & <b>"}},
		{"invalid JSON", answerWith(200, "application/json", `{"a":`), want{true, 200, `{"a":`}},
		{"nothing", answerWith(204, "", ""), want{true, 204, ""}},
		{"an error", answerWith(500, "text/html", "<h1>no</h1>"), want{false, 500, "<h1>no</h1>"}},
		{"not modified", answerWith(304, "", ""), want{false, 304, ""}},
		{"binary data", answerWith(200, "image/png", "\x89PNG\r\n\x1a\n\xff\xfe\xfd\xfc\xfb"), want{true, 200, "[13 bytes of image/png, not text]"}},
		{"text with invalid bytes", answerWith(200, "text/plain", "a\xffb"), want{true, 200, "a\ufffdb"}},
		{"ANSI", answerWith(200, "text/plain", "\x1b[31mred"), want{true, 200, "\x1b[31mred"}},
		{"packed", gzipped("application/json", []byte(`{"ok":true}`), 1), want{true, 200, map[string]any{"ok": true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := serve(t, "127.0.0.1:0", c.answer)
			out, result := run(t, singleTool(t, options(t), request(server.URL, "")), "{}")
			if out.Failed {
				t.Fatalf("it failed: %s", out.Text)
			}
			headers, _ := result["headers"].(map[string]any)
			if headers["date"] == nil {
				t.Errorf("headers: %v", headers)
			}
			delete(result, "headers")
			if diff := cmp.Diff(map[string]any{"success": c.want.success, "status": c.want.status, "data": c.want.data}, result); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func answerWith(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// gzipped answers with content, repeated and compressed.
func gzipped(contentType string, content []byte, times int) http.HandlerFunc {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(content) // a buffer never fails
	_ = z.Close()
	body := bytes.Repeat(b.Bytes(), times)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body)
	}
}

// A model receives at most 256 KiB of a response, with a note about the rest.
func TestLargeResponsesAreTruncated(t *testing.T) {
	const mark = "[cut: the response is larger than 256 KiB]"
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 32<<10)); err != nil {
				return
			}
		}
	}
	// A stream of empty blocks decompresses to nothing and never ends.
	hollow := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255})
		block := bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, 8<<10)
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"text":               answerWith(200, "text/plain", strings.Repeat("ä", 200<<10)),
		"much to escape":     answerWith(200, "text/plain", strings.Repeat("\x01\"", 100<<10)),
		"JSON":               answerWith(200, "application/json", `["`+strings.Repeat("y", 300<<10)+`"]`),
		"JSON that grows":    answerWith(200, "application/json", `["`+strings.Repeat("\u2028", 80<<10)+`"]`),
		"a gzip bomb":        gzipped("text/plain", make([]byte, 1<<20), 50),
		"an endless one":     endless,
		"an endless nothing": hollow,
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, "127.0.0.1:0", answer)
			out, result := run(t, singleTool(t, options(t), request(server.URL, "")), "{}")
			data, _ := result["data"].(string)
			if out.Failed || len(out.Text) > tool.MaxResult || !strings.HasSuffix(data, mark) {
				t.Errorf("%d bytes, failed %v, ends with %q", len(out.Text), out.Failed, data[max(0, len(data)-60):])
			}
			if name != "an endless nothing" && len(out.Text) < tool.MaxResult-64 {
				t.Errorf("only %d bytes are left", len(out.Text))
			}
		})
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	server := serve(t, "127.0.0.1:0", silent)
	out, result := run(t, singleTool(t, options(t), request(server.URL+"/?k=${env.KB}", "timeout: 50")), "{}")
	if !out.Failed || result["status"] != 0.0 || result["error"] != "the server did not answer in time (50ms)" {
		t.Errorf("time-out: %s", out.Text)
	}
	drips := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	slow := serve(t, "127.0.0.1:0", drips)
	if out, result = run(t, singleTool(t, options(t), request(slow.URL, "timeout: 50")), "{}"); !out.Failed || result["error"] != "the server did not answer in time (50ms)" {
		t.Errorf("time-out within the body: %s", out.Text)
	}
	stopped := errors.New("the run was cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := serve(t, "127.0.0.1:0", func(_ http.ResponseWriter, r *http.Request) {
		cancel(stopped)
		<-r.Context().Done()
	})
	tl := singleTool(t, options(t), request(stop.URL, ""))
	if _, err := tl.Call(ctx, agent.ToolCall{Name: "call"}); !errors.Is(err, stopped) {
		t.Errorf("cancel: %v", err)
	}
	if spec := tl.Spec(); spec.Timeout <= 0 || spec.Idempotent || spec.External {
		t.Errorf("got the spec %+v", spec)
	}
}

// For every use that a server makes of the secrets that it received, the model does not see
// them.
func TestSecretsAreHidden(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.Header().Set("Set-Cookie", "session=1")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"all": fmt.Sprint(r.Header), "url": r.URL.String(), "query": r.URL.Query(), r.Header.Get("X-Api-Key"): 1, "n": json.Number("987654321"),
		})
	}
	secrets := []string{"s3cr3t", "literal-key", "987654321"}
	server := serve(t, "127.0.0.1:0", echo)
	const headers = "headers: {Authorization: 'Bearer ${env.KB}', X-Api-Key: 'literal-key', X-Auth-Number: '987654321'}, queryParams: {k: '${env.KB}'}"
	environmentTool := singleTool(t, options(t), request(server.URL+"/x/${env.KB}", headers))
	out, result := run(t, environmentTool, "{}")
	if out.Failed || !strings.Contains(out.Text, "[secret]") {
		t.Errorf("%s", out.Text)
	}
	if h, _ := result["headers"].(map[string]any); h["x-echo"] != "Bearer [secret]" || h["set-cookie"] != nil {
		t.Errorf("headers: %v", h)
	}
	server.Close()
	gone, _ := run(t, environmentTool, "{}")
	if !gone.Failed {
		t.Errorf("without a server: %s", gone.Text)
	}
	text := serve(t, "127.0.0.1:0", func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.Header, r.URL) })
	asText, _ := run(t, singleTool(t, options(t), request(text.URL+"/x/${env.KB}", headers)), "{}")
	for _, said := range []string{out.Text, gone.Text, asText.Text} {
		if i := slices.IndexFunc(secrets, func(s string) bool { return strings.Contains(said, s) }); i >= 0 {
			t.Errorf("the result contains %s: %s", secrets[i], said)
		}
	}

	// Tools never receive the server's own secrets, even if the operator permits their names.
	own := config(t, request("https://x.example", "headers: {A: '${env.KB}'}"))
	own.Tools[0].Execution.Request.Headers["A"] = "${env.OPENAI_API_KEY}"
	o := options(t)
	o.Env = func(string) (string, bool) { return "sk-own", true }
	if _, err := tool.All(own, o); len(locations(err)) != 1 {
		t.Errorf("the server's own key: %v", err)
	}

	// Errors about the config contain no value, either.
	for _, execution := range []string{
		request("https://x.example", "headers: {A: '${env.LINES}'}"),
		request("https://x.example", "headers: {A: '${env.MISSING}'}"),
		request("${env.KB}/x", ""),
	} {
		_, err := tool.All(config(t, execution), options(t))
		if len(locations(err)) != 1 || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "a\r\nb") {
			t.Errorf("%s: %v", execution, err)
		}
	}
}

func TestBaseURLOfTheEnvironment(t *testing.T) {
	server := serve(t, "127.0.0.1:0", ok)
	o := options(t)
	o.Env = func(name string) (string, bool) { return server.URL + "/v1", name == "BASE" }
	if out, _ := run(t, singleTool(t, o, request("${env.BASE}/items/{{id}}?next=http://x/{{id}}", "")), `{"id": "a/b"}`); out.Failed {
		t.Fatal(out.Text)
	}
	if seen := server.effects(); len(seen) != 1 || seen[0].path != "/v1/items/a%2Fb" || seen[0].query != "next=http://x/a%2Fb" {
		t.Errorf("%+v", seen)
	}
	// A variable directly after the host would be part of it.
	if _, err := tool.All(config(t, request("http://127.0.0.1:${env.BASE}", "")), o); len(locations(err)) != 1 {
		t.Error(err)
	}
}
