package script_test

import (
	"context"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// An answer is chosen by what the user said and by the results of the turn.
func TestConditions(t *testing.T) {
	answers, err := script.Parse(`
hears laptop notebook
call  choose#c {}
else
say   I sell laptops.
---
when  c.item.name "Air"
say   never: a string stands as it is
else
when  c.item.name Air
when  c.item.price 1299
say   The Air, then.
else
when  c.item null
say   Nothing, then.
else
when  choose denied
say   Nobody may choose.
`)
	if err != nil {
		t.Fatal(err)
	}
	user := agent.Say
	call := agent.Message{Role: agent.Assistant, Parts: []agent.Part{{Type: agent.CallPart, Call: &agent.ToolCall{ID: "c", Name: "choose"}}}}
	result := func(status agent.ResultStatus, text string) agent.Message {
		r := agent.ToolResult{CallID: "c", Name: "choose", Status: status, Text: text}
		return agent.Message{Role: agent.ToolRole, Parts: []agent.Part{{Type: agent.ResultPart, Result: &r}}}
	}
	for _, c := range []struct {
		name     string
		messages []agent.Message
		want     string
	}{
		{"a word", []agent.Message{user("I need a LAPTOP, please")}, "choose{}"},
		{"no such word", []agent.Message{user("laptops?")}, "I sell laptops."},
		{"only the newest message", []agent.Message{user("laptop"), user("hello")}, "I sell laptops."},
		{"fields", []agent.Message{user("laptop"), call, result(agent.ResultOK, `{"item": {"name": "Air", "price": 1299}}`)}, "The Air, then."},
		{"one of two conditions", []agent.Message{user("laptop"), call, result(agent.ResultOK, `{"item":{"name":"Air","price":1}}`)}, "no answer 2"},
		{"null", []agent.Message{user("laptop"), call, result(agent.ResultOK, `{"item":null}`)}, "Nothing, then."},
		{"a status, by the tool's name", []agent.Message{user("laptop"), call, result(agent.ResultDenied, "No.")}, "Nobody may choose."},
		{"no JSON", []agent.Message{user("laptop"), call, result(agent.ResultOK, "Air")}, "no answer 2"},
		{
			"a result of an earlier turn",
			[]agent.Message{user("laptop"), call, result(agent.ResultDenied, "No."), user("laptop"), call},
			"no answer 2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := played(t.Context(), script.PerTurn(answers...), c.messages); !strings.Contains(got, c.want) {
				t.Errorf("the script plays %q, want %q", got, c.want)
			}
		})
	}
}

// played writes what a model answers.
func played(ctx context.Context, m *script.Model, messages []agent.Message) string {
	var b strings.Builder
	for c, err := range m.Stream(ctx, &agent.Request{Messages: messages}) {
		if err != nil {
			return "ERROR " + err.Error()
		}
		b.WriteString(c.Name + c.Text)
	}
	return b.String()
}
