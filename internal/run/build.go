package run

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/picture"
	"github.com/shoal-dev/shoal/internal/spacetool"
	"github.com/shoal-dev/shoal/internal/tool"
	"github.com/shoal-dev/shoal/internal/toolserver"
	"github.com/shoal-dev/shoal/internal/vendor"
)

// agentName is the name of the run's own agent in events and requests.
func (x *execution) agentName() string { return string(x.run.AgentID) }

// forTools returns the run as the built-in tools see it.
func (x *execution) forTools() *spacetool.Run {
	return &spacetool.Run{
		Hub: x.hub, Lease: x.lease, Client: x.client.in, Run: x.run, Config: x.config, Write: x.writeUntil, Read: x.read,
		Delegated: func(to shoal.RunID) { x.cancel(&delegatedError{to}) },
	}
}

// composeTools makes the run's tools and returns how their calls appear in spaces.
func (x *execution) composeTools() ([]compose.Tool, error) {
	tools, err := x.makeTools(x.config)
	if err != nil {
		return nil, err
	}
	tools = append(tools, x.makeClientTools()...)
	out := []compose.Tool{{Name: spacetool.SendTool, Send: true}}
	for _, t := range tools {
		c := t.Config()
		shown := compose.Tool{Name: c.Name, Display: c.DisplayTool, Targeted: c.Targeted}
		if d := c.Display; d != nil {
			if shown.Rendering, err = json.Marshal(d); err != nil {
				return nil, err
			}
			client := t.Kind() == tool.Client // the program that executes it has to see it
			shown.Hidden = d.Mode == "hidden" && !client
			shown.HideInput = d.ShowInput != nil && !*d.ShowInput && !client
			shown.HideOutput = d.ShowOutput != nil && !*d.ShowOutput && !client
		}
		out = append(out, shown)
	}
	return out, nil
}

// makeTools makes the tools of a configuration and registers them under its agent.
func (x *execution) makeTools(c *agentconfig.Config) ([]*tool.Tool, error) {
	o := tool.Options{Network: x.e.o.Network, Env: x.e.o.Env, Agent: x.newSubAgent, Keys: x.e.o.Keys, StoreFile: x.storeFile}
	if c.Agent.ID == x.run.AgentID { // a sub-agent does not see the run's conversation
		o.History = x.conversationSoFar
	}
	tools, err := tool.All(c, o)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*tool.Tool, len(tools))
	for _, t := range tools {
		byName[t.Config().Name] = t
	}
	x.toolsMu.Lock()
	defer x.toolsMu.Unlock()
	x.tools[string(c.Agent.ID)] = byName
	return tools, nil
}

// connectTimeout bounds how long a run waits for its MCP servers.
const connectTimeout = 10 * time.Second

// build makes the run's agent. closed ends its connections.
func (x *execution) build() (a *agent.Agent, closed func(), err error) {
	closed = x.servers.Close
	defer func() {
		if err != nil {
			closed()
		}
	}()
	model, err := x.e.o.Models(vendor.InSpace(x.config, x.run.Trigger.SpaceID))
	if err != nil {
		return nil, closed, err
	}
	x.model = model.Info()
	o, missing, err := x.modelOptions(connectTimeout)
	if err != nil {
		return nil, closed, err
	}
	toolserver.Log(x.log, missing)
	x.missing = toolserver.Public(missing)
	if err := x.storeRefusedTools(); err != nil {
		return nil, closed, err
	}
	x.limitTime()
	o.Middleware = []agent.Middleware{{Name: "spaces", BeforeTools: x.beforeTools}, arrange(x.prompt, x.store.trigger), picture.Middleware(x.readFile), x.limitMiddleware(x.model, x.config), x.requests.Middleware(), x.activityMiddleware(), x.leaseMiddleware()}
	o.Observers = append(x.observers(), x.timings)
	o.Answer = x.answer
	a, err = agent.New(model, o)
	return a, closed, agenterror.Convert(err)
}

// observers returns the observers of the run's agent and of its sub-agents.
func (x *execution) observers() []agent.Observer {
	if x.e.o.Traces == nil {
		return nil
	}
	return []agent.Observer{x.e.o.Traces.Observer(x.run)}
}

// limitTime starts the time that the configuration leaves the run.
func (x *execution) limitTime() {
	if limit := time.Duration(x.config.Loop.RunTimeoutMs) * time.Millisecond; limit > 0 {
		x.clock.StopAfter(x.store.remainingTime(limit), func() { x.cancel(&timeoutError{limit}) })
	}
}

// modelOptions sets the run's prompt, and returns the options of its agent as far as a model
// sees them: the system text and the tools. Each MCP server has to answer within patience; missing are the
// tools that the agent has to do without.
func (x *execution) modelOptions(patience time.Duration) (o agent.Options, missing []toolserver.Missing, err error) {
	o = agentOptions(x.config)
	if o.Tools, err = spacetool.Tools(x.ctx, x.forTools()); err != nil {
		return o, nil, err
	}
	o.Tools = append(o.Tools, x.configuredTools(x.config)...)
	more, missing := x.servers.Tools(x.ctx, x.config, o.Tools, patience)
	o.Tools = append(o.Tools, more...)
	o.Tools = append(o.Tools, x.clientTools(o.Tools)...)
	if x.prompt, err = spacetool.NewPrompt(x.ctx, x.forTools(), toolserver.Public(missing)); err != nil {
		return o, nil, err
	}
	o.Instructions = x.prompt.System
	return o, missing, nil
}

// configuredTools returns the tools that makeTools registered.
func (x *execution) configuredTools(c *agentconfig.Config) []agent.Tool {
	x.toolsMu.Lock()
	defer x.toolsMu.Unlock()
	var out []agent.Tool
	for _, t := range c.Tools {
		if made := x.tools[string(c.Agent.ID)][t.Name]; made != nil {
			out = append(out, made)
		}
	}
	return out
}

// manyTools is the number of parallel tools without a limit.
const manyTools = 1 << 16

// agentOptions converts a configuration. There 0 means unlimited; in agent.Options 0 is the
// default, and a negative number means unlimited.
func agentOptions(c *agentconfig.Config) agent.Options {
	l := c.Loop
	return agent.Options{
		Name: string(c.Agent.ID), Description: c.Agent.Description,
		ToolChoice: agent.ToolChoice{Mode: agent.ToolMode(l.ToolChoice)},
		Settings: agent.Settings{
			Temperature: c.Model.Temperature, MaxOutputTokens: c.Model.MaxOutputTokens, ProviderOptions: vendor.Options(c.Model),
			Reasoning: agent.Reasoning{
				Enabled: c.Model.Reasoning.Enabled, Effort: c.Model.Reasoning.Effort, BudgetTokens: c.Model.Reasoning.BudgetTokens,
				IncludeThoughts: c.Model.Reasoning.IncludeThoughts, Summary: c.Model.Reasoning.Summary,
			},
		},
		MaxSteps: l.MaxSteps, Continuation: l.Continuation,
		NoClosingAnswer: !l.ClosingAnswer || c.Reply == agentconfig.ReplyTool, // which nobody would see
		MaxErrors:       orUnlimited(l.MaxConsecutiveErrors, -1), MaxIdenticalCalls: orUnlimited(l.MaxIdenticalCalls, -1),
		MaxParallelTools: orUnlimited(l.MaxParallelTools, manyTools),
		MaxResultBytes:   tool.MaxResult, MaxArgumentBytes: 1 << 20,
		TurnTimeout: -1, // see limitTime
		ToolTimeout: time.Duration(orUnlimited(l.ToolTimeoutMs, -1)) * time.Millisecond,
		Grace:       time.Second,
		Reduction: agent.Reduction{
			Strategy: agent.ReductionStrategy(c.Context.Reduction.Strategy), Target: c.Context.Reduction.Target, Threshold: c.Context.Reduction.Threshold,
		},
		Price: vendor.Price(c.Model), MaxTokens: c.Budget.MaxTokensPerRun,
	}
}

// orUnlimited returns none for 0, else v.
func orUnlimited[T int | int64](v, none T) T {
	if v == 0 {
		return none
	}
	return v
}

// newSubAgent makes the agent that a tool calls. Its output does not reach a space by itself.
func (x *execution) newSubAgent(ctx context.Context, id shoal.EntityID) (*agent.Agent, error) {
	var stored storage.Agent
	err := x.read(ctx, func(tx storage.Tx) (err error) {
		stored, err = tx.HostedAgent(x.run.SessionID, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	c, err := agentconfig.Load(stored.Config)
	if err != nil {
		return nil, err
	}
	if c.Remote != nil {
		return nil, shoal.E("run.newSubAgent", shoal.Conflict, fmt.Sprintf("A program outside of the server executes the runs of %q, so it cannot be called as a tool. Mention it in a space instead.", id))
	}
	own := *c
	own.Agent.ID = id
	own.Tools = make([]agentconfig.Tool, len(c.Tools))
	for i, t := range c.Tools {
		t.DisplayTool, t.Targeted = false, false
		own.Tools[i] = t
	}
	if id != x.run.AgentID { // its own tools are registered already, and may be shown
		if _, err := x.makeTools(&own); err != nil {
			return nil, err
		}
	}
	model, err := x.e.o.Models(&own)
	if err != nil {
		return nil, err
	}
	o := agentOptions(&own)
	o.NoClosingAnswer = !own.Loop.ClosingAnswer // the caller reads it
	o.Instructions = own.Agent.System
	if own.Agent.Instructions != "" {
		o.Instructions += "\n\n" + own.Agent.Instructions
	}
	o.TurnTimeout = time.Duration(orUnlimited(own.Loop.RunTimeoutMs, -1)) * time.Millisecond
	if o.TurnTimeout < 0 {
		o.TurnTimeout = -1
	}
	o.Tools = x.configuredTools(&own)
	more, missing := x.servers.Tools(ctx, &own, o.Tools, connectTimeout)
	toolserver.Log(x.log, missing)
	o.Tools = append(o.Tools, more...)
	o.Instructions += spacetool.MissingTools(toolserver.Public(missing))
	o.Middleware = []agent.Middleware{picture.Middleware(x.readFile), x.limitMiddleware(model.Info(), &own), x.activityMiddleware(), x.leaseMiddleware()} // the caller's history may contain pictures
	o.Observers = x.observers()
	a, err := agent.New(model, o)
	return a, agenterror.Convert(err)
}

// findTool returns a configured tool of an agent, nil if there is none.
func (x *execution) findTool(agentName, name string) *tool.Tool {
	x.toolsMu.Lock()
	defer x.toolsMu.Unlock()
	return x.tools[agentName][name]
}
