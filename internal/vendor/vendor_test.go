package vendor_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/vendor"
)

func model(t *testing.T, settings string) (m agentconfig.Model) {
	t.Helper()
	if err := json.Unmarshal([]byte(settings), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func noKeys(string) string { return "" }

// A model calls its vendor with the vendor's key, at the base URL of the configuration.
func TestVendors(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
		asked = append(asked, r.URL.Path+" "+key)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{}`) // the model fails anyhow
	}))
	defer server.Close()
	keys := func(name string) string { return "key of " + name }
	for _, c := range []struct{ model, want string }{
		{`"provider":"openai","name":"m","baseURL":"AT/v1"`, "/v1/chat/completions Bearer key of OPENAI_API_KEY"},
		{`"provider":"openai","name":"m","api":"responses","baseURL":"AT/v1"`, "/v1/responses Bearer key of OPENAI_API_KEY"},
		{`"provider":"anthropic","name":"m","baseURL":"AT"`, "/v1/messages key of ANTHROPIC_API_KEY"},
		{`"provider":"google","name":"m","baseURL":"AT"`, "/v1beta/models/m:streamGenerateContent key of GEMINI_API_KEY"},
		{`"provider":"ollama","name":"m","baseURL":"AT/v1"`, "/v1/chat/completions "},
	} {
		m, err := vendor.NewMaker(keys).Model(model(t, `{`+strings.ReplaceAll(c.model, "AT", server.URL)+`}`))
		if err != nil {
			t.Fatal(err)
		}
		asked = nil
		for _, err := range m.Stream(context.Background(), &agent.Request{Messages: []agent.Message{agent.Say("hi")}}) {
			if err == nil {
				t.Errorf("%s answers", c.model)
			}
		}
		if len(asked) != 1 || asked[0] != c.want {
			t.Errorf("%s asked %q, want %q", c.model, asked, c.want)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// Without a key the error names the variable to set.
func TestVendorWithoutAKey(t *testing.T) {
	for provider, want := range map[string]string{
		"azure": "set AZURE_OPENAI_ENDPOINT, and AZURE_OPENAI_API_KEY or ", "vertex": "set GOOGLE_CLOUD_PROJECT in", "bedrock": "set AWS_REGION or AWS_DEFAULT_REGION, and ",
		"openai": "set OPENAI_API_KEY in", "anthropic": "set ANTHROPIC_API_KEY in", "google": "set GEMINI_API_KEY or GOOGLE_API_KEY in", "ollama": "",
	} {
		_, err := vendor.NewMaker(noKeys).Model(model(t, `{"provider":"`+provider+`","name":"m"}`))
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", provider, err, want)
		}
	}
	if _, err := vendor.NewMaker(noKeys).Model(model(t, `{"provider":"openai","name":"m","baseURL":"http://127.0.0.1:1/v1"}`)); err != nil {
		t.Errorf("another base URL without a key: %v, want no error", err)
	}
}

// A script needs no key; a missing or malformed script is an error.
func TestScriptProvider(t *testing.T) {
	if _, err := vendor.NewMaker(noKeys).Model(model(t, `{"provider":"script","name":"s","providerOptions":{"script":"say hi"}}`)); err != nil {
		t.Error(err)
	}
	for _, options := range []string{`{}`, `{"script":"sing"}`} {
		_, err := vendor.NewMaker(noKeys).Model(model(t, `{"provider":"script","name":"s","providerOptions":`+options+`}`))
		if shoal.KindOf(err) != shoal.InvalidArgument {
			t.Errorf("%s: %v", options, err)
		}
	}
}

// A script answers in the space that it is asked in; the configuration itself stays.
func TestScriptInSpace(t *testing.T) {
	config := func(m string) *agentconfig.Config { return &agentconfig.Config{Model: model(t, m)} }
	scripted := config(`{"provider":"script","name":"s","providerOptions":{"script":"say I am in {{spaceId}}, yes, {{spaceId}}."}}`)
	if got := vendor.InSpace(scripted, "attic").Model.ProviderOptions["script"]; got != "say I am in attic, yes, attic." {
		t.Errorf("in the space attic it plays %q", got)
	}
	if got := scripted.Model.ProviderOptions["script"]; got != "say I am in {{spaceId}}, yes, {{spaceId}}." {
		t.Errorf("the configuration has become %q", got)
	}
	other := config(`{"provider":"openai","name":"m","providerOptions":{"script":"{{spaceId}}"}}`)
	if vendor.InSpace(other, "attic") != other {
		t.Error("the configuration of another provider is changed")
	}
}
