package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// New makes an agent. The error is of kind InvalidArgument and names the option.
func New(model Model, o Options) (*Agent, error) {
	if model == nil {
		return nil, shoal.Invalid("model", "is nil")
	}
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Reduction.Share > 0 && model.Info().Window == 0 {
		return nil, shoal.Invalid("Reduction.Share", "needs a model whose context window is known; set it where the model is made, or use MaxTokens")
	}
	a := &Agent{model: model, opts: o, tools: slices.Clone(o.Tools)}
	if o.Output != nil {
		a.tools = append(a.tools, o.Output.tools()...)
	}
	if _, err := a.rulesFor(a.tools); err != nil {
		return nil, err
	}
	return a, nil
}

// Name returns Options.Name.
func (a *Agent) Name() string { return a.opts.Name }

func (o Options) withDefaults() Options {
	o.Name = orElse(o.Name, "agent")
	o.MaxSteps = orElse(o.MaxSteps, 10)
	o.MaxErrors = orElse(o.MaxErrors, 3)
	o.MaxIdenticalCalls = orElse(o.MaxIdenticalCalls, 5)
	o.MaxParallelTools = orElse(o.MaxParallelTools, 8)
	o.MaxAnswerBytes = orElse(o.MaxAnswerBytes, 16<<20)
	o.MaxArgumentBytes = orElse(o.MaxArgumentBytes, 1<<20)
	o.MaxResultBytes = orElse(o.MaxResultBytes, 256<<10)
	o.TurnTimeout = orElse(o.TurnTimeout, 5*time.Minute)
	o.AttemptTimeout = orElse(o.AttemptTimeout, time.Minute)
	o.StallTimeout = orElse(o.StallTimeout, time.Minute)
	o.ToolTimeout = orElse(o.ToolTimeout, 30*time.Second)
	o.Grace = orElse(o.Grace, 5*time.Second)
	o.AnswerTimeout = orElse(o.AnswerTimeout, 5*time.Minute)
	o.Retry.Attempts = orElse(o.Retry.Attempts, 4)
	o.Retry.Base = orElse(o.Retry.Base, time.Second)
	o.Retry.Max = orElse(o.Retry.Max, 30*time.Second)
	o.ToolChoice.Mode = orElse(o.ToolChoice.Mode, ToolsAuto)
	if o.Output != nil && o.Output.Mode != OutputNative && o.ToolChoice.Mode == ToolsAuto {
		o.ToolChoice.Mode = ToolsRequired // text would be no answer
	}
	return o
}

func orElse[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

func (o *Options) check() error {
	switch {
	case o.MaxSteps < 0:
		return shoal.Invalid("MaxSteps", "must be greater than zero")
	case o.MaxParallelTools < 0:
		return shoal.Invalid("MaxParallelTools", "must be greater than zero")
	case o.Continuation < 0:
		return shoal.Invalid("Continuation", "must not be negative")
	case o.MaxCost > 0 && o.Price == nil:
		return shoal.Invalid("MaxCost", "needs Price, or nothing costs anything")
	case o.Retry.Attempts < 0:
		return shoal.Invalid("Retry.Attempts", "must be greater than zero")
	case !slices.Contains([]ToolMode{ToolsAuto, ToolsNone, ToolsRequired, ToolsSpecific}, o.ToolChoice.Mode):
		return shoal.Invalid("ToolChoice.Mode", fmt.Sprintf("is %q; auto, none, required and specific are known", o.ToolChoice.Mode))
	}
	for i, m := range o.Context {
		if m == nil {
			return shoal.Invalid(fmt.Sprintf("Context[%d]", i), "is nil")
		}
	}
	for i, m := range o.Observers {
		if m == nil {
			return shoal.Invalid(fmt.Sprintf("Observers[%d]", i), "is nil")
		}
	}
	if err := o.Reduction.check(); err != nil {
		return err
	}
	if o.Output != nil {
		return o.Output.check()
	}
	return nil
}

// boundTool is a tool with what is asked of it once per turn.
type boundTool struct {
	tool   Tool
	spec   ToolSpec
	schema *argumentSchema
}

// rulesFor binds tools to the agent's rules. The error is of kind
// InvalidArgument and names the tool.
func (a *Agent) rulesFor(tools []Tool) (rules, error) {
	r := rules{
		agent: a.opts.Name, opts: &a.opts, specs: map[string]*boundTool{}, output: a.opts.Output,
		returnTool: map[string]string{}, priceOf: a.priceOf,
	}
	info := a.model.Info()
	r.price = func(u Usage) float64 { return a.priceOf(info, u) }
	for i, t := range tools {
		if t == nil {
			return r, shoal.Invalid(fmt.Sprintf("Tools[%d]", i), "is nil")
		}
		spec := t.Spec()
		if err := checkSpec(spec); err != nil {
			return r, err
		}
		if r.specs[spec.Name] != nil {
			return r, shoal.Invalid("Tools", fmt.Sprintf("has two tools named %q; names are unique in an agent", spec.Name))
		}
		schema, err := compileSchema(spec.Name, spec.Schema)
		if err != nil {
			return r, err
		}
		r.specs[spec.Name] = &boundTool{tool: t, spec: spec, schema: schema}
		r.order = append(r.order, spec)
	}
	if c := a.opts.ToolChoice; c.Mode == ToolsSpecific && r.specs[c.Name] == nil {
		return r, shoal.Invalid("ToolChoice.Name", fmt.Sprintf("is %q, which is no tool of the agent", c.Name))
	}
	r.names = strings.Join(slices.Sorted(maps.Keys(r.specs)), ", ")
	return r, a.bindOutput(&r)
}

func (a *Agent) bindOutput(r *rules) error {
	out := a.opts.Output
	if out == nil {
		return nil
	}
	if out.Mode == OutputNative {
		schema, err := compileSchema("output "+out.Types[0].Name, out.Types[0].Schema)
		if err != nil {
			return err
		}
		schema.label = "answer"
		r.native = schema
		return nil
	}
	for _, t := range out.Types {
		r.returnTool[returnPrefix+t.Name] = t.Name
	}
	return nil
}

// priceOf is Options.Price, or nothing.
func (a *Agent) priceOf(model ModelInfo, u Usage) float64 {
	if a.opts.Price == nil {
		return 0
	}
	return a.opts.Price(model, u)
}
