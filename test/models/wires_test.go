package models_test

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/openai"
)

// wire is one way to speak to a vendor, with what is particular to its bytes.
type wire struct {
	name  string
	model func(url string) agent.Model
	path  string // where requests go
	// image, choice and output are what a request must hold somewhere, as JSON,
	// when there is an image in the input, when the tool weather is demanded, and
	// when a structured answer is.
	image, choice, output string
	// counted makes the vendor's own count of tokens, with the cache and the
	// thoughts, of the one that aimock sends; usage is what it comes to.
	counted []string
	usage   agent.Usage
	// incomplete and filtered replace the end of aimock's response by the vendor's, for
	// a truncated and for a censored one, if they differ.
	incomplete, filtered []string
	// whole says that tool arguments come in one piece.
	whole bool
	// imageText replaces a picture of a tool where results are text only.
	imageText string
	// noCredit means that the wire distinguishes an exhausted account from too many requests.
	noCredit bool
}

// pixel is a PNG of one dot, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

var pixelBytes = func() []byte {
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		panic(err)
	}
	return data
}()

// openAIEnd is how the Responses API ends an answer that is not whole; aimock
// calls it completed and leaves the cause out.
func openAIEnd(status, cause string) []string {
	return []string{
		"response.completed", "response.incomplete",
		`"status":"` + status + `"`, `"status":"incomplete","incomplete_details":{"reason":"` + cause + `"}`,
	}
}

var wires = []wire{
	{
		name: "chat",
		model: func(url string) agent.Model {
			return openai.Chat("gpt-5-mini", openai.Options{BaseURL: url + "/v1", APIKey: "key-of-nobody"})
		},
		path:   "/v1/chat/completions",
		image:  `{"type": "image_url", "image_url": {"url": "data:image/png;base64,` + pixel + `"}}`,
		choice: `{"tool_choice": {"type": "function", "function": {"name": "weather"}}}`,
		output: `{"response_format": {"type": "json_schema", "json_schema": {"name": "report"}}}`,
		counted: []string{
			`"total_tokens":1234}`,
			`"total_tokens":1234,"prompt_tokens_details":{"cached_tokens":300},"completion_tokens_details":{"reasoning_tokens":10}}`,
		},
		usage:     agent.Usage{InputTokens: 1200, CachedTokens: 300, OutputTokens: 34, ReasoningTokens: 10},
		imageText: "dot.png (image/png",
		noCredit:  true,
	},
	{
		name: "responses",
		model: func(url string) agent.Model {
			return openai.Responses("gpt-5-mini", openai.Options{BaseURL: url + "/v1", APIKey: "key-of-nobody"})
		},
		path:   "/v1/responses",
		image:  `{"type": "input_image", "image_url": "data:image/png;base64,` + pixel + `"}`,
		choice: `{"tool_choice": {"type": "function", "name": "weather"}}`,
		output: `{"text": {"format": {"type": "json_schema", "name": "report"}}}`,
		counted: []string{
			`"total_tokens":1234}`,
			`"total_tokens":1234,"input_tokens_details":{"cached_tokens":300},"output_tokens_details":{"reasoning_tokens":10}}`,
		},
		usage:      agent.Usage{InputTokens: 1200, CachedTokens: 300, OutputTokens: 34, ReasoningTokens: 10},
		incomplete: openAIEnd("incomplete", "max_output_tokens"),
		filtered:   openAIEnd("failed", "content_filter"),
		noCredit:   true,
	},
	{
		name: "anthropic",
		model: func(url string) agent.Model {
			return anthropic.New("claude-sonnet-4-5", anthropic.Options{BaseURL: url, APIKey: "key-of-nobody"})
		},
		path:   "/v1/messages",
		image:  `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + pixel + `"}}`,
		choice: `{"tool_choice": {"type": "tool", "name": "weather"}}`,
		output: `{"output_config": {"format": {"type": "json_schema"}}}`,
		counted: []string{
			`"usage":{"input_tokens":1200,"output_tokens":34}`,
			`"usage":{"input_tokens":900,"cache_read_input_tokens":300,"cache_creation_input_tokens":50,"output_tokens":1}`,
		},
		usage: agent.Usage{InputTokens: 1250, CachedTokens: 300, CacheWriteTokens: 50, OutputTokens: 34},
	},
	{
		name: "gemini",
		model: func(url string) agent.Model {
			return google.New("gemini-2.5-flash", google.Options{BaseURL: url, APIKey: "key-of-nobody"})
		},
		path:   "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
		image:  `{"inlineData": {"mimeType": "image/png", "data": "` + pixel + `"}}`,
		choice: `{"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}}`,
		output: `{"responseMimeType": "application/json"}`,
		counted: []string{
			`"promptTokenCount":1200,"candidatesTokenCount":34,`,
			`"promptTokenCount":1200,"cachedContentTokenCount":300,"candidatesTokenCount":24,"thoughtsTokenCount":10,`,
		},
		usage: agent.Usage{InputTokens: 1200, CachedTokens: 300, OutputTokens: 34, ReasoningTokens: 10},
		whole: true,
	},
}

// eachWire runs a test once for each wire.
func eachWire(t *testing.T, test func(t *testing.T, w wire)) {
	t.Helper()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// holds fails the test unless the JSON body has, at any depth, an object with
// the entries of the JSON object want.
func holds(t *testing.T, body []byte, want string) {
	t.Helper()
	var whole, part any
	if err := json.Unmarshal(body, &whole); err != nil {
		t.Fatalf("the request is not JSON: %v", err)
	}
	if err := json.Unmarshal([]byte(want), &part); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if !within(whole, part) {
		t.Errorf("the request holds no %s: %.2000s", want, body)
	}
}

// within reports whether part fits whole or something in it.
func within(whole, part any) bool {
	if fits(whole, part) {
		return true
	}
	switch whole := whole.(type) {
	case map[string]any:
		for _, v := range whole {
			if within(v, part) {
				return true
			}
		}
	case []any:
		for _, v := range whole {
			if within(v, part) {
				return true
			}
		}
	}
	return false
}

// fits reports whether whole has at least the entries of part.
func fits(whole, part any) bool {
	entries, ok := part.(map[string]any)
	if !ok {
		return reflect.DeepEqual(whole, part)
	}
	all, ok := whole.(map[string]any)
	for name, v := range entries {
		ok = ok && fits(all[name], v)
	}
	return ok
}

// saysSomething fails the test when a message of a request is empty: vendors
// refuse such a history, and with it everything that follows.
func saysSomething(t *testing.T, body []byte) {
	t.Helper()
	var request struct {
		Messages, Input, Contents []map[string]any
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatalf("the request is not JSON: %v", err)
	}
	for _, m := range slices.Concat(request.Messages, request.Input, request.Contents) {
		if empty(m["content"]) && empty(m["parts"]) && m["tool_calls"] == nil && (m["type"] == nil || m["type"] == "message") {
			t.Errorf("a message of the request says nothing: %v", m)
		}
	}
}

// empty reports whether there is no content, or some that is empty itself.
func empty(content any) bool {
	switch content := content.(type) {
	case string:
		return content == ""
	case []any:
		for _, part := range content {
			if part, ok := part.(map[string]any); ok && part["text"] == "" {
				return true
			}
		}
		return len(content) == 0
	}
	return true
}

func TestHolds(t *testing.T) {
	t.Parallel()
	whole := map[string]any{"a": []any{map[string]any{"b": "c", "d": map[string]any{"e": 1.0, "f": 2.0}}}}
	for part, want := range map[string]bool{
		`{"b": "c"}`:                  true,
		`{"b": "c", "d": {"e": 1}}`:   true,
		`{"b": "c", "d": {"e": 2}}`:   false,
		`{"a": {"b": "c"}}`:           false,
		`{"f": 2}`:                    true,
		`{"b": "c", "missing": null}`: true,
	} {
		var p any
		if err := json.NewDecoder(strings.NewReader(part)).Decode(&p); err != nil {
			t.Fatal(err)
		}
		if got := within(whole, p); got != want {
			t.Errorf("within(%v, %s) = %v, want %v", whole, part, got, want)
		}
	}
}
