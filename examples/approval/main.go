// Command approval asks a person for permission before a tool runs.
//
//	go run ./examples/approval
//
// A script plays the model. The tool requires permission, which the turn requests
// on the terminal. Any answer other than "yes" denies the call, and the model sees
// the answer as the reason.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	type invoice struct {
		Amount float64 `json:"amount"`
	}
	pay := agent.Configure(
		agent.Func("pay", "Pays an invoice.", func(_ context.Context, in invoice) (string, error) {
			return fmt.Sprintf("paid %.2f EUR", in.Amount), nil
		}),
		func(s *agent.ToolSpec) { s.RequiresPermission = true },
	)
	lines := bufio.NewScanner(in)
	a, err := agent.New(clerk(), agent.Options{
		Tools: []agent.Tool{pay},
		Answer: func(_ context.Context, p agent.Pending) (agent.Answer, bool) {
			fmt.Fprintf(out, "%s wants to call %s %s. Type yes, or a reason to refuse: ", p.Agent, p.Call.Name, p.Call.Arguments)
			if !lines.Scan() {
				return agent.Answer{}, false // the turn keeps waiting
			}
			answer := strings.TrimSpace(lines.Text())
			return agent.Answer{Approved: answer == "yes", Reason: answer}, true
		},
	})
	if err != nil {
		return err
	}
	result, err := a.Run(ctx, agent.NewConversation(), agent.Say("Pay the invoice over 70 EUR."))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, result.Outcome, result.Text())
	return nil
}

// clerk returns the scripted model: it calls the tool once and reports the result.
func clerk() agent.Model {
	return script.Func(func(r *agent.Request) script.Answer {
		if results := r.Messages[len(r.Messages)-1].Results(); len(results) > 0 {
			return script.Answer{Text: "(scripted) The tool says: " + results[0].Text}
		}
		return script.Answer{Calls: []agent.ToolCall{{Name: "pay", Arguments: `{"amount":70}`}}}
	})
}
