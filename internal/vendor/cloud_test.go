package vendor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/vendor"
)

// ask returns the error of a call.
func ask(t *testing.T, v *vendor.Maker, settings string) error {
	t.Helper()
	m, err := v.Model(model(t, "{"+settings+"}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Stream(context.Background(), &agent.Request{Messages: []agent.Message{agent.Say("hi")}}) {
		if err != nil {
			return err
		}
	}
	t.Fatalf("%s answers", settings)
	return nil
}

// The model of a cloud is called as the environment of the server says, with its key or with
// tokens, which all runs share.
func TestClouds(t *testing.T) {
	issued := 0
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			issued++
			_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":3600}`, issued) // the model fails anyhow
			return
		}
		authorization, _, _ := strings.Cut(r.Header.Get("Authorization"), "/2")
		asked = append(asked, r.RequestURI+" "+authorization+r.Header.Get("Api-Key"))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{}`)
	}))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	file := filepath.Join(t.TempDir(), "credentials.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"type":"authorized_user","client_id":"c","client_secret":"s","refresh_token":"r","token_uri":"` + server.URL + `/token"}`)
	v := vendor.NewMaker(func(name string) string {
		return map[string]string{
			"AZURE_OPENAI_ENDPOINT": server.URL, "AZURE_OPENAI_API_KEY": "azure-key", "GOOGLE_CLOUD_PROJECT": "shop", "GOOGLE_CLOUD_LOCATION": "eu", "GOOGLE_APPLICATION_CREDENTIALS": file,
			"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "aws-secret",
		}[name]
	})
	for _, c := range []struct{ model, want string }{
		{`"provider":"azure","name":"gpt-5"`, "/openai/v1/chat/completions azure-key"},
		{`"provider":"azure","name":"gpt-5","api":"responses","baseURL":"AT/gateway"`, "/gateway/openai/v1/responses azure-key"},
		{`"provider":"vertex","name":"gemini-2.5-flash","baseURL":"AT"`, "/v1/projects/shop/locations/eu/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse Bearer token-1"},
		{`"provider":"vertex","name":"claude-opus-5","baseURL":"AT"`, "/v1/projects/shop/locations/eu/publishers/anthropic/models/claude-opus-5:streamRawPredict Bearer token-1"},
		{`"provider":"bedrock","name":"us.anthropic.claude-opus-5","baseURL":"AT"`, "/model/us.anthropic.claude-opus-5/invoke-with-response-stream AWS4-HMAC-SHA256 Credential=AKID"},
	} {
		asked = nil
		if err := ask(t, v, strings.ReplaceAll(c.model, "AT", server.URL)); len(asked) != 1 || asked[0] != c.want {
			t.Errorf("%s asked %q, want %q: %v", c.model, asked, c.want, err)
		}
	}
	// A file that cannot be used is named by its variable, and nothing of it is shown.
	for text, want := range map[string]string{`{"type":"secret"}`: "the key of a service account, or of gcloud,", "": "the key of a service account", "gone": "a file that it can read"} {
		if write(text); text == "gone" {
			file += ".gone"
		}
		_, err := v.Model(model(t, `{"provider":"vertex","name":"gemini-2.5-flash"}`))
		if missing := (&vendor.MissingKeyError{}); !errors.As(err, &missing) || !strings.Contains(err.Error(), "GOOGLE_APPLICATION_CREDENTIALS to a file") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("with the file %q: %v", text, err)
		}
		file = strings.TrimSuffix(file, ".gone")
	}
}

// Credentials of an app registration take the place of a key.
func TestAzureWithoutAKey(t *testing.T) {
	env := map[string]string{"AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:1", "AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c"}
	v := vendor.NewMaker(func(name string) string { return env[name] })
	azure := model(t, `{"provider":"azure","name":"gpt-5"}`)
	var missing *vendor.MissingKeyError
	if _, err := v.Model(azure); !errors.As(err, &missing) || !strings.Contains(err.Error(), "set AZURE_OPENAI_API_KEY or AZURE_TENANT_ID + AZURE_CLIENT_ID + AZURE_CLIENT_SECRET in its environment") {
		t.Errorf("without a secret: %v", err)
	}
	env["AZURE_CLIENT_SECRET"] = "s"
	if m, err := v.Model(azure); err != nil || m.Info().Provider != "azure.ai.openai" {
		t.Errorf("with a secret: %v", err)
	}
}

// What a cloud cannot do here is refused when the configuration is stored.
func TestCheckClouds(t *testing.T) {
	for settings, want := range map[string]string{
		`"provider":"bedrock","name":"amazon.nova-pro-v1:0"`:                                                     "must be a Claude model",
		`"provider":"bedrock","name":"arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"`: "",
		`"provider":"bedrock","name":"eu.anthropic.claude-opus-5"`:                                               "",
	} {
		err := vendor.Check(&agentconfig.Config{Model: model(t, "{"+settings+"}")})
		if (err == nil) != (want == "") || err != nil && (shoal.KindOf(err) != shoal.InvalidArgument || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
	// A limit of costs needs a price, which models of clouds have by their own names.
	for settings, priced := range map[string]bool{
		`"provider":"bedrock","name":"eu.anthropic.claude-sonnet-4-5-20250929-v1:0"`: true,
		`"provider":"vertex","name":"gemini-2.5-flash"`:                              true,
		`"provider":"vertex","name":"claude-opus-5"`:                                 true,
		`"provider":"azure","name":"gpt-5-mini"`:                                     true,
		`"provider":"azure","name":"our-deployment"`:                                 false,
	} {
		err := vendor.Check(&agentconfig.Config{Model: model(t, "{"+settings+"}"), Budget: agentconfig.Budget{MaxCostPerDay: 1}})
		if (err == nil) != priced {
			t.Errorf("%s with a limit of costs: %v", settings, err)
		}
	}
}
