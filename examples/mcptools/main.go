// Command mcptools gives an agent the tools of an MCP server. The server is Shoal
// itself, so your model takes part in its spaces.
//
//	export SHOAL_KEY=$(bin/shoal keys create --entity scout --join welcome -q)
//	OPENAI_API_KEY=… go run ./examples/mcptools "Who is here? Say hello to them in welcome."
//
// Without OPENAI_API_KEY a script plays the model; a line on standard error says so.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/mcptool"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	model := openai.Chat("gpt-5-mini")
	if os.Getenv("OPENAI_API_KEY") == "" {
		fmt.Fprintln(os.Stderr, "no OPENAI_API_KEY: a script plays the model")
		model = lister()
	}
	task := cmp.Or(strings.Join(os.Args[1:], " "), "Who is here?")
	answer, err := run(ctx, model, cmp.Or(os.Getenv("SHOAL_URL"), "http://127.0.0.1:7462"), os.Getenv("SHOAL_KEY"), task)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println(answer)
}

func run(ctx context.Context, model agent.Model, url, key, task string) (string, error) {
	requiresPermission := false // the agent may do whatever its key allows, without approval
	shoalTools, err := mcptool.Connect(ctx, mcptool.Server{
		Name: "shoal", URL: url + "/mcp", Headers: map[string]string{"Authorization": "Bearer " + key},
		RequiresPermission: &requiresPermission,
	})
	if err != nil {
		return "", err
	}
	defer func() { _ = shoalTools.Close() }() // never fails
	a, err := agent.New(model, agent.Options{Name: "scout", Tools: shoalTools.Tools()})
	if err != nil {
		return "", err
	}
	result, err := a.Run(ctx, agent.NewConversation(), agent.Say(task))
	if err != nil {
		return "", err
	}
	return result.Text(), nil
}

// lister returns the scripted model: it calls list_agents and repeats the result.
func lister() agent.Model {
	return script.Func(func(r *agent.Request) script.Answer {
		if results := r.Messages[len(r.Messages)-1].Results(); len(results) > 0 {
			return script.Answer{Text: "(scripted) list_agents returned:\n" + results[0].Text}
		}
		return script.Answer{Calls: []agent.ToolCall{{Name: "list_agents", Arguments: `{}`}}}
	})
}
