package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Handoff configures how an agent transfers the conversation to another one.
type Handoff struct {
	// Name and Description are what the model sees. Defaults: transfer_to_ and the name of
	// the other agent, and a sentence that ends with its description.
	Name        string
	Description string
	// Back gives the other agent a tool that transfers the conversation back, with the default
	// name and description. That is how two agents can transfer to each other: an
	// agent that was created first cannot name a later one.
	Back bool
	// History returns what the other agent's model sees of the messages before the handoff;
	// nil means all of them. It receives them as that model would see them and must not
	// change them. It is called for every request of the other agent, and must return the
	// same messages for the same messages, so that prompt caches stay valid. If what it
	// returns is not a valid history, or if it panics, the turn fails.
	History func(before []Message) []Message
}

// maxHandoffs limits how often a turn is transferred.
const maxHandoffs = 8

var handoffSchema = json.RawMessage(`{"type":"object","properties":{"note":{"type":"string",` +
	`"description":"What the other agent should know that the conversation does not say."}}}`)

// AsHandoff returns a tool that transfers the conversation to another agent, which goes on
// in place of the present one: its model makes the next step of the same turn, with its
// instructions, tools, settings, limits, context providers and middleware. It also takes
// the next turns of the conversation, whenever the agent is run that the first of these
// turns was run with, until it transfers the conversation, too. For a task whose result
// the present agent needs, use [AsTool].
//
// The other agent sees the messages of the conversation, including tool calls and results,
// without what was for the present agent only: instructions, what context providers added,
// reasoning, and the call of this tool, which it sees as a message with the note. Each agent
// sees its own messages unchanged. [Message.Agent] names the author of an answer.
//
// The handoff takes effect when all calls of its step have their results. Of several
// handoffs in a step only the first permitted one counts, and a turn is transferred at most
// 8 times; the model reads this as a failed result. The tool is like any other for
// [NeedsPermission], Options.Authorize and middleware that blocks calls, but its Call is
// never called: middleware around tools does not see it.
//
// Of the options, those of the agent that speaks hold, with these exceptions: the observers,
// TurnTimeout, MaxTokens and MaxCost of the agent that was run hold for the whole turn, and its
// Answer and Price also for agents that have none. MaxSteps, MaxErrors, MaxTokens and MaxCost of
// another agent count from the handoff. Remembered permissions belong to one agent: what was
// allowed for a tool of one is asked again for a tool of that name of another.
//
// Agents that can transfer to each other have different names. [New] returns an error if
// they do not, and if to is nil. A turn that was transferred is resumed with the agent that it
// was run with; another one that does not know the agent that speaks fails with ErrConflict.
func AsHandoff(to *Agent, h Handoff) Tool {
	if to == nil {
		return &handoff{spec: ToolSpec{Name: orElse(h.Name, "transfer")}}
	}
	name, said := to.opts.Name, ""
	if to.opts.Description != "" {
		said = " " + to.opts.Description
	}
	return &handoff{to: to, back: h.Back, history: h.History, spec: ToolSpec{
		Name:        orElse(h.Name, "transfer_to_"+name),
		Description: orElse(h.Description, "Transfers the conversation to the agent "+name+", which answers from now on."+said),
		Schema:      handoffSchema,
	}}
}

// handoff is the tool that [AsHandoff] returns.
type handoff struct {
	to      *Agent
	spec    ToolSpec
	back    bool
	history func([]Message) []Message
}

func (h *handoff) Spec() ToolSpec { return h.spec }

// Call fails: the loop performs a handoff itself.
func (h *handoff) Call(context.Context, ToolCall) (Output, error) {
	return Output{}, errors.New("a handoff was called outside of a turn")
}

// handoffOf returns the handoff that a tool is, nil for any other tool.
func handoffOf(tool Tool) *handoff {
	switch tool := tool.(type) {
	case *configured:
		return handoffOf(tool.Tool)
	case *handoff:
		return tool
	}
	return nil
}

// member is an agent that takes part in the conversations of the agent that is run, with the
// rules that hold while it speaks there.
type member struct {
	agent *Agent
	rules *rules
}

// newTeam returns the agents that a can transfer to, directly or through others, by name;
// a itself is among them.
func (a *Agent) newTeam() (map[string]*member, error) {
	team := map[string]*member{a.opts.Name: {agent: a}}
	backs := map[*Agent][]Tool{}
	order := []*Agent{a}
	for i := 0; i < len(order); i++ {
		from := order[i]
		for _, tool := range from.opts.Tools {
			h := handoffOf(tool)
			if h == nil {
				continue
			}
			if h.to == nil {
				return nil, Invalid("Tools", fmt.Sprintf("has the handoff %q to no agent", h.spec.Name))
			}
			known := team[h.to.opts.Name]
			if known != nil && known.agent != h.to {
				return nil, Invalid("Tools", fmt.Sprintf("has handoffs that lead to two agents named %q; give them different names", h.to.opts.Name))
			}
			if known == nil {
				team[h.to.opts.Name] = &member{agent: h.to}
				order = append(order, h.to)
			}
			if h.back && !h.to.transfersTo(from) {
				backs[h.to] = append(backs[h.to], AsHandoff(from, Handoff{}))
			}
		}
	}
	for _, one := range order {
		r, err := one.newRules(backs[one])
		if err != nil {
			return nil, err
		}
		if len(team) > 1 {
			r.team = team
		}
		if one != a {
			r.choicePrefix = one.opts.Name + "/"
			if one.opts.Price == nil && a.opts.Price != nil {
				r.priceOf = a.opts.Price
			}
		}
		team[one.opts.Name].rules = r
	}
	return team, nil
}

// transfersTo reports whether the agent has a handoff of its own to another one.
func (a *Agent) transfersTo(other *Agent) bool {
	for _, tool := range a.opts.Tools {
		if h := handoffOf(tool); h != nil && h.to == other {
			return true
		}
	}
	return false
}

// speaker returns the agent that has the conversation after its messages: the one that it was
// transferred to last, or that wrote the last answer, or a itself.
func (a *Agent) speaker(messages []Message) *member {
	for i := len(messages) - 1; i >= 0; i-- {
		name := ""
		switch m := &messages[i]; m.Role {
		case ToolRole:
			if name = transferredTo(m.Results()); name == "" {
				continue
			}
		case Assistant:
			name = m.Agent
		default:
			continue
		}
		if at := a.team[name]; at != nil {
			return at
		}
		break
	}
	return a.team[a.opts.Name]
}

// transferredTo returns the agent that a step with these results transfers the conversation to,
// empty if it does not.
func transferredTo(results []ToolResult) string {
	for i := range results {
		if to := results[i].TransferredTo; to != "" {
			return to
		}
	}
	return ""
}

// noteOf returns the note in the arguments of a handoff.
func noteOf(arguments string) string {
	var in struct{ Note string }
	if json.Unmarshal([]byte(arguments), &in) != nil {
		return ""
	}
	return in.Note
}
