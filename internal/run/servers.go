package run

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/mcptool"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/tool"
)

// connectTimeout bounds how long a run waits for its MCP servers.
const connectTimeout = 10 * time.Second

// missingTools is what an agent has to do without: all tools of an MCP server that
// could not be reached, or the one tool whose name is taken.
type missingTools struct {
	server, tool string
	expected     []string // the tools that the configuration chooses of the server
	err          error
}

// publicMissing returns what is missing as readers of the run's steps see it.
func publicMissing(missing []missingTools) []shoal.MissingTool {
	out := make([]shoal.MissingTool, len(missing))
	for i, m := range missing {
		tools := m.expected
		if m.tool != "" {
			tools = []string{m.tool}
		}
		out[i] = shoal.MissingTool{Server: m.server, Tools: append([]string{}, tools...), Message: m.sentence()}
	}
	return out
}

// complain tells the operator.
func (x *execution) complain(missing []missingTools) {
	for _, m := range missing {
		if m.tool != "" {
			x.log.Warn("a tool of an MCP server is left out: its name is taken", "server", m.server, "tool", m.tool)
		} else {
			x.log.Warn("the run goes on without an MCP server", "server", m.server, "error", m.err)
		}
	}
}

// serverTools connects to a configuration's MCP servers, each within patience, and
// returns their tools. One that cannot be reached is left out, and so is a tool
// whose name is taken: what a server offers today must not break the agent.
func (x *execution) serverTools(ctx context.Context, c *agentconfig.Config, taken []agent.Tool, patience time.Duration) (out []agent.Tool, missing []missingTools) {
	connections := make([]*mcptool.Connection, len(c.MCP.Servers))
	failures := make([]error, len(c.MCP.Servers))
	var connecting sync.WaitGroup
	for i, s := range c.MCP.Servers {
		connecting.Go(func() { connections[i], failures[i] = x.connect(ctx, c, s, patience) })
	}
	connecting.Wait()
	names := map[string]bool{}
	for _, t := range taken {
		names[t.Spec().Name] = true
	}
	for i, conn := range connections {
		server := c.MCP.Servers[i].Name
		if failures[i] != nil {
			missing = append(missing, missingTools{server: server, expected: c.MCP.Servers[i].AllowedTools, err: failures[i]})
			continue
		}
		x.keepServer(conn)
		for _, t := range conn.Tools() {
			name := t.Spec().Name
			if names[name] {
				missing = append(missing, missingTools{server: server, tool: name})
				continue
			}
			names[name] = true
			x.keepSchema(c, t.Spec())
			out = append(out, t)
		}
	}
	return out, missing
}

// connect connects to one server, within the network that tools may reach.
func (x *execution) connect(ctx context.Context, c *agentconfig.Config, s agentconfig.Server, patience time.Duration) (*mcptool.Connection, error) {
	headers := make(map[string]string, len(s.Headers))
	for name, text := range s.Headers {
		value, err := tool.Expand(text, x.e.o.Env)
		if err != nil {
			return nil, err
		}
		headers[name] = value
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	permission := s.RequiresPermission
	return mcptool.Connect(ctx, mcptool.Server{
		Name: s.Name, Transport: mcptool.Transport(s.Transport), URL: s.URL, Headers: headers, HTTPClient: x.e.o.Network.Client(),
		AllowedTools: s.AllowedTools, RequiresPermission: &permission,
		Timeout: time.Duration(max(c.Loop.ToolTimeoutMs, 0)) * time.Millisecond,
	})
}

// keepServer notes a connection that ends with the execution.
func (x *execution) keepServer(conn *mcptool.Connection) {
	x.toolsMu.Lock()
	defer x.toolsMu.Unlock()
	x.servers = append(x.servers, conn)
}

// keepSchema notes what the arguments of a server's tool have to fit.
func (x *execution) keepSchema(c *agentconfig.Config, spec agent.ToolSpec) {
	x.toolsMu.Lock()
	defer x.toolsMu.Unlock()
	if x.schemas == nil {
		x.schemas = map[string]map[string]json.RawMessage{}
	}
	of := x.schemas[string(c.Agent.ID)]
	if of == nil {
		of = map[string]json.RawMessage{}
		x.schemas[string(c.Agent.ID)] = of
	}
	if of[spec.Name] = spec.Schema; len(spec.Schema) == 0 {
		of[spec.Name] = anyObject
	}
}

// closeServers ends the connections to MCP servers.
func (x *execution) closeServers() {
	x.toolsMu.Lock()
	servers := x.servers
	x.servers = nil
	x.toolsMu.Unlock()
	var closing sync.WaitGroup
	for _, conn := range servers {
		closing.Go(func() { _ = conn.Close() }) // never fails
	}
	closing.Wait()
}
