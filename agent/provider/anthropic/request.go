package anthropic

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// params is a request, but for the fields that only some requests have.
type params struct {
	MaxTokens     int64
	Messages      []turn
	Model         string
	Temperature   *float64
	TopP          *float64
	OutputConfig  *outputConfig
	StopSequences []string
	System        []block
	ToolChoice    *choice
	Tools         []json.RawMessage
	Stream        bool // the last field
}

type outputConfig struct {
	Effort string        `json:"effort,omitempty"`
	Format *outputFormat `json:"format,omitempty"`
}

type outputFormat struct {
	Schema json.RawMessage `json:"schema"`
	Type   string          `json:"type"`
}

// choice is the wire's tool_choice.
type choice struct {
	Name   string `json:"name,omitempty"`
	Single *bool  `json:"disable_parallel_tool_use,omitempty"`
	Type   string `json:"type"`
}

// tool is one of the agent's tools on the wire.
type tool struct {
	Schema      json.RawMessage `json:"input_schema"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Cache       *cacheControl   `json:"cache_control,omitempty"`
}

// output returns the output configuration, to be written to.
func (p *params) output() *outputConfig {
	if p.OutputConfig == nil {
		p.OutputConfig = &outputConfig{}
	}
	return p.OutputConfig
}

// body writes a request in the words of the wire. Provider options replace the fields of
// their names, but for tools, which come after the agent's own.
func (m *model) body(req *agent.Request) ([]byte, error) {
	s, g := req.Settings, generationOf(m.Info().Name)
	p := params{
		Model:         m.Info().Name,
		Stream:        true,
		MaxTokens:     defaultMax,
		System:        system(req),
		Messages:      conversation(req.Messages),
		StopSequences: s.Stop,
	}
	if s.MaxOutputTokens > 0 {
		p.MaxTokens = int64(s.MaxOutputTokens)
	}
	if len(req.Tools) > 0 {
		p.ToolChoice = toolChoice(g.choice(req.ToolChoice))
	}
	if req.Output != nil {
		p.output().Format = &outputFormat{Schema: req.Output.Schema, Type: "json_schema"}
	}
	extra := map[string]any{}
	if id := working(req.Messages, time.Now()); id != "" {
		extra["container"] = id
	}
	g.think(&p, extra, s.Reasoning, g.choice(req.ToolChoice))
	g.sample(&p, s, extra["thinking"] != nil && s.Reasoning.Effort != "none")
	shares := false
	if !m.noCache {
		shares = mark(&p)
	}
	options, err := wire.WithTools(s.ProviderOptions, m.hosted)
	if err != nil {
		return nil, err
	}
	others, err := wire.Tools(options)
	if err != nil {
		return nil, err
	}
	if p.Tools, err = tools(req.Tools, !m.noCache && !shares); err != nil {
		return nil, err
	}
	p.Tools = append(p.Tools, others...)
	if m.at != nil {
		m.forPlatform(&p, extra)
	}
	maps.Copy(extra, s.ProviderOptions)
	delete(extra, "tools")
	return p.write(extra)
}

// forPlatform writes what a cloud has in the body in place of headers, and leaves out what its
// path says.
func (m *model) forPlatform(p *params, extra map[string]any) {
	p.Model = ""
	extra["anthropic_version"] = m.at.Version
	if m.at.Open == nil {
		return
	}
	p.Stream = false
	if m.betas != "" {
		extra["anthropic_beta"] = []string{m.betas}
	}
}

// field is a field of a request.
type field struct {
	name  string
	value any
}

// write writes the request with further fields after its own. One that it has already is
// replaced where it is. The order of the fields stays as it is: other bytes miss the
// provider's prompt cache.
func (p *params) write(extra map[string]any) ([]byte, error) {
	fields := slices.DeleteFunc([]field{
		{"max_tokens", p.MaxTokens},
		{"messages", p.Messages},
		{"model", p.Model},
		{"temperature", p.Temperature},
		{"top_p", p.TopP},
		{"output_config", p.OutputConfig},
		{"stop_sequences", p.StopSequences},
		{"system", p.System},
		{"tool_choice", p.ToolChoice},
		{"tools", p.Tools},
	}, func(f field) bool { return reflect.ValueOf(f.value).IsZero() })
	put := func(name string, value any) {
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if at < 0 {
			fields = append(fields, field{name: name})
			at = len(fields) - 1
		}
		fields[at].value = value
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) { // the same request gives the same bytes
		put(name, extra[name])
	}
	if p.Stream {
		put("stream", true)
	}
	var body bytes.Buffer
	for i, f := range fields {
		body.WriteByte("{,"[min(i, 1)])
		for j, v := range []any{f.name, f.value} {
			text, err := json.Marshal(v)
			if err != nil {
				return nil, agent.Invalid("request", "cannot be written as JSON: "+err.Error())
			}
			if j > 0 {
				body.WriteByte(':')
			}
			body.Write(text)
		}
	}
	body.WriteByte('}')
	return body.Bytes(), nil
}

// system is the instructions, and the system messages after them.
func system(req *agent.Request) []block {
	var blocks []block
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			blocks = append(blocks, block{Type: typeText, Text: &text})
		}
	}
	add(req.Instructions)
	for _, msg := range req.Messages {
		if msg.Role == agent.System {
			add(msg.Text())
		}
	}
	return blocks
}

// tools writes the agent's tools, the last one with a mark of the prompt cache.
func tools(specs []agent.ToolSpec, mark bool) ([]json.RawMessage, error) {
	var list []json.RawMessage // nil is left out, an empty list is not
	for i, spec := range specs {
		t := tool{Name: spec.Name, Description: spec.Description, Schema: spec.Schema}
		if len(t.Schema) == 0 {
			t.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		if mark && i == len(specs)-1 {
			t.Cache = &ephemeral
		}
		raw, err := json.Marshal(t)
		if err != nil {
			return nil, agent.Invalid("tools", "cannot be written as JSON: "+err.Error())
		}
		list = append(list, raw)
	}
	return list, nil
}

func toolChoice(c agent.ToolChoice) *choice {
	var single *bool
	if c.Parallel != nil {
		single = new(!*c.Parallel)
	}
	switch c.Mode {
	case agent.ToolsNone:
		return &choice{Type: "none"}
	case agent.ToolsRequired:
		return &choice{Type: "any", Single: single}
	case agent.ToolsSpecific:
		return &choice{Type: "tool", Name: c.Name, Single: single}
	}
	if single == nil {
		return nil
	}
	return &choice{Type: "auto", Single: single}
}

var ephemeral = cacheControl{Type: "ephemeral"}

// mark sets the marks of the prompt cache: after the system text, which outlives the
// conversation (as the tools do, which [tools] marks); at the end of the last message,
// for the next call to find; and at the end of the user's message before it, which the
// call before marked: the API looks back only 20 blocks from a mark, and a step may have
// added more. A beginning that other conversations share is marked, too, and mark reports
// that there is one: the API takes four marks, so the tools then have none of their own.
func mark(p *params) (shares bool) {
	if n := len(p.System); n > 0 {
		p.System[n-1].Cache = &ephemeral
	}
	for _, turn := range p.Messages {
		for j := range turn.Content {
			if b := &turn.Content[j]; b.boundary && b.takesMark() && !shares {
				b.Cache, shares = &ephemeral, true
			}
		}
	}
	left := 2
	for i := len(p.Messages) - 1; i >= 0 && left > 0; i-- {
		if p.Messages[i].Role != roleUser && i != len(p.Messages)-1 {
			continue
		}
		for j := range slices.Backward(p.Messages[i].Content) {
			if b := &p.Messages[i].Content[j]; b.takesMark() {
				b.Cache = &ephemeral
				break
			}
		}
		left--
	}
	return shares
}
