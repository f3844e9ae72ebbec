package bedrock_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/bedrock"
)

// An agent on Claude at Bedrock. A server on this machine plays AWS.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		credential, _, _ := strings.Cut(r.Header.Get("Authorization"), "/")
		fmt.Println(r.URL.Path, credential)
		plays(answer("end_turn", text)...)(w, r)
	}))
	defer server.Close()
	model := bedrock.Claude("us.anthropic.claude-sonnet-4-5-20250929-v1:0", bedrock.Options{
		Region:      "eu-central-1",
		Credentials: bedrock.Static(bedrock.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret"}), // without it, those of the environment
	}, anthropic.Options{BaseURL: server.URL, HTTPClient: server.Client()}) // without BaseURL, that of the region
	a, err := agent.New(model, agent.Options{Instructions: "Answer in one sentence."})
	if err != nil {
		panic(err)
	}
	answer, err := a.Ask(context.Background(), "Hello?")
	fmt.Println(answer, err)
	// Output:
	// /model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke-with-response-stream AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE
	// Hi 😀 <nil>
}
