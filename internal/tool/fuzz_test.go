package tool_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/tool"
)

// For all inputs of a model, the request goes to the author's host and path, its query has
// the author's names, and its body is one JSON value.
func FuzzRequest(f *testing.F) {
	for _, value := range []string{"x", "", "..", "a/../b", "%2e%2e", "?a=1#b", "&admin=1", "\"},{\"", "\\", "{{y}}", "${env.KB}", "\u2028", "@evil.example", "\r\nHost: evil", "//evil", ":80", "\x00"} {
		f.Add(value, value)
	}
	server := serve(f, "127.0.0.1:0", ok)
	entry := "  - name: call\n    executionType: request\n    execution:\n      url: '" + server.URL + "/a/{{x}}/b?q={{x}}&r={{y}}'\n" +
		"      method: POST\n      queryParams: {p: '{{y}}'}\n      headers: {X-Plain: 'v'}\n      body: '{\"in\": \"<{{x}}>\", \"out\": {{y}}, \"both\": [\"{{x}}{{y}}\", {{x}}]}'\n"
	tl := singleTool(f, options(f), entry)
	f.Fuzz(func(t *testing.T, x, y string) {
		arguments, err := json.Marshal(map[string]string{"x": x, "y": y})
		if err != nil {
			t.Fatal(err)
		}
		var sent map[string]string
		_ = json.Unmarshal(arguments, &sent) // what was just written
		x, y = sent["x"], sent["y"]
		out, _ := run(t, tl, string(arguments))
		seen := server.effects()
		if out.Failed {
			if len(seen) != 0 || (x != "." && x != "..") {
				t.Fatalf("%q, %q: %s after %d effects", x, y, out.Text, len(seen))
			}
			return
		}
		if len(seen) != 1 || seen[0].host != server.Listener.Addr().String() {
			t.Fatalf("%q: %+v", x, seen)
		}
		parts := strings.Split(seen[0].path, "/")
		if len(parts) != 4 || parts[1] != "a" || parts[3] != "b" {
			t.Fatalf("%q leads to %s", x, seen[0].path)
		}
		if got, err := url.PathUnescape(parts[2]); err != nil || got != x {
			t.Fatalf("%q arrives as %q", x, got)
		}
		query, err := url.ParseQuery(seen[0].query)
		if want := (url.Values{"q": {x}, "r": {y}, "p": {y}}); err != nil || !reflect.DeepEqual(query, want) {
			t.Fatalf("the query is %v, want %v", query, want)
		}
		var got any
		if err := json.Unmarshal([]byte(seen[0].body), &got); err != nil {
			t.Fatalf("the body is %s: %v", seen[0].body, err)
		}
		want := map[string]any{"in": "<" + x + ">", "out": y, "both": []any{x + y, x}}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("the body is %v, want %v", got, want)
		}
	})
}

// Stripping keeps all arguments and removes all routing fields.
func FuzzStrip(f *testing.F) {
	for _, arguments := range []string{
		`{}`, ``, `{"targetSpaceId":"s","a":1}`, `{"a":{"targetSpaceId":"s"},"mention":null}`, `{"\u006dention":"x"}`, `{"mention":1}`, `[]`, `{"a":1}{`, `{"a":1,"a":2}`, `{"":[1e5, "\ud83d\ude00"]}`,
	} {
		f.Add(arguments)
	}
	tl := singleTool(f, tool.Options{}, "  - {name: a, displayTool: true, targeted: true}\n")
	f.Fuzz(func(t *testing.T, arguments string) {
		_, rest, err := tl.Strip(arguments)
		if err != nil {
			return
		}
		want := map[string]any{}
		if strings.TrimSpace(arguments) != "" {
			if err := decodeInto(arguments, &want); err != nil {
				t.Fatalf("%q is stripped to %s", arguments, rest)
			}
		}
		for _, name := range []string{"targetSpaceId", "mention", "targetEntityId"} {
			delete(want, name)
		}
		got := map[string]any{}
		if err := decodeInto(rest, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is stripped to %s", arguments, rest)
		}
		if _, again, err := tl.Strip(rest); err != nil || again != rest {
			t.Fatalf("%s is stripped again to %s, %v", rest, again, err)
		}
	})
}

func decodeInto(text string, v any) error {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	return dec.Decode(v)
}
