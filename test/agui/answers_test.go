package agui_test

import (
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func TestPermission(t *testing.T) {
	t.Parallel()
	careful := agent.Configure(weather, func(s *agent.ToolSpec) { s.RequiresPermission = true })
	asks := script.Answer{Calls: []agent.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"city":"Kiel"}`}}}
	for _, c := range []struct {
		name  string
		entry map[string]any
		want  string
	}{
		{"allowed", map[string]any{"status": "resolved", "payload": map[string]any{"approved": true}}, "tool rain in Kiel"},
		{"denied", map[string]any{"status": "resolved", "payload": map[string]any{"approved": false, "reason": "Not today."}}, `tool Permission denied. The call was not executed. Reason: Not today. {"status":"denied"}`},
		{"abandoned", map[string]any{"status": "cancelled"}, `tool Permission denied. The call was not executed. Reason: Nobody wanted to decide. {"status":"denied"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := meet(t, agent.NewMemory(), scripted(agent.Options{Tools: []agent.Tool{careful}}, asks, script.Answer{Text: "So be it."}))
			got := client.say("u1", "Rain?", nil)
			got.sees(t, "interrupt", "user Rain?\nassistant weather{\"city\":\"Kiel\"}\n")
			if len(got.Interrupts) != 1 || got.Interrupts[0].Reason != "tool_call" || got.Interrupts[0].ToolCallID != "c1" {
				t.Fatalf("the run is interrupted by %+v", got.Interrupts)
			}
			if len(got.Usage) != 1 || got.Usage[0].Model != "script" {
				t.Errorf("the run that called the model reports %+v", got.Usage)
			}
			if len(got.Custom) != 1 || got.Custom[0].Name != "requested" {
				t.Errorf("on the way the client heard %+v", got.Custom)
			}
			c.entry["interruptId"] = got.Interrupts[0].ID
			got = client.run(resume(c.entry))
			got.sees(t, "success", "user Rain?\nassistant weather{\"city\":\"Kiel\"}\n"+c.want+"\nassistant So be it.\n")
		})
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(id string) order
		want   string
	}{
		{"answered", func(id string) order {
			return resume(map[string]any{"interruptId": id, "status": "resolved", "payload": map[string]any{"answer": "Kiel"}})
		}, "tool Kiel"},
		{"answered in one word", func(id string) order {
			return resume(map[string]any{"interruptId": id, "status": "resolved", "payload": "Kiel"})
		}, "tool Kiel"},
		{"abandoned", func(id string) order {
			return resume(map[string]any{"interruptId": id, "status": "cancelled"})
		}, "tool The question was not answered."},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := meet(t, agent.NewMemory(), scripted(agent.Options{Tools: []agent.Tool{agent.AskUser()}},
				script.Answer{Calls: []agent.ToolCall{{ID: "c1", Name: "ask_user", Arguments: `{"question":"Which city?"}`}}},
				script.Answer{Text: "Well, then."}))
			got := client.say("u1", "Rain?", nil)
			if len(got.Interrupts) != 1 || got.Interrupts[0].Message != "Which city?" {
				t.Fatalf("the run is interrupted by %+v", got.Interrupts)
			}
			got = client.run(c.answer(got.Interrupts[0].ID))
			got.sees(t, "success", "user Rain?\nassistant ask_user{\"question\":\"Which city?\"}\n"+c.want+"\nassistant Well, then.\n")
		})
	}
}

// resume is a run that answers an interrupt.
func resume(entry map[string]any) order {
	return order{Run: map[string]any{"resume": []any{entry}}}
}

// A turn that has used its steps goes on when somebody grants more; without that it ends
// with a closing answer, or fails if it is to have none.
func TestMoreSteps(t *testing.T) {
	t.Parallel()
	look := script.Answer{Calls: []agent.ToolCall{{Name: "weather", Arguments: `{"city":"Kiel"}`}}}
	for _, c := range []struct{ approved, fails bool }{{approved: true}, {}, {fails: true}} {
		o := agent.Options{Tools: []agent.Tool{weather}, MaxSteps: 1, Continuation: 1, NoClosingAnswer: c.fails}
		client := meet(t, agent.NewMemory(), scripted(o, look, script.Answer{Text: "Rain."}))
		got := client.say("u1", "Rain?", nil)
		if len(got.Interrupts) != 1 || got.Interrupts[0].Reason != "confirmation" {
			t.Fatalf("the run is interrupted by %+v", got.Interrupts)
		}
		got = client.run(resume(map[string]any{"interruptId": got.Interrupts[0].ID, "status": "resolved", "payload": map[string]any{"approved": c.approved}}))
		seen := "user Rain?\nassistant weather{\"city\":\"Kiel\"}\ntool rain in Kiel\n"
		if c.fails {
			got.sees(t, "error", seen)
			continue
		}
		got.sees(t, "success", seen+"assistant Rain.\n")
	}
}

// A sub-agent's words appear under its own name, also when a run had to wait in
// between, and are not taken for the agent's when they come back.
func TestSubAgent(t *testing.T) {
	t.Parallel()
	careful := agent.Configure(weather, func(s *agent.ToolSpec) { s.RequiresPermission = true })
	scout, err := agent.New(script.New(
		script.Answer{Text: "I look.", Calls: []agent.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"city":"Kiel"}`}}},
		script.Answer{Text: "Rain."},
	), agent.Options{Name: "scout", Description: "Scouts.", Tools: []agent.Tool{careful}})
	if err != nil {
		t.Fatal(err)
	}
	store := agent.NewMemory()
	c := meet(t, store, scripted(agent.Options{Tools: []agent.Tool{agent.AsTool(scout, agent.SubAgent{WithoutPermission: true})}},
		script.Answer{Calls: []agent.ToolCall{{ID: "c1", Name: "scout", Arguments: `{"input":"Kiel?"}`}}},
		script.Answer{Text: "Umbrella."}, script.Answer{Text: "Bye."}))
	got := c.say("u1", "Rain?", nil)
	got.sees(t, "interrupt", `
user Rain?
assistant scout{"input":"Kiel?"}
assistant(sub-agent) I look. weather{"city":"Kiel"}
`)
	if len(got.Interrupts) != 1 || got.Interrupts[0].SubagentRunID == "" || got.Interrupts[0].SubagentRunID != got.Messages[2].SubagentRunID {
		t.Fatalf("the run is interrupted by %+v", got.Interrupts)
	}
	got = c.run(resume(map[string]any{"interruptId": got.Interrupts[0].ID, "status": "resolved", "payload": map[string]any{"approved": true}}))
	want := `
user Rain?
assistant scout{"input":"Kiel?"}
tool Rain.
assistant(sub-agent) I look. weather{"city":"Kiel"}
tool(sub-agent) rain in Kiel
assistant(sub-agent) Rain.
assistant Umbrella.
`
	got.sees(t, "success", want)
	got = c.say("u2", "Bye", nil)
	got.sees(t, "success", want+"user Bye\nassistant Bye.\n")
	if stored := history(t, store); stored != "user Rain?\nassistant\ntool\nassistant Umbrella.\nuser Bye\nassistant Bye.\n" {
		t.Errorf("stored is\n%s", stored)
	}
}
