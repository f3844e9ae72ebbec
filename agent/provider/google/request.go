package google

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// declaration is a tool on the wire.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

// config is the wire's generationConfig.
type config struct {
	Temperature      *float64        `json:"temperature,omitempty"`
	TopP             *float64        `json:"topP,omitempty"`
	FrequencyPenalty *float64        `json:"frequencyPenalty,omitempty"`
	PresencePenalty  *float64        `json:"presencePenalty,omitempty"`
	Seed             *int64          `json:"seed,omitempty"`
	MaxOutputTokens  int             `json:"maxOutputTokens,omitempty"`
	Stop             []string        `json:"stopSequences,omitempty"`
	MediaType        string          `json:"responseMimeType,omitempty"`
	Schema           json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking         *thinking       `json:"thinkingConfig,omitempty"`
}

// body writes a request in the words of the wire.
func (m *model) body(req *agent.Request) (map[string]any, error) {
	s := req.Settings
	thinks := thinkingOf(m.name())
	c := config{
		Temperature: s.Temperature, TopP: s.TopP, FrequencyPenalty: s.FrequencyPenalty, PresencePenalty: s.PresencePenalty,
		Seed: s.Seed, MaxOutputTokens: s.MaxOutputTokens, Stop: s.Stop, Thinking: thinks.think(s.Reasoning),
	}
	if s.MaxOutputTokens > 0 {
		c.MaxOutputTokens = max(s.MaxOutputTokens, min(s.MaxOutputTokens+thinks.room(s.Reasoning), mostOutput))
	}
	if req.Output != nil {
		c.MediaType, c.Schema = "application/json", acyclic(req.Output.Schema)
	}
	body := map[string]any{"contents": m.conversation(req.Messages), "generationConfig": c}
	if system := system(req); len(system) > 0 {
		body["systemInstruction"] = content{Parts: system}
	}
	var tools []any
	if len(req.Tools) > 0 {
		tools = append(tools, map[string]any{"functionDeclarations": declarations(req.Tools)})
		if calling := calling(req.ToolChoice); calling != nil {
			body["toolConfig"] = map[string]any{"functionCallingConfig": calling}
		}
	}
	options, err := wire.WithTools(s.ProviderOptions, m.hosted)
	if err != nil {
		return nil, err
	}
	maps.Copy(body, options)
	others, err := wire.Tools(options)
	if err != nil {
		return nil, err
	}
	for _, raw := range others {
		tools = append(tools, raw)
	}
	if delete(body, "tools"); len(tools) > 0 {
		body["tools"] = tools
	}
	return body, nil
}

// system is the instructions, and the system messages after them.
func system(req *agent.Request) []part {
	var parts []part
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			parts = append(parts, part{Text: text})
		}
	}
	add(req.Instructions)
	for _, msg := range req.Messages {
		if msg.Role == agent.System {
			add(msg.Text())
		}
	}
	return parts
}

func declarations(specs []agent.ToolSpec) []declaration {
	list := make([]declaration, 0, len(specs))
	for _, spec := range specs {
		list = append(list, declaration{Name: spec.Name, Description: spec.Description, Schema: acyclic(spec.Schema)})
	}
	return list
}

func calling(c agent.ToolChoice) map[string]any {
	switch c.Mode {
	case agent.ToolsNone:
		return map[string]any{"mode": "NONE"}
	case agent.ToolsRequired:
		return map[string]any{"mode": "ANY"}
	case agent.ToolsSpecific:
		return map[string]any{"mode": "ANY", "allowedFunctionNames": []string{c.Name}}
	}
	return nil
}

// conversation writes the messages as turns of user and model. Results have a
// turn of their own right after the calls, where the API wants them, and what
// else the user said follows.
func (m *model) conversation(messages []agent.Message) []content {
	w := writer{provider: m.Info().Provider, old: m.old(), ids: map[string]string{}}
	var turns []content
	var results, said []part
	user := func() {
		for _, parts := range [][]part{results, said} {
			if len(parts) > 0 {
				turns = append(turns, content{Role: "user", Parts: parts})
			}
		}
		results, said = nil, nil
	}
	for _, msg := range messages {
		switch msg.Role {
		case agent.System:
		case agent.Assistant:
			parts := w.answer(msg)
			if len(parts) == 0 {
				continue
			}
			user()
			if n := len(turns); n > 0 && turns[n-1].Role == "model" {
				turns[n-1].Parts = slices.Concat(turns[n-1].Parts, parts)
				continue
			}
			turns = append(turns, content{Role: "model", Parts: parts})
		default:
			r, s := w.input(msg)
			results, said = append(results, r...), append(said, s...)
		}
	}
	user()
	return turns
}
