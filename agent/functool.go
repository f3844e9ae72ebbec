package agent

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
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
//   - Fields that In does not have are refused.
//
// If the arguments cannot be decoded into In, the result is a failure that names the
// field. If f returns a string or an [Output], that is the result; any other value is
// encoded as JSON. An error of f is the error of the call.
//
// Func panics if In has no schema (a recursive type, a channel, a scalar), as
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

// deriveSchema derives the schema of an object from the type that it decodes into.
func deriveSchema(t reflect.Type) (json.RawMessage, error) {
	if t.Kind() != reflect.Struct && (t.Kind() != reflect.Map || t.Key().Kind() != reflect.String) {
		return nil, fmt.Errorf("%v is not an object in JSON: use a struct", t)
	}
	known := map[reflect.Type]*jsonschema.Schema{}
	knownSchemas(t, map[reflect.Type]bool{}, known)
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("%v is not an object in JSON: use a struct", t)
	}
	loosen(s)
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	return json.Marshal(s)
}

// knownSchemas finds the types within t whose JSON form does not follow from their
// fields.
func knownSchemas(t reflect.Type, seen map[reflect.Type]bool, known map[reflect.Type]*jsonschema.Schema) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch p := reflect.PointerTo(t); {
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface:
	case t == reflect.TypeFor[time.Time]():
		known[t] = &jsonschema.Schema{Type: "string", Format: "date-time"}
		return
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		known[t] = &jsonschema.Schema{Type: "string"}
		return
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		known[t] = &jsonschema.Schema{}
		return
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		known[t] = &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		knownSchemas(t.Elem(), seen, known)
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			if field.IsExported() || field.Anonymous {
				knownSchemas(field.Type, seen, known)
			}
		}
	}
}

// loosen adapts the schema to what this package guarantees for pointers and slices:
// a pointer is optional and may be null, a slice is an array and never null.
func loosen(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	isArray := func(s *jsonschema.Schema) bool { return slices.Contains(s.Types, "array") }
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool {
		p := s.Properties[name]
		return len(p.Types) > 0 && !isArray(p)
	})
	switch {
	case isArray(s):
		s.Type, s.Types = "array", nil
	case len(s.Types) == 1: // a pointer to something that takes any value
		s.Types = nil
	case len(s.Types) == 2:
		s.Types = []string{s.Types[1], "null"}
	}
	for _, p := range s.Properties {
		loosen(p)
	}
	loosen(s.Items)
	loosen(s.AdditionalProperties)
}
