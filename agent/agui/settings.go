package agui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
)

// newAgent makes the agent of one run: the caller's, with what the client brings.
func newAgent(model agent.Model, o agent.Options, in *Input) (*agent.Agent, error) {
	own := o
	if err := settings(&o.Settings, in.ForwardedProps); err != nil {
		return nil, err
	}
	o.Instructions = withContext(o.Instructions, in.Context)
	if len(in.Tools) == 0 {
		return made(agent.New(model, o))
	}
	var err error
	if o.Tools, err = withFrontend(o.Tools, in.Tools); err != nil {
		return nil, err
	}
	// A person answers one call after another, and a call that waits would keep the
	// results of the others from the model.
	one := false
	o.ToolChoice.Parallel = &one
	a, err := agent.New(model, o)
	if err == nil {
		return a, nil
	}
	if _, ownErr := made(agent.New(model, own)); ownErr != nil {
		return nil, ownErr
	}
	return nil, err // so the client's tools are wrong
}

// made says that wrong options are the server's fault.
func made(a *agent.Agent, err error) (*agent.Agent, error) {
	if err != nil {
		return nil, &agent.Error{Op: "agui.Handler", Kind: agent.ErrInternal, Msg: "The agent could not be made.", Err: err}
	}
	return a, nil
}

// withFrontend adds the client's tools to the agent's own.
func withFrontend(tools []agent.Tool, frontend []Tool) ([]agent.Tool, error) {
	backend := map[string]bool{}
	for _, t := range tools {
		if t != nil { // agent.New reports it
			backend[t.Spec().Name] = true
		}
	}
	tools = slices.Clone(tools)
	for i, t := range frontend {
		if backend[t.Name] {
			return nil, agent.Invalid(fmt.Sprintf("body.tools[%d].name", i),
				fmt.Sprintf("is taken: Frontend tool '%s' conflicts with backend tool name; give it another name", t.Name))
		}
		spec := agent.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Parameters}
		if string(spec.Schema) == "null" {
			spec.Schema = nil
		}
		tools = append(tools, agent.External(spec))
	}
	return tools, nil
}

// withContext appends the client's context to the instructions.
func withContext(instructions string, entries []ContextEntry) string {
	if len(entries) == 0 {
		return instructions
	}
	var b strings.Builder
	b.WriteString(instructions)
	if instructions != "" {
		b.WriteString("\n\n")
	}
	b.WriteString("Context from the application:")
	for _, e := range entries {
		b.WriteString("\n- " + e.Description + ": " + e.Value)
	}
	return b.String()
}

// settings takes over what the client wants of the model. Properties that are
// not known belong to somebody else. Nobody gets more tokens than the server
// grants.
func settings(s *agent.Settings, props json.RawMessage) error {
	var wanted map[string]json.RawMessage
	if json.Unmarshal(props, &wanted) != nil {
		return nil // forwardedProps may be anything
	}
	var wrong faults
	take := func(name string, into any, kind string) bool {
		text, ok := wanted[name]
		if !ok || string(text) == "null" {
			return false
		}
		if json.Unmarshal(text, into) != nil {
			wrong.add("forwardedProps."+name, "must be "+kind)
			return false
		}
		return true
	}
	for name, into := range map[string]**float64{
		"temperature": &s.Temperature, "top_p": &s.TopP,
		"frequency_penalty": &s.FrequencyPenalty, "presence_penalty": &s.PresencePenalty,
	} {
		if v := new(float64); take(name, v, "a number") {
			*into = v
		}
	}
	if v := new(int64); take("seed", v, "an integer") {
		s.Seed = v
	}
	var most int
	if take("max_tokens", &most, "an integer") {
		if most < 1 {
			wrong.add("forwardedProps.max_tokens", "must be greater than zero")
		}
		if s.MaxOutputTokens == 0 || most < s.MaxOutputTokens {
			s.MaxOutputTokens = most
		}
	}
	var words stopWords
	if take("stop", &words, "a string or a list of strings") {
		s.Stop = words
	}
	slices.SortFunc(wrong, func(a, b agent.FieldError) int { return strings.Compare(a.Location, b.Location) })
	return wrong.err()
}

// stopWords are one string or several.
type stopWords []string

func (s *stopWords) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*s = stopWords{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(s))
}
