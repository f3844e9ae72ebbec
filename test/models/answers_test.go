package models_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// What server.mjs says.
const (
	grey    = "Grüße aus Kiel: es ist grau ☂, und bis heute Abend fällt noch viel Regen. Nimm bitte einen Schirm mit."
	thought = "Kiel lies on the coast, so I should check the wind as well as the rain before I say anything about an umbrella."
)

// report is the form of a structured answer.
type report struct {
	City    string `json:"city"`
	Degrees int    `json:"degrees"`
	Wet     bool   `json:"wet"`
}

func asReport(o *agent.Options) {
	o.Output = &agent.Structured{
		Mode:  agent.OutputNative,
		Types: []agent.OutputSchema{agent.OutputOf[report]("report", "The weather of a city.")},
	}
	o.Tools = nil
}

func thinking(o *agent.Options) {
	o.Settings.Reasoning = agent.Reasoning{Enabled: true, BudgetTokens: 2048, IncludeThoughts: true, Summary: "auto"}
}

// Over a wire on which nothing goes wrong, a turn is what the model said.
func TestAnswers(t *testing.T) {
	t.Parallel()
	eachWire(t, func(t *testing.T, w wire) {
		for _, p := range answers {
			if p.only != nil && !p.only(w) {
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				p.test(t, w)
			})
		}
	})
}

var answers = []play{
	{name: "text", text: grey, check: func(t *testing.T, _ wire, s story) {
		if entries := journal(t, t.Name()); len(entries) != 1 || entries[0].Response.Status != 200 {
			t.Errorf("aimock remembers %d requests: %v", len(entries), entries)
		}
	}},
	{name: "reasoning", options: thinking, text: "Take an umbrella.", check: func(t *testing.T, _ wire, s story) {
		if got := s.kept()[0].said(agent.ReasoningPart); got != thought {
			t.Errorf("the thoughts are %q", got)
		}
	}},
	{name: "reasoned call", options: thinking, attempts: 2, calls: 1, text: "It rains in Kiel.", check: thoughtsGoBack},
	{
		name: "redacted call", options: thinking, attempts: 2, calls: 1, text: "It rains in Kiel.",
		only: func(w wire) bool { return w.name == "anthropic" },
		check: func(t *testing.T, w wire, s story) {
			thoughtsGoBack(t, w, s)
			holds(t, s.attempts[1].body, `{"type": "redacted_thinking", "data": "d2hhdCBub2JvZHkgc2VlcyA="}`)
		},
	},
	{
		name: "signed call", say: "call", attempts: 2, calls: 1, text: "It rains in Kiel.",
		only:   func(w wire) bool { return w.name == "gemini" },
		faults: once(rewritten(`"id":"call_only"}`, `"id":"call_only"},"thoughtSignature":"c2lnbmVk"`)),
		check: func(t *testing.T, _ wire, s story) {
			holds(t, s.attempts[1].body, `{"functionCall": {"name": "weather"}, "thoughtSignature": "c2lnbmVk"}`)
		},
	},
	{
		name: "signed after the call", say: "call", attempts: 2, calls: 1, text: "It rains in Kiel.",
		only: func(w wire) bool { return w.name == "gemini" },
		faults: once(rewritten(
			`"id":"call_only"}}`, `"id":"call_only"},"thoughtSignature":"c2lnbmVk"},{"text":"","thoughtSignature":"YWdhaW4="}`,
		)),
		check: func(t *testing.T, _ wire, s story) {
			holds(t, s.attempts[1].body, `{"functionCall": {"name": "weather"}, "thoughtSignature": "c2lnbmVk"}`)
		},
	},
	{
		name: "signed text", say: "text then call", attempts: 2, calls: 1, text: "It rains in Kiel.",
		only:   func(w wire) bool { return w.name == "gemini" },
		faults: once(rewritten(`{"text":"w."}`, `{"text":"w."},{"text":"","thoughtSignature":"c2lnbmVk"}`)),
		check: func(t *testing.T, _ wire, s story) {
			holds(t, s.attempts[1].body, `{"text": "Let me look out of the window.", "thoughtSignature": "c2lnbmVk"}`)
		},
	},
	{name: "blank", attempts: 2, outcome: agent.Failed, reason: agent.ReasonEmpty, after: true},
	{name: "quiet call", attempts: 2, calls: 1, after: true},
	{name: "camera", attempts: 2, text: "A dot.", check: func(t *testing.T, w wire, s story) {
		oneResult(t, s, agent.ResultOK)
		if sent := string(s.attempts[1].body); !strings.Contains(sent, cmp.Or(w.imageText, pixel)) {
			t.Errorf("the picture did not go to the vendor: %s", sent)
		}
	}},
	{
		name: "history", say: "text", text: grey, before: []string{"parallel", "text then call", "reasoned call", "same ids", "short"},
		check: func(t *testing.T, _ wire, s story) {
			entries := journal(t, t.Name())
			said := entries[len(entries)-1].Body.Messages
			results := 0
			for _, m := range said {
				if m.Role == "tool" {
					results++
				}
			}
			if results != 6 {
				t.Errorf("aimock received %d results, want 6: %v", results, said)
			}
		},
	},
	{
		name: "history with thoughts", say: "reasoned call", attempts: 2, calls: 1, text: "It rains in Kiel.",
		options: thinking, before: []string{"reasoned call"}, check: thoughtsGoBack,
	},
	{name: "parallel", attempts: 2, calls: 2, text: "It rains in both.", check: func(t *testing.T, _ wire, s story) {
		if got := s.stored[0].Calls(); len(got) != 2 {
			t.Errorf("the first message holds %d calls", len(got))
		}
	}},
	{name: "text then call", attempts: 2, calls: 1, text: "It rains in Kiel.", check: func(t *testing.T, _ wire, s story) {
		if got := s.stored[0].Text(); got != "Let me look out of the window." {
			t.Errorf("beside the call stands %q", got)
		}
	}},
	{name: "twelve steps", options: func(o *agent.Options) { o.MaxSteps = 12 }, attempts: 12, calls: 11, text: "Eleven stops, all wet."},
	{
		name: "every step", options: func(o *agent.Options) { o.MaxSteps = 3 }, attempts: 4, calls: 3,
		outcome: agent.Failed, reason: agent.ReasonMaxSteps, check: func(t *testing.T, _ wire, s story) {
			for i, a := range s.attempts {
				body := strings.ToLower(string(a.body))
				if closing := i == 3; strings.Contains(body, `"none"`) != closing || !strings.Contains(body, `"description"`) {
					t.Errorf("attempt %d forbids tools: %v: %s", i+1, !closing, body)
				}
			}
		},
	},
	{
		name: "image", say: "image: what is this?", text: "A dot.",
		files: []agent.Part{agent.Image("image/png", pixelBytes)}, check: imageArrived,
	},
	{name: "usage", text: "Counted.", check: func(t *testing.T, _ wire, s story) {
		if got, want := s.end().Usage, (agent.Usage{InputTokens: 1200, OutputTokens: 34}); got != want {
			t.Errorf("the usage is %+v, want %+v", got, want)
		}
	}},
	{
		name: "usage with cache and thoughts", say: "usage", text: "Counted.",
		faults: func(w wire) []fault { return []fault{rewritten(w.counted...)} },
		check: func(t *testing.T, w wire, s story) {
			if got := s.end().Usage; got != w.usage {
				t.Errorf("the usage is %+v, want %+v", got, w.usage)
			}
		},
	},
	{name: "structured", options: asReport, text: `{"city":"Kiel","degrees":11,"wet":true}`, check: func(t *testing.T, w wire, s story) {
		holds(t, s.attempts[0].body, w.output)
		var got report
		if err := json.Unmarshal([]byte(s.text()), &got); err != nil || got != (report{City: "Kiel", Degrees: 11, Wet: true}) {
			t.Errorf("the answer is %+v (%v)", got, err)
		}
	}},
	{
		name: "misfit", options: asReport, text: `{"city":"Kiel","degrees":"eleven"}`,
		outcome: agent.Failed, reason: agent.ReasonOutput,
	},
	{
		name: "tool choice", say: "call", attempts: 2, calls: 1, text: "It rains in Kiel.",
		options: func(o *agent.Options) { o.ToolChoice = agent.ToolChoice{Mode: agent.ToolsSpecific, Name: "weather"} },
		check: func(t *testing.T, w wire, s story) {
			holds(t, s.attempts[0].body, w.choice)
			if tools := journal(t, t.Name())[0].Body.Tools; len(tools) != 2 || tools[0].Function.Name != "weather" {
				t.Errorf("aimock was offered the tools %v", tools)
			}
		},
	},
	{
		name: "longer than allowed", reason: agent.ReasonLength, text: "And then the",
		faults: func(w wire) []fault { return []fault{rewritten(w.incomplete...)} },
	},
	{
		name: "filtered", outcome: agent.Failed, reason: agent.ReasonFiltered, text: "I",
		faults: func(w wire) []fault { return []fault{rewritten(w.filtered...)} },
	},
	{name: "unknown tool", attempts: 2, text: "Then by train.", check: func(t *testing.T, _ wire, s story) {
		oneResult(t, s, agent.ResultUnknown)
	}},
	{
		name: "unknown tool stops", say: "unknown tool", options: func(o *agent.Options) { o.StopOnUnknownTool = true },
		outcome: agent.Failed, reason: agent.ReasonUnknownTool,
		check: func(t *testing.T, _ wire, s story) { oneResult(t, s, agent.ResultUnknown) },
	},
	{name: "same ids", attempts: 2, calls: 2, text: "It rains in both."},
	{name: "huge arguments", attempts: 2, text: "That was too much.", check: func(t *testing.T, _ wire, s story) {
		oneResult(t, s, agent.ResultInvalid)
		if n := len(s.attempts[1].body); n > 1<<20 {
			t.Errorf("the next request carries them on: it has %d bytes", n)
		}
	}},
}

func oneResult(t *testing.T, s story, want agent.ResultStatus) {
	t.Helper()
	if len(s.results) != 1 || s.results[0].Status != want {
		t.Errorf("the results are %.500v, want one that is %s", s.results, want)
	}
}

// thoughtsGoBack checks that what a vendor signed comes back to it, unchanged,
// with the results of the calls that followed from it.
func thoughtsGoBack(t *testing.T, w wire, s story) {
	t.Helper()
	again := s.attempts[len(s.attempts)-1].body
	switch w.name {
	case "anthropic": // aimock, being strict, has looked at its place too
		holds(t, again, `{"type": "thinking", "thinking": "`+thought+`", "signature": "c2lnbmVkIGJ5IHRoZSBtb2RlbA=="}`)
	case "responses":
		var sent struct {
			Input []struct{ Type, EncryptedContent string }
		}
		if err := json.Unmarshal(again, &sent); err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, item := range sent.Input {
			order = append(order, item.Type)
		}
		reasoning, call := slices.Index(order, "reasoning"), slices.Index(order, "function_call")
		if reasoning < 0 || call < reasoning || !strings.Contains(string(again), `"encrypted_content"`) {
			t.Errorf("the items that went back are %q", order)
		}
	}
	if len(s.stored) == 0 {
		t.Fatal("nothing is stored")
	}
	if got := s.stored[0].Calls(); len(got) != 1 || s.kept()[0].said(agent.ReasoningPart) != thought {
		t.Errorf("the step has %d calls and the thoughts %q", len(got), s.kept()[0].said(agent.ReasoningPart))
	}
}

// imageArrived checks that the vendor got the image as it wants it. The journal
// keeps images of chat completions only; of the other wires it holds the words
// that came with them.
func imageArrived(t *testing.T, w wire, s story) {
	t.Helper()
	holds(t, s.attempts[0].body, w.image)
	entries := journal(t, t.Name())
	if len(entries) != 1 || len(entries[0].Body.Messages) == 0 {
		t.Fatalf("aimock remembers %v", entries)
	}
	said := entries[0].Body.Messages[len(entries[0].Body.Messages)-1]
	if said.Role != "user" || !strings.Contains(string(said.Content), "image: what is this?") {
		t.Errorf("aimock received %s from %s", said.Content, said.Role)
	}
	if w.name == "chat" {
		holds(t, said.Content, w.image)
	}
}
