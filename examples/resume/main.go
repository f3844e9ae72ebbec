// Command resume shows a turn that survives the end of its process. The first start
// requests a permission and exits; the second one reads the turn from its files,
// answers the request, and resumes the turn.
//
//	go run ./examples/resume            # requests the permission and exits
//	go run ./examples/resume yes        # answers and resumes
//
// The conversation is stored in the directory that the environment variable DIR
// names, by default ./conversations. A script plays the model.
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
	defer func() { _ = files.Close() }() // nothing is left to write at this point
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
	result, err := a.Run(ctx, c, input...) // without an input, Run resumes the open turn
	if err != nil {
		return err
	}
	for _, p := range result.Pending {
		fmt.Fprintf(out, "waiting: may %s run %s %s? Run this command again with yes or no.\n", p.Agent, p.Call.Name, p.Call.Arguments)
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
