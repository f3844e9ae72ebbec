package agent

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// New creates an agent. The error is of kind ErrInvalidArgument and names the option.
func New(model Model, o Options) (*Agent, error) {
	if model == nil {
		return nil, Invalid("model", "is nil")
	}
	models := modelsOf(model)
	for i, m := range models {
		if m == nil {
			return nil, Invalid(fmt.Sprintf("Fallback: model %d", i+1), "is nil")
		}
	}
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Reduction.Share > 0 && model.Info().Window == 0 {
		return nil, Invalid("Reduction.Share", "needs a model whose context window is known; set it where the model is made, or use MaxTokens")
	}
	a := &Agent{model: model, models: models, opts: o.cloned()}
	team, err := a.newTeam()
	if err != nil {
		return nil, err
	}
	a.team = team
	if o.MaxCost > 0 {
		if err := a.checkPrices(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// checkPrices checks that the price of each model is known that can use up MaxCost.
func (a *Agent) checkPrices() error {
	for _, name := range slices.Sorted(maps.Keys(a.team)) {
		for _, info := range a.team[name].rules.models {
			if a.team[name].rules.priceOf(info, Usage{InputTokens: 1e6, OutputTokens: 1e6}) <= 0 {
				return Invalid("MaxCost", fmt.Sprintf("needs the price of %s, which Price does not know: give a Price that does, or use MaxTokens", info.Name))
			}
		}
	}
	return nil
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
		o.ToolChoice.Mode = ToolsRequired // text would not be an answer
	}
	return o
}

// cloned returns a copy of the options that the caller cannot change.
func (o Options) cloned() Options {
	o.Tools, o.Context = slices.Clone(o.Tools), slices.Clone(o.Context)
	o.Middleware, o.Observers = slices.Clone(o.Middleware), slices.Clone(o.Observers)
	o.Retry.PerClass, o.Settings.ProviderOptions = maps.Clone(o.Retry.PerClass), maps.Clone(o.Settings.ProviderOptions)
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
		return Invalid("MaxSteps", "must be greater than zero")
	case o.MaxParallelTools < 0:
		return Invalid("MaxParallelTools", "must be greater than zero")
	case o.MaxAnswerBytes < 0, o.MaxArgumentBytes < 0, o.MaxResultBytes < 0:
		return Invalid("MaxAnswerBytes, MaxArgumentBytes and MaxResultBytes", "must be greater than zero")
	case o.Grace < 0, o.AnswerTimeout < 0, o.Retry.Base < 0, o.Retry.Max < 0:
		return Invalid("Grace, AnswerTimeout and Retry", "must not be negative")
	case o.Continuation < 0:
		return Invalid("Continuation", "must not be negative")
	case o.MaxCost > 0 && o.Price == nil:
		return Invalid("MaxCost", "needs Price, or nothing costs anything")
	case o.Retry.Attempts < 0:
		return Invalid("Retry.Attempts", "must be greater than zero")
	case !slices.Contains([]ToolMode{ToolsAuto, ToolsNone, ToolsRequired, ToolsSpecific}, o.ToolChoice.Mode):
		return Invalid("ToolChoice.Mode", fmt.Sprintf("is %q; auto, none, required and specific are known", o.ToolChoice.Mode))
	}
	for i, m := range o.Context {
		if m == nil {
			return Invalid(fmt.Sprintf("Context[%d]", i), "is nil")
		}
	}
	for i, m := range o.Observers {
		if m == nil {
			return Invalid(fmt.Sprintf("Observers[%d]", i), "is nil")
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
