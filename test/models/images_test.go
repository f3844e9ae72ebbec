package models_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/tool"
)

// An image generator speaks OpenAI's wire for images, keeps what it is sent and
// answers with where that is. (aimock makes no images as Gemini does.)
func TestImageGenerators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ provider, model, base string }{
		{"openai", "gpt-image-2", aimock.JoinPath("v1").String()},
		{"dall-e", "some-model", aimock.JoinPath("v1").String() + "/"},
	} {
		t.Run(c.provider, func(t *testing.T) {
			t.Parallel()
			var kept []byte
			config, err := agentconfig.Decode(fmt.Appendf(nil, `{"version": "1.0", "agent": {"id": "a", "system": "s"}, "model": {"provider": "script", "name": "m"}, "tools": [
				{"name": "draw", "executionType": "image-generator", "execution": {"provider": %q, "model": %q, "baseURL": %q}}]}`, c.provider, c.model, c.base), agentconfig.Options{})
			if err != nil {
				t.Fatal(err)
			}
			tools, err := tool.All(config, tool.Options{
				Keys: func(string) string { return "key-of-the-server" },
				StoreFile: func(_ context.Context, f shoal.File, data []byte) (shoal.File, error) {
					kept, f.URL = data, "/kept/"+f.Name
					return f, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := tools[0].Call(bounded(t), agent.ToolCall{ID: "c", Name: "draw", Arguments: `{"prompt": "picture: a dot"}`})
			if err != nil {
				t.Fatal(err)
			}
			var result struct {
				Success         bool
				Provider, Model string
				Images          []struct{ URL, MediaType string }
				Duration        *int64
			}
			if err := json.Unmarshal([]byte(out.Text), &result); err != nil {
				t.Fatalf("%v in %s", err, out.Text)
			}
			if out.Failed || !result.Success || result.Provider != c.provider || result.Model != c.model || result.Duration == nil {
				t.Errorf("the result is %s", out.Text)
			}
			if len(result.Images) != 1 || result.Images[0].URL != "/kept/draw.png" || result.Images[0].MediaType != "image/png" {
				t.Errorf("the images are %+v", result.Images)
			}
			if !bytes.Equal(kept, pixelBytes) {
				t.Errorf("%d bytes are kept, want %d", len(kept), len(pixelBytes))
			}
		})
	}
}
