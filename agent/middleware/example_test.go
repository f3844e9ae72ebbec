package middleware_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/middleware"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// The model calls of a test are recorded once, and replayed from then on.
func ExampleReplay() {
	dir, err := os.MkdirTemp("", "cassette")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "umbrella.jsonl")

	ask := func(c *middleware.Cassette, model agent.Model) string {
		a, err := agent.New(model, agent.Options{Middleware: []agent.Middleware{c.Middleware()}})
		if err != nil {
			panic(err)
		}
		r, err := a.Run(context.Background(), agent.NewConversation(), agent.Say("Umbrella?"))
		if err != nil {
			panic(err)
		}
		if err := c.Close(); err != nil {
			panic(err)
		}
		return r.Text()
	}
	recording, err := middleware.Record(path)
	if err != nil {
		panic(err)
	}
	fmt.Println(ask(recording, script.New(script.Answer{Text: "Yes, take one."})))

	playing, err := middleware.Replay(path)
	if err != nil {
		panic(err)
	}
	fmt.Println(ask(playing, script.New())) // this model has no answer
	// Output:
	// Yes, take one.
	// Yes, take one.
}

// What the model reads and what is logged contains no card numbers.
func Example() {
	cards := regexp.MustCompile(`\b\d{4} ?\d{4} ?\d{4} ?\d{4}\b`)
	model := script.Func(func(r *agent.Request) script.Answer { return script.Answer{Text: "You said: " + r.Messages[0].Text()} })
	a, err := agent.New(model, agent.Options{
		Middleware: []agent.Middleware{middleware.Redact("[card]", cards), middleware.Cache(1000)},
		Observers:  []agent.Observer{middleware.Log(slog.New(slog.DiscardHandler))},
	})
	if err != nil {
		panic(err)
	}
	r, err := a.Run(context.Background(), agent.NewConversation(), agent.Say("Charge 4111 1111 1111 1111, please."))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Text())
	// Output: You said: Charge [card], please.
}
