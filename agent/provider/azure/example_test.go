package azure_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/azure"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/token"
)

// An agent on a deployment of Azure, with the tokens of the program's own source. A server on
// this machine plays Azure.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.URL.Path, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, filtered+hi+stop) // a reader notices a cut
	}))
	defer server.Close()
	source := token.Func(func(context.Context) (token.Token, error) {
		return token.Token{Value: "entra", Expires: time.Now().Add(time.Hour)}, nil
	})
	model := azure.Chat("assistant", azure.Options{
		Endpoint: server.URL, // https://shop.openai.azure.com
		Token:    source,     // without it, the key in AZURE_OPENAI_API_KEY
		Model:    "gpt-5-mini",
	}, openai.Options{HTTPClient: server.Client(), Window: 400_000})
	a, err := agent.New(model, agent.Options{Instructions: "Answer in one sentence."})
	if err != nil {
		panic(err)
	}
	answer, err := a.Ask(context.Background(), "Hello?")
	fmt.Println(answer, err)
	// Output:
	// /openai/v1/chat/completions Bearer entra
	// Hi <nil>
}
