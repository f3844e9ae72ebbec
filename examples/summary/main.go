// Command summary shows a long conversation of which the model sees a summary and
// the last messages, while the store keeps every message.
//
//	go run ./examples/summary
//
// Scripts play the agent's model and the cheaper model that writes the summaries.
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
	model := script.Func(func(r *agent.Request) script.Answer {
		return script.Answer{Text: fmt.Sprintf("(scripted) I see %d messages.", len(r.Messages))}
	})
	summarizer := script.Func(func(*agent.Request) script.Answer {
		return script.Answer{Text: "(scripted) They count what the model sees."}
	})
	a, err := agent.New(model, agent.Options{Reduction: agent.Reduction{
		Strategy: agent.ReduceSummary, Target: 4, Threshold: 2, Summarizer: summarizer,
	}})
	if err != nil {
		return err
	}
	c := agent.NewConversation()
	for i := range 8 {
		for event, err := range a.Stream(ctx, c, agent.Say(fmt.Sprintf("Question %d?", i+1))) {
			if err != nil {
				return err
			}
			switch e := event.(type) {
			case agent.Reduced:
				fmt.Fprintf(out, "  [%d messages reduced to %d, by %s, summary reused: %v]\n", e.Before, e.After, e.Strategy, e.Cached)
			case agent.TextDelta:
				fmt.Fprint(out, e.Text)
			case agent.TurnFinished:
				fmt.Fprintln(out)
			}
		}
	}
	stored, err := c.Count(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The store keeps all %d messages.\n", stored)
	return nil
}
