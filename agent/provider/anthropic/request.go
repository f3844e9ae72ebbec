package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// params writes a request in the words of the wire. What the SDK's type does not
// hold comes as options, which set top-level fields.
func (m *model) params(req *agent.Request) (sdk.MessageNewParams, []option.RequestOption, error) {
	s, g := req.Settings, generationOf(m.Info().Name)
	p := sdk.MessageNewParams{
		Model:         m.Info().Name,
		MaxTokens:     defaultMax,
		System:        system(req),
		Messages:      conversation(req.Messages),
		Tools:         tools(req.Tools),
		StopSequences: s.Stop,
	}
	if s.MaxOutputTokens > 0 {
		p.MaxTokens = int64(s.MaxOutputTokens)
	}
	if len(req.Tools) > 0 {
		p.ToolChoice = toolChoice(g.choice(req.ToolChoice))
	}
	if req.Output != nil {
		p.OutputConfig.Format = param.Override[sdk.JSONOutputFormatParam](map[string]any{
			"type": "json_schema", "schema": req.Output.Schema,
		})
	}
	extra := map[string]any{}
	if id := working(req.Messages, time.Now()); id != "" {
		extra["container"] = id
	}
	g.think(&p, extra, s.Reasoning, g.choice(req.ToolChoice))
	g.sample(&p, s, extra["thinking"] != nil && s.Reasoning.Effort != "none")
	if !m.noCache {
		mark(&p)
	}
	others, err := wire.Tools(s.ProviderOptions)
	if err != nil {
		return p, nil, err
	}
	for _, raw := range others {
		p.Tools = append(p.Tools, param.Override[sdk.ToolUnionParam](raw))
	}
	maps.Copy(extra, s.ProviderOptions)
	delete(extra, "tools")
	var opts []option.RequestOption
	for _, name := range slices.Sorted(maps.Keys(extra)) { // the same request gives the same bytes
		opts = append(opts, option.WithJSONSet(escape(name), extra[name]))
	}
	return p, opts, nil
}

// escape writes the name of a field as a path of just that name.
func escape(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`\.*?|#@:!{}[]()=<>%"`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// system is the instructions, and the system messages after them.
func system(req *agent.Request) []sdk.TextBlockParam {
	var blocks []sdk.TextBlockParam
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			blocks = append(blocks, sdk.TextBlockParam{Text: text})
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

func tools(specs []agent.ToolSpec) []sdk.ToolUnionParam {
	var list []sdk.ToolUnionParam // nil is left out, an empty list is not
	for _, spec := range specs {
		schema := spec.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		tool := &sdk.ToolParam{Name: spec.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
		if spec.Description != "" {
			tool.Description = sdk.String(spec.Description)
		}
		list = append(list, sdk.ToolUnionParam{OfTool: tool})
	}
	return list
}

func toolChoice(c agent.ToolChoice) sdk.ToolChoiceUnionParam {
	var single param.Opt[bool]
	if c.Parallel != nil {
		single = sdk.Bool(!*c.Parallel)
	}
	switch c.Mode {
	case agent.ToolsNone:
		return sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	case agent.ToolsRequired:
		return sdk.ToolChoiceUnionParam{OfAny: &sdk.ToolChoiceAnyParam{DisableParallelToolUse: single}}
	case agent.ToolsSpecific:
		return sdk.ToolChoiceUnionParam{OfTool: &sdk.ToolChoiceToolParam{Name: c.Name, DisableParallelToolUse: single}}
	}
	if c.Parallel == nil {
		return sdk.ToolChoiceUnionParam{}
	}
	return sdk.ToolChoiceUnionParam{OfAuto: &sdk.ToolChoiceAutoParam{DisableParallelToolUse: single}}
}

// mark sets the marks of the prompt cache: after the tools and after the system
// text, which outlive the conversation; at the end of the last message, for the
// next call to find; and at the end of the user's message before it, which the
// call before marked: the API looks back only 20 blocks from a mark, and a step
// may have added more.
func mark(p *sdk.MessageNewParams) {
	ephemeral := sdk.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = ephemeral
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = ephemeral
	}
	left := 2
	for i := len(p.Messages) - 1; i >= 0 && left > 0; i-- {
		if p.Messages[i].Role != sdk.MessageParamRoleUser && i != len(p.Messages)-1 {
			continue
		}
		content := p.Messages[i].Content
		for j := len(content) - 1; j >= 0; j-- {
			if cache := content[j].GetCacheControl(); cache != nil {
				*cache = ephemeral
				break
			}
		}
		left--
	}
}
