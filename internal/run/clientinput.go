package run

import (
	"slices"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/tool"
)

// clientToolExpiry is how long a call waits for the front end that has to execute it,
// whose page may be closed for good.
const clientToolExpiry = 24 * time.Hour

// clientInput is what a front end sent with the message; in is nil if it sent nothing.
type clientInput struct {
	in      *storage.ClientInput
	refused []string // tools whose names are taken
}

// makeClientTools makes the tools that the front end executes and registers them under the
// run's agent. Tools that the agent has already take precedence.
func (x *execution) makeClientTools() []*tool.Tool {
	if x.client.in == nil {
		return nil
	}
	x.client.refused = []string{}
	x.toolsMu.Lock()
	defer x.toolsMu.Unlock()
	own := x.tools[x.agentName()]
	var out []*tool.Tool
	for _, c := range x.client.in.Tools {
		if own[c.Name] != nil || slices.Contains(agentconfig.BuiltIns, c.Name) {
			x.client.refused = append(x.client.refused, c.Name)
			continue
		}
		t, err := tool.New(agentconfig.Tool{
			Name: c.Name, Description: c.Description, InputSchema: c.Schema,
			ExecutionType: agentconfig.BasicType, Execution: agentconfig.Execution{Basic: &agentconfig.Basic{}},
			Answer:      agentconfig.Answer{By: []shoal.EntityID{x.client.in.EntityID}, Quorum: 1},
			ExpiresInMs: clientToolExpiry.Milliseconds(),
		}, tool.Options{})
		if err != nil { // its schema was checked when it arrived
			x.log.Warn("a tool of a front end cannot be made", "tool", c.Name, "error", err)
			x.client.refused = append(x.client.refused, c.Name)
			continue
		}
		own[c.Name] = t
		out = append(out, t)
	}
	return out
}

// clientTools returns the tools that the front end executes. It refuses those that have
// the name of one in others.
func (x *execution) clientTools(others []agent.Tool) (out []agent.Tool) {
	if x.client.in == nil {
		return nil
	}
	taken := map[string]bool{}
	for _, t := range others {
		taken[t.Spec().Name] = true
	}
	x.toolsMu.Lock()
	defer x.toolsMu.Unlock()
	own := x.tools[x.agentName()]
	for _, c := range x.client.in.Tools {
		switch {
		case slices.Contains(x.client.refused, c.Name):
		case taken[c.Name]: // a tool of an MCP server, which is not registered
			delete(own, c.Name)
			x.client.refused = append(x.client.refused, c.Name)
		default:
			out = append(out, own[c.Name])
		}
	}
	return out
}

// storeRefusedTools stores the names of the refused tools, for the front end.
func (x *execution) storeRefusedTools() error {
	if x.client.in == nil || slices.Equal(x.client.in.Refused, x.client.refused) {
		return nil
	}
	x.client.in.Refused = x.client.refused
	return x.write(x.ctx, func(c *runs.RunChange) error { return c.PutClientInput(x.run.SessionID, x.run.ID, *x.client.in) })
}
