// Package toolserver connects a run to the MCP servers that the configurations of its
// agents name.
package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/mcptool"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/tool"
)

// Missing says what an agent has to do without: all tools of a server that could not be
// reached, or one tool whose name is already in use.
type Missing struct {
	server, tool string
	expected     []string // the server's tools that the configuration selects
	err          error
}

// Public returns what is missing as readers of the run's steps see it.
func Public(missing []Missing) []shoal.MissingTool {
	out := make([]shoal.MissingTool, len(missing))
	for i, m := range missing {
		tools := m.expected
		if m.tool != "" {
			tools = []string{m.tool}
		}
		out[i] = shoal.MissingTool{Server: m.server, Tools: append([]string{}, tools...), Message: m.String()}
	}
	return out
}

// String returns a sentence for the author of the configuration. It names the server and
// the failure, and nothing of the headers.
func (m Missing) String() string {
	if m.tool != "" {
		return fmt.Sprintf("The tool %q of the MCP server %q is left out: its name is taken.", m.tool, m.server)
	}
	why := m.err.Error()
	if e, ok := errors.AsType[*shoal.Error](agenterror.Convert(m.err)); ok && e.Msg != "" {
		why = e.Msg
	}
	return fmt.Sprintf("The tools of the MCP server %q are missing: %s.", m.server, strings.TrimSuffix(why, "."))
}

// Log writes what is missing to the operator's log.
func Log(log *slog.Logger, missing []Missing) {
	for _, m := range missing {
		if m.tool != "" {
			log.Warn("a tool of an MCP server is left out: its name is taken", "server", m.server, "tool", m.tool)
		} else {
			log.Warn("the run goes on without an MCP server", "server", m.server, "error", m.err)
		}
	}
}

// Options configure [Connections]. Both fields are required.
type Options struct {
	// Network makes the requests.
	Network *tool.Network
	// Env returns the value of ${env.NAME} in a server's headers.
	Env func(name string) (value string, ok bool)
}

// Connections are the connections of one run. They are safe for concurrent use.
type Connections struct {
	o Options

	mu      sync.Mutex
	open    []*mcptool.Connection
	schemas map[string]map[string]json.RawMessage // by agent and tool
}

// New returns no connections yet.
func New(o Options) *Connections {
	return &Connections{o: o, schemas: map[string]map[string]json.RawMessage{}}
}

// Tools connects to the servers of a configuration, each within timeout, and returns
// their tools. A server that cannot be reached is left out, and so is a tool that has the
// name of one in others: what a server offers today must not break the agent.
func (c *Connections) Tools(ctx context.Context, config *agentconfig.Config, others []agent.Tool, timeout time.Duration) (out []agent.Tool, missing []Missing) {
	connections := make([]*mcptool.Connection, len(config.MCP.Servers))
	failures := make([]error, len(config.MCP.Servers))
	var connecting sync.WaitGroup
	for i, s := range config.MCP.Servers {
		connecting.Go(func() { connections[i], failures[i] = c.connect(ctx, config, s, timeout) })
	}
	connecting.Wait()
	names := map[string]bool{}
	for _, t := range others {
		names[t.Spec().Name] = true
	}
	for i, conn := range connections {
		server := config.MCP.Servers[i].Name
		if failures[i] != nil {
			missing = append(missing, Missing{server: server, expected: config.MCP.Servers[i].AllowedTools, err: failures[i]})
			continue
		}
		c.add(conn)
		for _, t := range conn.Tools() {
			name := t.Spec().Name
			if names[name] {
				missing = append(missing, Missing{server: server, tool: name})
				continue
			}
			names[name] = true
			c.addSchema(string(config.Agent.ID), t.Spec())
			out = append(out, t)
		}
	}
	return out, missing
}

// connect connects to one server, within the network that tools may reach.
func (c *Connections) connect(ctx context.Context, config *agentconfig.Config, s agentconfig.Server, timeout time.Duration) (*mcptool.Connection, error) {
	headers := make(map[string]string, len(s.Headers))
	for name, text := range s.Headers {
		value, err := tool.Expand(text, c.o.Env)
		if err != nil {
			return nil, err
		}
		headers[name] = value
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	permission := s.RequiresPermission
	return mcptool.Connect(ctx, mcptool.Server{
		Name: s.Name, Transport: mcptool.Transport(s.Transport), URL: s.URL, Headers: headers, HTTPClient: c.o.Network.Client(),
		AllowedTools: s.AllowedTools, RequiresPermission: &permission,
		Timeout: time.Duration(max(config.Loop.ToolTimeoutMs, 0)) * time.Millisecond,
	})
}

func (c *Connections) add(conn *mcptool.Connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, conn)
}

func (c *Connections) addSchema(agentName string, spec agent.ToolSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	schemas := c.schemas[agentName]
	if schemas == nil {
		schemas = map[string]json.RawMessage{}
		c.schemas[agentName] = schemas
	}
	schemas[spec.Name] = spec.Schema
}

// Schema returns the schema of the arguments of a server's tool, empty if the tool has
// none.
func (c *Connections) Schema(agentName, toolName string) (schema json.RawMessage, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	schema, found = c.schemas[agentName][toolName]
	return schema, found
}

// Close ends the connections.
func (c *Connections) Close() {
	c.mu.Lock()
	open := c.open
	c.open = nil
	c.mu.Unlock()
	var closing sync.WaitGroup
	for _, conn := range open {
		closing.Go(func() { _ = conn.Close() }) // never fails
	}
	closing.Wait()
}
