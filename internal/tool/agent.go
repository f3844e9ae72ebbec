package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

var errWait = errors.New("arguments: duration and seconds must be numbers")

var promptSchema = json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string",` +
	`"description":"The task, with everything that is needed to do it."}},"required":["prompt"],"additionalProperties":false}`)

// configureAgent turns another agent into a tool. The agent is looked up at each call.
func (t *Tool) configureAgent(x *agentconfig.AgentCall, find func(context.Context, shoal.EntityID) (*agent.Agent, error)) error {
	if find == nil {
		return shoal.Invalid("executionType", "ai-agent is not supported here")
	}
	t.spec.Schema = promptSchema
	t.spec.Timeout = milliseconds(x.Timeout)
	t.spec.Idempotent = true // the conversation of the other agent records its progress
	t.run = func(ctx context.Context, c call) (agent.Output, error) {
		other, err := find(ctx, shoal.EntityID(x.AgentConfig))
		if errors.Is(err, shoal.NotFound) {
			return failedOutput(fmt.Sprintf("Error: agent %s not found.", x.AgentConfig)), nil
		}
		if err != nil {
			return agent.Output{}, err
		}
		sub := agent.AsTool(other, agent.SubAgent{
			Name: c.Name, Description: t.config.Description, WithHistory: x.IncludeContext, WithoutPermission: true,
		})
		arguments, err := encode(map[string]any{"input": c.input["prompt"]})
		if err != nil {
			return agent.Output{}, err
		}
		c.Arguments = arguments
		return sub.Call(ctx, c.ToolCall)
	}
	return nil
}
