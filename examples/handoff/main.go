// Command handoff shows a front desk that transfers the conversation to an agent for
// invoices, which pays after a person has permitted it and takes the next question, too.
//
//	go run ./examples/handoff
//
// Scripts play the models.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	pay := agent.NeedsPermission(agent.Func("pay", "Pays an invoice.", func(_ context.Context, in struct {
		Invoice int `json:"invoice"`
	},
	) (string, error) {
		return fmt.Sprintf("paid invoice %d", in.Invoice), nil
	}))
	invoices, desk := scripts()
	billing, err := agent.New(invoices, agent.Options{
		Name: "billing", Description: "Answers questions about invoices and pays them.", Tools: []agent.Tool{pay},
	})
	if err != nil {
		return err
	}
	front, err := agent.New(desk, agent.Options{
		Name: "desk", Instructions: "Greet people and find out what they need.",
		Tools: []agent.Tool{agent.AsHandoff(billing, agent.Handoff{Back: true})},
		Answer: func(_ context.Context, p agent.Pending) (agent.Answer, bool) {
			fmt.Fprintf(out, "[%s wants to call %s %s: permitted]\n", p.Agent, p.Call.Name, p.Call.Arguments)
			return agent.Answer{Approved: true}, true
		},
	})
	if err != nil {
		return err
	}
	c := agent.NewConversation()
	for _, question := range []string{"Please pay invoice 7.", "Is it paid now?"} {
		result, err := front.Run(ctx, c, agent.Say(question))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s\n", result.Agent, result.Text())
		for _, by := range result.ByAgent {
			fmt.Fprintf(out, "  [%s used %d tokens]\n", by.Agent, by.Usage.InputTokens+by.Usage.OutputTokens)
		}
	}
	return nil
}

// scripts returns the models. That of billing acts on the note, which is the last message
// when it begins.
func scripts() (billing, desk agent.Model) {
	billing = script.New(
		script.Answer{Calls: []agent.ToolCall{{Name: "pay", Arguments: `{"invoice":7}`}}},
		script.Answer{Text: "(scripted) Invoice 7 is paid."},
		script.Answer{Text: "(scripted) Yes."},
	)
	desk = script.New(script.Answer{Calls: []agent.ToolCall{{Name: "transfer_to_billing", Arguments: `{"note":"invoice 7"}`}}})
	return billing, desk
}
