// Package tool creates the tools of an agent config.
//
//	network, err := tool.NewNetwork(tool.NetworkOptions{Private: allowed})
//	…
//	tools, err := tool.All(config, tool.Options{Network: network, Env: lookup})
//	if err != nil {
//		return err // names the path of every tool that cannot be made
//	}
//
// Guarantees:
//   - A [Tool] is an [agent.Tool]. The model sees a copy of the author's schema with
//     additional routing fields; the tool executes, stores and returns arguments without
//     them ([Tool.Strip]).
//   - A tool that a client or the clock executes is external to the agent: it holds no
//     goroutine. [Tool.Kind] names the executor.
//   - Request tools reach only public addresses and those that the operator lists. The
//     address is checked when the connection is made, so neither DNS nor a redirect can
//     lead elsewhere ([Network]).
//   - Image generators call the vendor that the config names, at any base URL: like a
//     model's, it is the operator's choice. They follow no redirect, limit the bytes that
//     they read, and store images as files of this server, so no result contains an
//     address of the vendor.
//   - Values of the environment appear in no error. Values of at least four characters
//     appear in no result, unchanged or encoded for a URL or JSON. Other encodings that a
//     server returns (base64, reversed) are not detected.
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/agenterror"
)

// MaxResult limits the bytes of a result; see [agent.Options].
const MaxResult = 256 << 10

// Kind names the executor of a tool.
type Kind uint8

// The kinds.
const (
	// Here is executed by [Tool.Call].
	Here Kind = iota
	// Client is executed outside of the server by a client, which submits the result.
	Client
	// Clock ends after a time; see [Tool.Wait].
	Clock
)

// Options are the services of the server that tools need.
type Options struct {
	// Network sends the requests of request tools.
	Network *Network
	// Env resolves ${env.NAME}, for the names that the operator permits.
	Env func(name string) (value string, ok bool)
	// Agent returns the agent that an ai-agent tool calls: one without tools that reach
	// spaces. NotFound means that the agent does not exist.
	Agent func(ctx context.Context, id shoal.EntityID) (*agent.Agent, error)
	// Keys returns the server's own keys of the model vendors by the names of their
	// variables, for image generators whose config names no key; nil means no keys.
	Keys func(name string) string
	// History returns the messages of the conversation before the call, for image
	// generators that include them; nil leaves them out.
	History func(ctx context.Context) ([]agent.Message, error)
	// StoreFile stores an image that a tool created and returns it with its URL. Without it,
	// image generators are not available.
	StoreFile func(ctx context.Context, file shoal.File, data []byte) (shoal.File, error)
}

// Tool is one configured tool. It is safe for concurrent use.
type Tool struct {
	config agentconfig.Tool
	kind   Kind
	spec   agent.ToolSpec
	input  *agent.Schema // schema of the arguments; nil: none
	output *agent.Schema // schema of the result; nil: none
	// run executes a call whose arguments were stripped and checked.
	run func(ctx context.Context, call call) (agent.Output, error)
}

// call is a call to execute: its arguments without routing fields, as text and as a value
// with numbers as json.Number.
type call struct {
	agent.ToolCall
	input map[string]any
}

// All creates the tools of a config, without the built-in ones. The error is of kind
// InvalidArgument and names all tools that cannot be created.
func All(config *agentconfig.Config, o Options) ([]*Tool, error) {
	var tools []*Tool
	wrong := &shoal.Error{Op: "tool.All", Kind: shoal.InvalidArgument}
	for i, c := range config.Tools {
		if c.ExecutionType == agentconfig.BuiltInType {
			continue
		}
		t, err := New(c, o)
		var e *shoal.Error
		switch {
		case err == nil:
			tools = append(tools, t)
		case errors.As(err, &e) && e.Kind == shoal.InvalidArgument:
			for _, f := range e.Fields {
				at := "tools[" + strconv.Itoa(i) + "]." + f.Location
				if wrong.Msg != "" {
					wrong.Msg += "; "
				}
				wrong.Msg += at + " " + f.Message
				wrong.Fields = append(wrong.Fields, shoal.FieldError{Location: at, Message: f.Message})
			}
		default:
			return nil, err
		}
	}
	if len(wrong.Fields) > 0 {
		return nil, wrong
	}
	return tools, nil
}

// New creates the tool of an entry of a config. The error is of kind InvalidArgument and
// names the field of the entry.
func New(c agentconfig.Tool, o Options) (*Tool, error) {
	t := &Tool{config: c, spec: agent.ToolSpec{
		Name: c.Name, Description: c.Description, Schema: c.InputSchema,
		RequiresPermission: c.RequiresPermission, Idempotent: c.Idempotent,
	}}
	var err error
	x := c.Execution
	switch {
	case x.Basic != nil:
		t.configureBasic(x.Basic)
	case x.Request != nil:
		err = t.configureRequest(x.Request, o)
	case x.Waiting != nil:
		t.configureWait()
	case x.Compute != nil:
		err = t.configureCompute(x.Compute)
	case x.Agent != nil:
		err = t.configureAgent(x.Agent, o.Agent)
	case x.Image != nil:
		err = t.configureImage(x.Image, o)
	default:
		err = shoal.Invalid("executionType", string(c.ExecutionType)+" is not supported by this server")
	}
	if err != nil {
		return nil, err
	}
	if t.input, err = compile("inputSchema", t.spec.Schema); err != nil {
		return nil, err
	}
	if t.output, err = compile("outputSchema", c.OutputSchema); err != nil {
		return nil, err
	}
	t.spec.External = t.kind != Here
	if c.DisplayTool {
		if t.spec.Schema, err = withRoutingFields(t.spec.Schema, c.Targeted); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Spec describes the tool to the model, including the routing fields of a display tool.
func (t *Tool) Spec() agent.ToolSpec { return t.spec }

// Kind returns the executor of the tool.
func (t *Tool) Kind() Kind { return t.kind }

// Config returns the config entry of the tool.
func (t *Tool) Config() agentconfig.Tool { return t.config }

// Call executes a tool of kind [Here]. Arguments or a result that do not fit the author's
// schema lead to a failed output that describes the location.
func (t *Tool) Call(ctx context.Context, c agent.ToolCall) (agent.Output, error) {
	if t.run == nil {
		return agent.Output{}, shoal.E("tool.Call", shoal.Internal, "the tool "+c.Name+" is executed outside of the server")
	}
	_, arguments, err := t.Strip(c.Arguments)
	if err == nil {
		err = t.Check(arguments)
	}
	if err != nil {
		return failedOutput("Error: " + err.Error()), nil
	}
	c.Arguments = arguments
	value, err := decode([]byte(arguments))
	if err != nil {
		return failedOutput("Error: arguments: " + err.Error()), nil
	}
	input, _ := value.(map[string]any) // Strip has checked that it is an object
	out, err := t.run(ctx, call{ToolCall: c, input: input})
	if err != nil || out.Failed {
		return out, err
	}
	if err := t.CheckResult(out.Text); err != nil {
		return failedOutput(fmt.Sprintf("Error: %s was executed, but its result does not fit the outputSchema: %v", c.Name, err)), nil
	}
	return out, nil
}

// Check validates stripped arguments against the author's schema. The error is for the model
// that wrote them; see [agent.Schema.Check].
func (t *Tool) Check(arguments string) error { return t.input.Check("arguments", arguments) }

// CheckResult validates a result against outputSchema, also one that a client submits. A
// result that is not JSON counts as a string.
func (t *Tool) CheckResult(text string) error {
	if !json.Valid([]byte(text)) {
		text = string(mustEncode(text))
	}
	return t.output.Check("result", text)
}

// CheckValue returns why a JSON value does not fit a schema, or nil. The error calls the value by
// name. Use it for values from clients; see [Tool.CheckResult].
func CheckValue(name string, schema, value json.RawMessage) error {
	s, err := compile("schema", schema)
	if err != nil {
		return err
	}
	return s.Check(name, string(value))
}

func failedOutput(text string) agent.Output { return agent.Output{Text: text, Failed: true} }

// compile compiles an author's schema; nil if raw is empty.
func compile(field string, raw json.RawMessage) (*agent.Schema, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	s, err := agent.CompileSchema(field, raw)
	return s, agenterror.Convert(err)
}

func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("text follows after the end")
	}
	return v, nil
}

// encode encodes a result as JSON.
func encode(v any) (string, error) {
	text, err := shoal.EncodeJSON(v)
	return string(text), err
}

// outputOf returns the output of a complete result.
func outputOf(v any) (agent.Output, error) {
	text, err := encode(v)
	return agent.Output{Text: text}, err
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
