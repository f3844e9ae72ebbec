// Command resume shows a turn that outlives its process. The first start asks
// for a permission and ends; the second one finds the turn in its files, takes
// the answer, and goes on where it was.
//
//	go run ./examples/resume            # asks, and ends
//	go run ./examples/resume yes        # answers, and goes on
//
// The conversation is kept in ./conversations, or in the directory of DIR. A
// script plays the model.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/filestore"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func main() {
	answer := ""
	if len(os.Args) > 1 {
		answer = os.Args[1]
	}
	dir := cmp.Or(os.Getenv("DIR"), "conversations")
	if err := run(context.Background(), dir, answer, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, answer string, out io.Writer) error {
	files, err := filestore.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = files.Close() }() // everything was stored before
	a, err := newAgent()
	if err != nil {
		return err
	}
	c := agent.OpenConversation(files, "deploy")
	pending, err := c.Pending(ctx)
	if err != nil {
		return err
	}
	var input []agent.Message
	if len(pending) == 0 {
		input = append(input, agent.Say("Deploy the shop."))
	}
	for _, p := range pending {
		if answer == "" {
			fmt.Fprintf(out, "still waiting: may %s run %s?\n", p.Agent, p.Call.Name)
			return nil
		}
		if err := c.Answer(ctx, agent.Answer{PendingID: p.ID, Approved: answer == "yes", Reason: answer}); err != nil {
			return err
		}
	}
	result, err := a.Run(ctx, c, input...) // without an input the unfinished turn goes on
	if err != nil {
		return err
	}
	for _, p := range result.Pending {
		fmt.Fprintf(out, "waiting: may %s run %s %s? Start me again with yes or no.\n", p.Agent, p.Call.Name, p.Call.Arguments)
	}
	if result.Outcome == agent.Completed {
		fmt.Fprintln(out, result.Text())
	}
	return nil
}

func newAgent() (*agent.Agent, error) {
	type order struct {
		Service string `json:"service"`
	}
	deploy := agent.Configure(
		agent.Func("deploy", "Deploys a service.", func(_ context.Context, in order) (string, error) {
			return in.Service + " is deployed", nil
		}),
		func(s *agent.ToolSpec) { s.RequiresPermission = true },
	)
	model := script.PerTurn(
		script.Answer{Text: "I will. ", Calls: []agent.ToolCall{{Name: "deploy", Arguments: `{"service":"shop"}`}}},
		script.Answer{Text: "(scripted) Done."},
	)
	return agent.New(model, agent.Options{Name: "deployer", Tools: []agent.Tool{deploy}})
}
