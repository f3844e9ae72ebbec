// Package tool makes tools of what an agent config says about them.
//
//	network, err := tool.NewNetwork(tool.NetworkOptions{Private: allowed})
//	…
//	tools, err := tool.All(config, tool.Options{Network: network, Env: lookup})
//	if err != nil {
//		return err // names the path of every tool that cannot be made
//	}
//
// What is promised:
//   - A [Tool] is an [agent.Tool]. What the model sees of it is a copy of the
//     author's schema; what it executes, stores and answers never holds the routing
//     fields that the copy adds ([Tool.Strip]).
//   - A tool that somebody else executes (a client, or the clock) is external to
//     the agent: it holds no goroutine. [Tool.Kind] says who.
//   - Request tools reach public addresses only, and those that the operator
//     lists, judged when the connection is made, so neither DNS nor a redirect
//     leads elsewhere ([Network]).
//   - Image generators ask the vendor that the config names, wherever its base URL
//     is: that is the operator's, like a model's. They follow no redirect, bound
//     what they read, and keep images as files of this server: no address of a
//     vendor is in a result.
//   - Values of the environment are in no error, and in no result where they have
//     four characters or more, as they are or as URLs and JSON write them. A server
//     that sends them back in another form (base64, reversed) is not noticed.
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
)

// MaxResult is how many bytes a result may have; see [agent.Options].
const MaxResult = 256 << 10

// Kind says who executes a tool.
type Kind uint8

// The kinds.
const (
	// Here is executed by [Tool.Call].
	Here Kind = iota
	// Client is executed by somebody outside, who hands in the result.
	Client
	// Clock is over when time has passed; see [Tool.Wait].
	Clock
)

// Options are what tools need of the server.
type Options struct {
	// Network makes the requests of request tools.
	Network *Network
	// Env answers ${env.NAME}, for the names that the operator has allowed.
	Env func(name string) (value string, ok bool)
	// Agent finds the agent that an ai-agent tool asks: one without tools that
	// reach spaces. NotFound says that there is none.
	Agent func(ctx context.Context, id shoal.EntityID) (*agent.Agent, error)
	// Keys looks up the server's own keys of the model vendors by the names of their
	// variables, for image generators whose config names none; nil has none.
	Keys func(name string) string
	// History returns what was said in the conversation before the call, for image
	// generators that include it; nil leaves it out.
	History func(ctx context.Context) ([]agent.Message, error)
	// Keep stores an image that a tool made and returns it with its URL. Without it
	// there are no image generators.
	Keep func(ctx context.Context, file shoal.File, data []byte) (shoal.File, error)
}

// Tool is one configured tool. It is safe for concurrent use.
type Tool struct {
	config agentconfig.Tool
	kind   Kind
	spec   agent.ToolSpec
	input  *agent.Schema // what the author demands of the arguments; nil: nothing
	output *agent.Schema // of the result; nil: nothing
	// run executes a call whose arguments are stripped and checked.
	run func(ctx context.Context, call call) (agent.Output, error)
}

// call is what a kind executes: arguments without routing fields, as text and as
// a value with numbers as json.Number.
type call struct {
	agent.ToolCall
	input map[string]any
}

// All makes the tools of a config, those that every agent has left out. The error
// is of kind InvalidArgument and names all that cannot be made.
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

// New makes the tool of an entry of a config. The error is of kind
// InvalidArgument and names the field of the entry.
func New(c agentconfig.Tool, o Options) (*Tool, error) {
	t := &Tool{config: c, spec: agent.ToolSpec{
		Name: c.Name, Description: c.Description, Schema: c.InputSchema,
		RequiresPermission: c.RequiresPermission, Idempotent: c.Idempotent,
	}}
	var err error
	x := c.Execution
	switch {
	case x.Basic != nil:
		t.basic(x.Basic)
	case x.Request != nil:
		err = t.request(x.Request, o)
	case x.Waiting != nil:
		t.waiting()
	case x.Compute != nil:
		err = t.compute(x.Compute)
	case x.Agent != nil:
		err = t.ask(x.Agent, o.Agent)
	case x.Image != nil:
		err = t.image(x.Image, o)
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
		if t.spec.Schema, err = routed(t.spec.Schema, c.Targeted); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Spec describes the tool to the model: with the routing fields of a display
// tool.
func (t *Tool) Spec() agent.ToolSpec { return t.spec }

// Kind says who executes the tool.
func (t *Tool) Kind() Kind { return t.kind }

// Config returns the entry that the tool was made of.
func (t *Tool) Config() agentconfig.Tool { return t.config }

// Call executes a tool of the kind [Here]. Arguments that do not fit the author's
// schema, and a result that does not, make a failed output which says where.
func (t *Tool) Call(ctx context.Context, c agent.ToolCall) (agent.Output, error) {
	if t.run == nil {
		return agent.Output{}, shoal.E("tool.Call", shoal.Internal, "the tool "+c.Name+" is executed outside of the server")
	}
	_, arguments, err := t.Strip(c.Arguments)
	if err == nil {
		err = t.Check(arguments)
	}
	if err != nil {
		return failed("Error: " + err.Error()), nil
	}
	c.Arguments = arguments
	value, err := decode([]byte(arguments))
	if err != nil {
		return failed("Error: arguments: " + err.Error()), nil
	}
	input, _ := value.(map[string]any) // Strip has seen that it is one
	out, err := t.run(ctx, call{ToolCall: c, input: input})
	if err != nil || out.Failed {
		return out, err
	}
	if err := t.CheckResult(out.Text); err != nil {
		return failed(fmt.Sprintf("Error: %s was executed, but its result does not fit the outputSchema: %v", c.Name, err)), nil
	}
	return out, nil
}

// Check says what the author's schema has against arguments that are stripped.
// Its error is for the model that wrote them; see [agent.Schema.Check].
func (t *Tool) Check(arguments string) error { return t.input.Check("arguments", arguments) }

// CheckResult says what outputSchema has against a result, whoever made it. A
// result that is no JSON counts as a string.
func (t *Tool) CheckResult(text string) error {
	if !json.Valid([]byte(text)) {
		text = string(mustEncode(text))
	}
	return t.output.Check("result", text)
}

// Fits reports why a JSON value, which errors call by its name, does not fit a schema;
// nil if it does. It is for what others send; see [Tool.CheckResult].
func Fits(name string, schema, value json.RawMessage) error {
	s, err := compile("schema", schema)
	if err != nil {
		return err
	}
	return s.Check(name, string(value))
}

func failed(text string) agent.Output { return agent.Output{Text: text, Failed: true} }

// compile compiles an author's schema, nil where there is none.
func compile(field string, raw json.RawMessage) (*agent.Schema, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	return agent.CompileSchema(field, raw)
}

func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("there is text after the end")
	}
	return v, nil
}

// encode writes a result.
func encode(v any) (string, error) {
	text, err := shoal.EncodeJSON(v)
	return string(text), err
}

// answer is the output of a result that is whole.
func answer(v any) (agent.Output, error) {
	text, err := encode(v)
	return agent.Output{Text: text}, err
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
