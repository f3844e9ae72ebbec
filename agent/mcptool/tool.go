package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal/agent"
)

// MetaCallKey is where a call's _meta has its [agent.CallKey]: a server that gets the
// same one again gets the same call again, whose first answer did not arrive.
const MetaCallKey = "dev.shoal/idempotencyKey"

// tool is one tool of a server.
type tool struct {
	c    *Connection
	name string // as the server knows it
	spec agent.ToolSpec
}

func (t *tool) Spec() agent.ToolSpec { return t.spec }

// Call makes the call at the server, on a new connection if the old one is lost.
func (t *tool) Call(ctx context.Context, call agent.ToolCall) (agent.Output, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.c.ctx, func() { cancel(errClosed) })()

	params := &mcp.CallToolParams{Name: t.name}
	if key := agent.CallKey(ctx); key != "" {
		params.Meta = mcp.Meta{MetaCallKey: key}
	}
	if strings.TrimSpace(call.Arguments) != "" {
		params.Arguments = json.RawMessage(call.Arguments)
	}
	token, done := t.c.progress.follow(ctx)
	defer done()
	params.SetProgressToken(token)

	var broken *link
	for {
		l, err := t.c.current(ctx, broken)
		if err != nil {
			return agent.Output{}, err
		}
		var sent delivery
		result, err := l.session.CallTool(context.WithValue(ctx, deliveryKey{}, &sent), params)
		if err == nil {
			return outputOf(result)
		}
		wire, answered := jsonRPCError(err, &sent)
		if answered && wire.Code == jsonrpc.CodeInvalidParams {
			// The model wrote the arguments, so it is the one to mend them.
			return agent.Output{Text: wire.Message, Failed: true}, nil
		}
		again := l.unseen(err, &sent) || (t.spec.Idempotent && !answered && sent.outcome().status < 300)
		if broken != nil || ctx.Err() != nil || !again {
			return agent.Output{}, t.c.failed(ctx, sent.outcome(), err)
		}
		broken = l
	}
}

// jsonRPCError returns the error that the server itself answered a call with.
func jsonRPCError(err error, sent *delivery) (*jsonrpc.Error, bool) {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || sent.outcome().status >= 300 || wire.Code == rejectedByTransport {
		return nil, false
	}
	return wire, true
}

// list asks the server for its tools.
func (c *Connection) list(ctx context.Context) ([]agent.Tool, error) {
	l, err := c.current(ctx, nil)
	if err != nil {
		return nil, err
	}
	var found []*mcp.Tool
	var sent delivery
	for t, err := range l.session.Tools(context.WithValue(ctx, deliveryKey{}, &sent), nil) {
		if err != nil {
			return nil, c.failed(ctx, sent.outcome(), err)
		}
		if len(c.server.AllowedTools) == 0 || slices.Contains(c.server.AllowedTools, t.Name) {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	taken := map[string]bool{}
	tools := make([]agent.Tool, 0, len(found))
	for _, t := range found {
		spec, err := c.specOf(t)
		if err != nil {
			return nil, err
		}
		spec.Name = modelName(c.server.Prefix+t.Name, taken)
		tools = append(tools, &tool{c: c, name: t.Name, spec: spec})
	}
	return tools, nil
}

func (c *Connection) specOf(t *mcp.Tool) (agent.ToolSpec, error) {
	spec := agent.ToolSpec{
		Description:        t.Description,
		RequiresPermission: c.server.RequiresPermission == nil || *c.server.RequiresPermission,
		Timeout:            c.server.Timeout,
	}
	if spec.Description == "" {
		spec.Description = t.Title
	}
	if a := t.Annotations; a != nil {
		spec.Idempotent = a.IdempotentHint || a.ReadOnlyHint
	}
	if t.InputSchema != nil {
		var err error
		if spec.Schema, err = json.Marshal(t.InputSchema); err != nil {
			return spec, fmt.Errorf("the schema of tool %s: %w", t.Name, err)
		}
	}
	return spec, nil
}

// missing names an allowed tool that is not there.
func (s *Server) missing(tools []agent.Tool) error {
	for _, name := range s.AllowedTools {
		if !slices.ContainsFunc(tools, func(t agent.Tool) bool { return t.(*tool).name == name }) {
			return agent.NewError("", agent.ErrNotFound, fmt.Sprintf("MCP server %s has no tool %q, which AllowedTools names", s.Name, name))
		}
	}
	return nil
}

var foreign = regexp.MustCompile(`[^A-Za-z0-9_-]`)

const maxName = 64

// modelName makes a name that models take, and that is not taken.
func modelName(name string, taken map[string]bool) string {
	name = foreign.ReplaceAllString(name, "_")
	name = name[:min(len(name), maxName)]
	for unique, n := name, 2; ; n++ {
		if !taken[unique] && unique != "" {
			taken[unique] = true
			return unique
		}
		number := fmt.Sprintf("_%d", n)
		unique = name[:min(len(name), maxName-len(number))] + number
	}
}

// outputOf turns a server's result into one for the model.
func outputOf(r *mcp.CallToolResult) (agent.Output, error) {
	out := agent.Output{Failed: r.IsError}
	var texts []string
	for _, content := range r.Content {
		switch content := content.(type) {
		case *mcp.TextContent:
			texts = append(texts, content.Text)
		case *mcp.ImageContent:
			out.Files = append(out.Files, agent.File{MediaType: content.MIMEType, Data: content.Data})
		case *mcp.AudioContent:
			out.Files = append(out.Files, agent.File{MediaType: content.MIMEType, Data: content.Data})
		case *mcp.ResourceLink:
			texts = append(texts, strings.TrimSpace(content.Name+" "+content.URI))
		case *mcp.EmbeddedResource:
			if r := content.Resource; r != nil && len(r.Blob) > 0 {
				out.Files = append(out.Files, agent.File{Name: r.URI, MediaType: r.MIMEType, Data: r.Blob})
			} else if r != nil {
				texts = append(texts, r.Text)
			}
		}
	}
	out.Text = strings.Join(texts, "\n")
	if out.Text == "" && r.StructuredContent != nil {
		text, err := json.Marshal(r.StructuredContent)
		if err != nil {
			return agent.Output{}, fmt.Errorf("the result of the tool: %w", err)
		}
		out.Text = string(text)
	}
	return out, nil
}
