package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Func returns a tool that calls f. The schema of its arguments is derived from
// In, a struct (struct{} for a tool without arguments) or a map with string keys:
//
//   - A field is named as encoding/json names it. It is required unless it is a
//     pointer or marked omitempty or omitzero.
//   - The tag jsonschema:"…" is the field's description for the model.
//   - Slices, maps, nested structs and time.Time (RFC 3339) are what they are in
//     JSON; []byte is base64; any and json.RawMessage take any value; types with
//     UnmarshalText are strings, others with UnmarshalJSON take any value.
//   - Types may contain themselves, as a tree does. A slice or a map that leads back to
//     its type is optional: a leaf has none.
//   - A [OneOf] is one of the registered types of an interface.
//   - Fields that In does not have are refused.
//
// If the arguments cannot be decoded into In, the result is a failure that names the
// field. If f returns a string or an [Output], that is the result; any other value is
// encoded as JSON. An error of f is the error of the call.
//
// Func panics if In has no schema (a channel, a scalar, a OneOf of an interface that has
// no types yet), as
// regexp.MustCompile does: the mistake is in the program. [Configure] sets the
// other properties of the tool's [ToolSpec].
func Func[In, Out any](name, description string, f func(ctx context.Context, in In) (Out, error)) Tool {
	schema, err := schemaOf(reflect.TypeFor[In]())
	if err == nil && f == nil {
		err = errors.New("the function is nil")
	}
	if err != nil {
		panic(fmt.Sprintf("agent.Func(%q): %v", name, err))
	}
	return &function{
		spec: ToolSpec{Name: name, Description: description, Schema: schema},
		call: func(ctx context.Context, call ToolCall) (Output, error) {
			in, err := decodeArguments[In](call.Arguments)
			if err != nil {
				return Output{Text: err.Error(), Failed: true}, nil
			}
			out, err := f(ctx, in)
			if err != nil {
				return Output{}, err
			}
			return outputOf(out)
		},
	}
}

// Dynamic returns a tool with the given spec that calls a function. call receives
// arguments that conform to spec.Schema, "{}" if the model wrote none. Schemas are
// JSON Schema (2020-12 or draft 7). The keywords format, content…, unevaluated… and
// patterns that Go cannot express are sent to the model but not checked; references
// must be local, such as #/$defs/name. Dynamic panics if call is nil.
func Dynamic(spec ToolSpec, call func(ctx context.Context, call ToolCall) (Output, error)) Tool {
	if call == nil {
		panic(fmt.Sprintf("agent.Dynamic(%q): the function is nil", spec.Name))
	}
	return &function{spec: spec, call: call}
}

// External returns a tool that is executed outside of the turn; see [ToolSpec].
func External(spec ToolSpec) Tool {
	spec.External = true
	return &function{spec: spec, call: func(context.Context, ToolCall) (Output, error) {
		return Output{}, NewError("agent.External", ErrInternal, fmt.Sprintf("tool %s is executed outside of the agent", spec.Name))
	}}
}

// Configure returns tool with its spec modified by change.
//
//	pay := agent.Configure(agent.Func("pay", "Pays an invoice.", pay), func(s *agent.ToolSpec) {
//		s.RequiresPermission = true
//	})
func Configure(tool Tool, change func(spec *ToolSpec)) Tool {
	return &configured{Tool: tool, change: change}
}

// NeedsPermission returns tool with a request for permission before every call, as
// ToolSpec.RequiresPermission says.
func NeedsPermission(tool Tool) Tool {
	return Configure(tool, func(s *ToolSpec) { s.RequiresPermission = true })
}

// function is a tool that calls a function.
type function struct {
	spec ToolSpec
	call ToolFunc
}

func (f *function) Spec() ToolSpec { return f.spec }

func (f *function) Call(ctx context.Context, call ToolCall) (Output, error) {
	if strings.TrimSpace(call.Arguments) == "" {
		call.Arguments = "{}"
	}
	return f.call(ctx, call)
}

// configured is a tool with a changed spec.
type configured struct {
	Tool
	change func(*ToolSpec)
}

func (c *configured) Spec() ToolSpec {
	spec := c.Tool.Spec()
	c.change(&spec)
	return spec
}

// decodeArguments decodes arguments into In. Its error is for the model and names
// the field.
func decodeArguments[In any](arguments string) (In, error) {
	var in In
	err := json.Unmarshal([]byte(arguments), &in)
	if err == nil {
		return in, nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return in, fmt.Errorf("arguments.%s: %s does not fit %s", wrong.Field, wrong.Value, wrong.Type)
	}
	// The error of a type's own decoder does not say where it happened: find the
	// first field that fails on its own.
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) == nil {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			alone, _ := json.Marshal(map[string]json.RawMessage{name: fields[name]})
			if err := json.Unmarshal(alone, new(In)); err != nil {
				return in, fmt.Errorf("arguments.%s: %w", name, err)
			}
		}
	}
	return in, fmt.Errorf("arguments: %w", err)
}

// outputOf converts the return value of a function to a result.
func outputOf(out any) (Output, error) {
	switch v := out.(type) {
	case Output:
		return v, nil
	case string:
		return Output{Text: v}, nil
	}
	text, err := encodeJSON(out)
	if err != nil {
		return Output{}, fmt.Errorf("encoding the result: %w", err)
	}
	return Output{Text: string(text)}, nil
}

// schemaFor is schemaOf for types of the program: it panics if the type has no schema.
func schemaFor[T any]() json.RawMessage {
	schema, err := schemaOf(reflect.TypeFor[T]())
	if err != nil {
		panic("agent: " + err.Error())
	}
	return schema
}
