package modelenv_test

import (
	"slices"
	"testing"

	"github.com/shoal-dev/shoal/internal/modelenv"
)

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		provider string
		ownURL   bool
		set      []string
		want     string
	}{
		{"openai", false, nil, "OPENAI_API_KEY"},
		{"openai", true, nil, ""},
		{"google", false, nil, "GEMINI_API_KEY or GOOGLE_API_KEY"},
		{"google", false, []string{"GOOGLE_API_KEY"}, ""},
		{"ollama", false, nil, ""},
		{"azure", false, nil, "AZURE_OPENAI_ENDPOINT, and AZURE_OPENAI_API_KEY or AZURE_TENANT_ID + AZURE_CLIENT_ID + AZURE_CLIENT_SECRET"},
		{"azure", false, []string{"AZURE_OPENAI_ENDPOINT", "AZURE_TENANT_ID", "AZURE_CLIENT_ID"}, "AZURE_OPENAI_API_KEY or AZURE_TENANT_ID + AZURE_CLIENT_ID + AZURE_CLIENT_SECRET"},
		{"azure", false, []string{"AZURE_OPENAI_ENDPOINT", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"}, ""},
		{"vertex", true, nil, "GOOGLE_CLOUD_PROJECT"},
		{"vertex", false, []string{"GOOGLE_CLOUD_PROJECT"}, ""},
		{"bedrock", true, nil, "AWS_REGION or AWS_DEFAULT_REGION"},
		{"bedrock", false, []string{"AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID"}, "AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID + AWS_SECRET_ACCESS_KEY"},
		{"bedrock", false, []string{"AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK"}, ""},
	} {
		get := func(name string) string {
			if slices.Contains(c.set, name) {
				return "x"
			}
			return ""
		}
		if got := modelenv.Missing(c.provider, c.ownURL, get); got != c.want {
			t.Errorf("%s with %v: %q, want %q", c.provider, c.set, got, c.want)
		}
	}
}

// The values that are not secrets are names, addresses and places.
func TestSecrets(t *testing.T) {
	want := []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_CLIENT_SECRET",
		"AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "OPENROUTER_API_KEY", "AWS_SESSION_TOKEN",
	}
	if got := modelenv.Secrets(); !slices.Equal(got, want) {
		t.Errorf("secrets %v, want %v", got, want)
	}
	here := modelenv.Present(func(name string) string {
		return map[string]string{"AWS_REGION": "x", "AWS_SECRET_ACCESS_KEY": "x", "GOOGLE_APPLICATION_CREDENTIALS": "x"}[name]
	})
	if !slices.Equal(here, []string{"AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS"}) {
		t.Errorf("present %v", here)
	}
}
