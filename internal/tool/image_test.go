package tool_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/tool"
)

// storedFiles collects the files that image tools have stored.
type storedFiles struct {
	files []shoal.File
	data  [][]byte
	fails error
}

func (k *storedFiles) store(_ context.Context, f shoal.File, data []byte) (shoal.File, error) {
	f.ID, f.URL = "fil_1", "/v1/sessions/default/files/fil_1"
	k.files, k.data = append(k.files, f), append(k.data, data)
	return f, k.fails
}

// imageOptions returns the options of a server that stores files and has keys.
func imageOptions(t testing.TB, k *storedFiles) tool.Options {
	o := options(t)
	o.StoreFile = k.store
	o.Keys = func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "sk-of-the-server", "GOOGLE_API_KEY": "AIza-of-the-server"}[name]
	}
	return o
}

func imageEntry(execution string) string {
	return "  - {name: draw, executionType: image-generator, execution: {" + execution + "}}\n"
}

var (
	png  = []byte("\x89PNG\r\n\x1a\nand so on")
	webp = []byte("RIFF\x00\x00\x00\x00WEBPVP8 and so on")
)

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func respondWith(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// Each vendor receives its own request format and its own key.
func TestImageRequests(t *testing.T) {
	openai := `{"data":[{"b64_json":"` + b64(png) + `"}]}`
	gemini := `{"candidates":[{"content":{"parts":[{"text":"Here:"},{"thought":true,"inlineData":{"data":"` + b64(webp) + `"}},{"inlineData":{"mimeType":"image/png","data":"` + b64(png) + `"}}]}}]}`
	for _, c := range []struct{ name, execution, answer, path, header, value, body string }{
		{
			"GPT", "provider: openai, size: landscape, quality: hd, style: vivid", openai, "/images/generations", "Authorization", "Bearer sk-of-the-server",
			`{"model":"gpt-image-2","prompt":"a fish\n\nStyle: vivid","n":1,"size":"1536x1024","quality":"high"}`,
		},
		{
			"another model", "provider: dall-e, model: flux, size: portrait, quality: hd, style: vivid, apiKey: '${env.KB}'", openai, "/images/generations", "Authorization", "Bearer s3cr3t/value&more",
			`{"model":"flux","prompt":"a fish","n":1,"size":"1024x1792","quality":"hd","style":"vivid","response_format":"b64_json"}`,
		},
		{
			"Gemini", "provider: google, model: models/g-image, size: auto", gemini, "/v1beta/models/g-image:generateContent", "X-Goog-Api-Key", "AIza-of-the-server",
			`{"contents":[{"parts":[{"text":"a fish"}],"role":"user"}],"generationConfig":{"responseModalities":["IMAGE"]}}`,
		},
		{
			"Gemini with a size", "provider: google, size: 1920x1080, style: ink", gemini, "/v1beta/models/gemini-3.1-flash-image:generateContent", "X-Goog-Api-Key", "AIza-of-the-server",
			`{"contents":[{"parts":[{"text":"a fish\n\nStyle: ink"}],"role":"user"}],"generationConfig":{"imageConfig":{"aspectRatio":"16:9"},"responseModalities":["IMAGE"]}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k storedFiles
			vendor := serve(t, "127.0.0.1:0", respondWith(200, c.answer))
			tl := singleTool(t, imageOptions(t, &k), imageEntry(c.execution+", baseURL: '"+vendor.URL+"/'"))
			out, result := run(t, tl, `{"prompt":"a fish"}`)
			want := []any{map[string]any{"url": "/v1/sessions/default/files/fil_1", "mediaType": "image/png"}}
			if diff := cmp.Diff(want, result["images"]); out.Failed || result["success"] != true || diff != "" {
				t.Errorf("got the result %s\n%s", out.Text, diff)
			}
			if len(k.files) != 1 || k.files[0].Name != "draw.png" || k.files[0].MediaType != "image/png" || !bytes.Equal(k.data[0], png) {
				t.Errorf("stored files: %+v", k.files)
			}
			sent := vendor.effects()
			if len(sent) != 1 || sent[0].method != http.MethodPost || sent[0].path != c.path || sent[0].header.Get(c.header) != c.value || sent[0].body != c.body {
				t.Errorf("the vendor received %+v", sent)
			}
		})
	}
}

// For every answer of a vendor, the result says what to do and contains no key.
func TestImageFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		why    string
	}{
		{"a wrong key", respondWith(401, `{"error":{"message":"Incorrect API key: sk-of-the-server"}}`), "refuses the key (status 401); ask the operator"},
		{"a refusal", respondWith(400, `{"error":{"message":"Not with sk-of-the-server, `+strings.Repeat("ü", 900)+`"}}`), "status 400: Not with [secret], üü"},
		{"a refusal without words", respondWith(500, "<html>"), "status 500"},
		{"another place", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "status 307"},
		{"no images", respondWith(200, `{"data":[]}`), "made no image"},
		{"an address only", respondWith(200, `{"data":[{"url":"https://example.com/a.png"}]}`), "not a PNG, JPEG, GIF or WebP"},
		{"a page", respondWith(200, `{"data":[{"b64_json":"`+b64([]byte("<html><script>"))+`"}]}`), "not a PNG, JPEG, GIF or WebP"},
		{"no JSON", respondWith(200, `what?`), "cannot be read"},
		{"no base64", respondWith(200, `{"data":[{"b64_json":"?"}]}`), "cannot be read"},
		{"too large an image", respondWith(200, `{"data":[{"b64_json":"`+b64(append(slices.Clone(png), make([]byte, shoal.MaxFile)...))+`"}]}`), "exceeds the limit of 10485760 bytes"},
		{"too large an answer", respondWith(200, strings.Repeat(" ", 33<<20)), "larger than"},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = io.WriteString(w, "{")
		}, "closed the connection"},
		{"silence", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer in time (200ms)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k storedFiles
			vendor := serve(t, "127.0.0.1:0", c.answer)
			timeout := "20000"
			if c.name == "silence" {
				timeout = "200"
			}
			tl := singleTool(t, imageOptions(t, &k), imageEntry("provider: openai, timeout: "+timeout+", baseURL: '"+vendor.URL+"'"))
			out, result := run(t, tl, `{"prompt":"a fish"}`)
			text, _ := result["error"].(string)
			if !out.Failed || result["success"] != false || !strings.Contains(text, c.why) || strings.Contains(out.Text, "sk-of") || len(text) > 600 {
				t.Errorf("the result is %.700s", out.Text)
			}
			if n := len(vendor.effects()); n != 1 || len(k.files) != 0 {
				t.Errorf("the vendor received %d requests, stored files: %v", n, k.files)
			}
		})
	}
}

func TestInvalidImageTools(t *testing.T) {
	var k storedFiles
	for entry, want := range map[string]string{
		imageEntry("provider: openai, apiKey: '${env.MISSING}'"): "tools[0].execution.apiKey",
		imageEntry("provider: openai, apiKey: '${env.LINES}'"):   "tools[0].execution.apiKey",
	} {
		if _, err := tool.All(config(t, entry), imageOptions(t, &k)); !cmp.Equal(locations(err), []string{want}) {
			t.Errorf("%s: %v", entry, err)
		}
	}
	other := agentconfig.Tool{Name: "a", ExecutionType: agentconfig.ImageType, Execution: agentconfig.Execution{Image: &agentconfig.Image{Provider: "stability"}}}
	if _, err := tool.New(other, imageOptions(t, &k)); !cmp.Equal(locations(err), []string{"execution.provider"}) || !strings.Contains(err.Error(), "openai or google") {
		t.Errorf("another provider: %v", err)
	}
	o := imageOptions(t, &k)
	o.Keys = nil
	if out, _ := run(t, singleTool(t, o, imageEntry("provider: google")), `{"prompt":"a"}`); !out.Failed || !strings.Contains(out.Text, "GEMINI_API_KEY or GOOGLE_API_KEY") {
		t.Errorf("without a key: %s", out.Text)
	}
	tl := singleTool(t, o, imageEntry("provider: google"))
	for _, arguments := range []string{`{}`, `{"prompt":""}`, `{"prompt":"a","size":"1x1"}`, `{"prompt":"` + strings.Repeat("a", 24001) + `"}`} {
		if out, _ := run(t, tl, arguments); !out.Failed || strings.Contains(out.Text, "GEMINI") {
			t.Errorf("%.40s: %s", arguments, out.Text)
		}
	}
}

// A failure of this server is an error of the call, and so is the end of its context.
func TestImageCallErrors(t *testing.T) {
	k := storedFiles{fails: errors.New("the disk is full")}
	vendor := serve(t, "127.0.0.1:0", respondWith(200, `{"data":[{"b64_json":"`+b64(png)+`"}]}`))
	tl := singleTool(t, imageOptions(t, &k), imageEntry("provider: openai, baseURL: '"+vendor.URL+"'"))
	call := agent.ToolCall{ID: "c", Name: "draw", Arguments: `{"prompt":"a fish"}`}
	if _, err := tl.Call(t.Context(), call); !errors.Is(err, k.fails) {
		t.Errorf("an image that cannot be stored: %v", err)
	}
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	if _, err := tl.Call(ctx, call); !errors.Is(err, over) {
		t.Errorf("a call that is canceled: %v", err)
	}
}

// With includeContext the newest messages of the conversation precede the prompt, within the
// limit.
func TestImagesWithHistory(t *testing.T) {
	var k storedFiles
	vendor := serve(t, "127.0.0.1:0", respondWith(200, `{"data":[{"b64_json":"`+b64(png)+`"},{"b64_json":"`+b64(webp)+`"}]}`))
	o := imageOptions(t, &k)
	o.History = func(context.Context) ([]agent.Message, error) {
		return []agent.Message{
			agent.Say(strings.Repeat("long ago ", 500)), agent.Say("We have a fish."),
			{Role: agent.ToolRole, Parts: []agent.Part{{Type: agent.ResultPart, Result: &agent.ToolResult{Text: "secret"}}}},
			{Role: agent.Assistant, Parts: []agent.Part{agent.Text("A red one.")}},
		}, nil
	}
	for include, want := range map[string]string{
		"false": "draw it",
		"true":  "What was said before:\nuser: We have a fish.\nassistant: A red one.\n\nMake a picture of this: draw it",
	} {
		out, result := run(t, singleTool(t, o, imageEntry("provider: openai, includeContext: "+include+", baseURL: '"+vendor.URL+"'")), `{"prompt":"draw it"}`)
		if images, _ := result["images"].([]any); len(images) != 2 {
			t.Errorf("the result is %s", out.Text)
		}
		var sent struct{ Prompt string }
		if err := json.Unmarshal([]byte(vendor.effects()[0].body), &sent); err != nil || sent.Prompt != want {
			t.Errorf("the prompt is %q, %v", sent.Prompt, err)
		}
	}
	if k.files[1].Name != "draw.webp" || k.files[1].MediaType != "image/webp" {
		t.Errorf("the second image is %+v", k.files[1])
	}
}
