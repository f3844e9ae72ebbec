// Command remote is a program that executes the runs of the remote agent clerk: an agent with
// two Go tools. One shows a card, the other runs only after a person has approved the call.
//
//	shoal agents apply -f clerk.yaml   # with remote: {}
//	SHOAL_KEY=$(shoal keys create --entity clerk --join welcome -q) go run ./examples/remote
//	shoal send welcome 'Book me a trip to Oslo' -m clerk
//
// A script plays the model; replace it with one of the packages in agent/provider.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/client/agentserve"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Getenv("SHOAL_URL"), os.Getenv("SHOAL_KEY")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// trip is what both tools are about.
type trip struct {
	To string `json:"to"`
}

// run executes runs until ctx ends.
func run(ctx context.Context, url, key string) error {
	show := agent.Func("show", "Shows a trip as a card.", func(ctx context.Context, in trip) (string, error) {
		return "shown", agentserve.Work(ctx).Card("TripCard", in)
	})
	book := agent.Configure(
		agent.Func("book", "Books a trip.", func(_ context.Context, in trip) (string, error) { return "booked: " + in.To, nil }),
		func(s *agent.ToolSpec) { s.RequiresPermission = true },
	)
	a, err := agent.New(model(), agent.Options{Instructions: "You book trips.", Tools: []agent.Tool{show, book}})
	if err != nil {
		return err
	}
	c, err := client.New(client.Options{URL: url, Key: key})
	if err != nil {
		return err
	}
	log := func(err error) { fmt.Fprintln(os.Stderr, "retrying:", err) }
	return c.Session(shoal.DefaultSession).Serve(ctx, "clerk", client.ServeOptions{Log: log}, agentserve.Handler(a))
}

// model is a script: it shows a trip, books it, and says what the tool answered.
func model() agent.Model {
	oslo := `{"to":"Oslo"}`
	return script.Func(func(r *agent.Request) script.Answer {
		results := r.Messages[len(r.Messages)-1].Results()
		switch {
		case len(results) == 0:
			return script.Answer{Text: "(scripted) Here is a trip. ", Calls: []agent.ToolCall{{Name: "show", Arguments: oslo}}}
		case results[0].Name == "show":
			return script.Answer{Calls: []agent.ToolCall{{Name: "book", Arguments: oslo}}}
		}
		return script.Answer{Text: "(scripted) The tool says: " + results[0].Text}
	})
}
