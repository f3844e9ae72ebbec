package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rules are the parts of an agent that the machine needs: the options, and the tools
// with their schemas. They do not change.
type rules struct {
	agent      string
	opts       *Options
	models     []ModelInfo // of a [Fallback], otherwise the one
	specs      map[string]*boundTool
	order      []ToolSpec // as the model sees them
	names      string     // of all tools, for the model
	output     *Structured
	native     *argumentSchema   // of a native structured answer
	returnTool map[string]string // name of a return tool → name of its type
	priceOf    func(ModelInfo, Usage) float64
	handoffs   map[string]*handoff // by the names of their tools
	team       map[string]*member  // nil if there are no handoffs
	// choicePrefix precedes the names of the tools in remembered permissions.
	choicePrefix string
}

// boundTool is a tool with its spec.
type boundTool struct {
	tool   Tool
	spec   ToolSpec
	schema *argumentSchema
}

// newRules binds the agent's own tools and more. The error is of kind ErrInvalidArgument and
// names what is wrong.
func (a *Agent) newRules(more []Tool) (*rules, error) {
	r := &rules{
		agent: a.opts.Name, opts: &a.opts, specs: map[string]*boundTool{}, output: a.opts.Output,
		returnTool: map[string]string{}, priceOf: a.opts.Price, handoffs: map[string]*handoff{},
	}
	for _, m := range a.models {
		r.models = append(r.models, m.Info())
	}
	if r.priceOf == nil {
		r.priceOf = func(ModelInfo, Usage) float64 { return 0 }
	}
	tools := slices.Concat(a.opts.Tools, more)
	if r.output != nil {
		tools = slices.Concat(tools, r.output.tools())
	}
	if err := r.bind(tools); err != nil {
		return nil, err
	}
	if c := a.opts.ToolChoice; c.Mode == ToolsSpecific && r.specs[c.Name] == nil {
		return nil, Invalid("ToolChoice.Name", fmt.Sprintf("is %q, which is not a tool of the agent", c.Name))
	}
	return r, r.bindOutput()
}

// with returns the rules with more tools, for one turn.
func (r *rules) with(tools []Tool) (*rules, error) {
	if len(tools) == 0 {
		return r, nil
	}
	for _, t := range tools {
		if h := handoffOf(t); h != nil {
			return nil, Invalid("Tools", fmt.Sprintf("of a context provider has the handoff %q; handoffs are among the tools of the agent", h.spec.Name))
		}
	}
	more := *r
	more.specs, more.order = maps.Clone(r.specs), slices.Clip(r.order)
	return &more, more.bind(tools)
}

func (r *rules) bind(tools []Tool) error {
	for i, t := range tools {
		if t == nil {
			return Invalid(fmt.Sprintf("Tools[%d]", i), "is nil")
		}
		spec := t.Spec()
		if err := checkSpec(spec); err != nil {
			return err
		}
		if r.specs[spec.Name] != nil {
			return Invalid("Tools", fmt.Sprintf("has two tools named %q; names are unique in an agent", spec.Name))
		}
		schema, err := compileSchema(spec.Name, spec.Schema)
		if err != nil {
			return err
		}
		r.specs[spec.Name] = &boundTool{tool: t, spec: spec, schema: schema}
		r.order = append(r.order, spec)
		if h := handoffOf(t); h != nil {
			r.handoffs[spec.Name] = h
		}
	}
	r.names = strings.Join(slices.Sorted(maps.Keys(r.specs)), ", ")
	return nil
}

func (r *rules) bindOutput() error {
	if r.output == nil {
		return nil
	}
	for _, t := range r.output.Types {
		if r.output.Mode != OutputNative {
			r.returnTool[returnPrefix+t.Name] = t.Name
			continue
		}
		schema, err := compileSchema("output "+t.Name, t.Schema)
		if err != nil {
			return err
		}
		schema.label = "answer"
		r.native = schema
	}
	return nil
}
