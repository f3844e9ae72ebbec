package run

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
)

// publicStep returns a step as others read it.
func (x *execution) publicStep(s agent.Step, started shoal.Time) shoal.Step {
	out := shoal.Step{
		Index: s.Index, Model: x.model.Name, FinishReason: string(s.Finish), Usage: usage(s.Usage, s.Cost),
		Text: s.Assistant.Text(), ToolCalls: []shoal.StepCall{}, StartedAt: started, MissingTools: x.missing,
	}
	for _, p := range s.Assistant.Parts {
		if p.Type == agent.ReasoningPart {
			out.Reasoning += p.Text
		}
	}
	results := map[string]agent.ToolResult{}
	for _, r := range s.Results {
		results[r.CallID] = r
	}
	for _, c := range s.Assistant.Calls() {
		call := shoal.StepCall{ToolCallID: c.ID, ToolName: c.Name, Args: x.publicArgs(x.agentName(), c), Status: "pending"}
		if r, ok := results[c.ID]; ok {
			call.Result, call.Status = &r.Text, string(r.Status)
		}
		out.ToolCalls = append(out.ToolCalls, call)
	}
	x.timings.Fill(&out)
	return out
}

// publicArgs returns the arguments of a call without the fields that state where it is
// shown. It returns {} for anything but a JSON object, and for one that nests too deeply.
func (x *execution) publicArgs(asker string, c agent.ToolCall) json.RawMessage {
	arguments := c.Arguments
	if t := x.findTool(asker, c.Name); t != nil {
		_, stripped, err := t.Strip(arguments)
		if err != nil {
			stripped = ""
		}
		arguments = stripped
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) != nil || object == nil || compose.TooDeep(arguments) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

func usage(u agent.Usage, cost float64) shoal.Usage {
	return shoal.Usage{
		InputTokens: u.InputTokens, CachedInputTokens: u.CachedTokens, OutputTokens: u.OutputTokens, ReasoningTokens: u.ReasoningTokens,
		Cost: cost, Currency: shoal.Currency,
	}
}
