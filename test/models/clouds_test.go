package models_test

import (
	"context"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/azure"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/token"
	"github.com/shoal-dev/shoal/agent/provider/vertex"
)

// clouds serve the models of vendors, with their bytes at other paths. aimock plays two of them. Its
// Bedrock sends events as they are, where AWS encodes each in a member of a message, and its
// Vertex AI has no Claude: the tests of those packages play both.
var clouds = map[string]wire{
	"azure": at("chat", "/openai/deployments/gpt-5-mini/chat/completions", func(url string) agent.Model {
		return azure.Chat("gpt-5-mini", azure.Options{Endpoint: url, APIKey: "key-of-nobody", APIVersion: "2024-10-21"})
	}),
	"vertex": at("gemini", "/v1/projects/shop-123/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent", func(url string) agent.Model {
		source := token.Func(func(context.Context) (token.Token, error) { return token.Token{Value: "token-of-nobody"}, nil })
		return vertex.Gemini("gemini-2.5-flash", vertex.Options{Project: "shop-123", Location: "europe-west4", Token: source}, google.Options{BaseURL: url})
	}),
}

// at returns a wire at another path, with the model that goes there.
func at(name, path string, model func(url string) agent.Model) wire {
	w := wires[slices.IndexFunc(wires, func(w wire) bool { return w.name == name })]
	w.path, w.model = path, model
	return w
}

// A turn over a cloud is what it is over the vendor's own wire: with text, calls, thoughts and
// pictures that go back, a history, refusals, and answers that break off. These plays are those
// that differ if a cloud's address, credentials or errors do; the others are the vendor's.
func TestClouds(t *testing.T) {
	t.Parallel()
	chosen := []string{
		"text", "reasoned call", "camera", "history", "429 without Retry-After, then ok", "529 for ever", "401", "400", "too long for ever",
		"cut in the text, then ok",
	}
	for cloud, w := range clouds {
		left := slices.Clone(chosen)
		if cloud == "vertex" { // its token is replaced once when it is refused, so the vendor is asked twice
			left = slices.DeleteFunc(left, func(name string) bool { return name == "401" })
		}
		for _, p := range slices.Concat(answers, faulty) {
			at := slices.Index(left, p.name)
			if at < 0 {
				continue
			}
			left = slices.Delete(left, at, at+1)
			t.Run(cloud+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				p.test(t, w)
			})
		}
		if len(left) > 0 {
			t.Errorf("%s: no play has the names %q", cloud, left)
		}
	}
}
