package agent

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// OutputMode is how a structured answer is requested.
type OutputMode string

// The modes.
const (
	// OutputNative asks the provider for text that conforms to the schema. The text
	// streams, and [OutputPartial] carries the value so far.
	OutputNative OutputMode = "native"
	// OutputTool gives the model one more tool, return_NAME, whose call ends the
	// turn. It works with every provider that supports tools.
	OutputTool OutputMode = "tool"
	// OutputUnion gives it one such tool for each type.
	OutputUnion OutputMode = "union"
)

// Structured requests an answer that is one JSON value. Types has exactly one element,
// or at least one with [OutputUnion].
type Structured struct {
	Mode  OutputMode
	Types []OutputSchema
	// NoPartials disables [OutputPartial] events.
	NoPartials bool
}

// OutputOf returns the schema of T, a struct or a map, as the type of an answer. It
// panics if T has no JSON Schema.
func OutputOf[T any](name, description string) OutputSchema {
	schema, err := schemaOf(reflect.TypeFor[T]())
	if err != nil {
		panic(fmt.Sprintf("agent.OutputOf(%q): %v", name, err))
	}
	return OutputSchema{Name: name, Description: description, Schema: schema}
}

// Decode returns the structured answer of a turn as a T. It fails with
// ErrInvalidArgument if the turn has no structured answer or it does not conform to T.
func Decode[T any](r *Result) (T, error) {
	var out T
	if len(r.Output) == 0 {
		return out, NewError("agent.Decode", ErrInvalidArgument, "the turn gave no structured answer: "+string(r.Reason))
	}
	if err := json.Unmarshal(r.Output, &out); err != nil {
		return out, &Error{Op: "agent.Decode", Kind: ErrInvalidArgument, Msg: "the answer is not a " + fmt.Sprintf("%T", out), Err: err}
	}
	return out, nil
}

// check reports what is wrong with the request for a structured answer.
func (s *Structured) check() error {
	switch {
	case len(s.Types) == 0:
		return Invalid("Output.Types", "is empty")
	case s.Mode != OutputUnion && len(s.Types) > 1:
		return Invalid("Output.Types", "has more than one type, which needs OutputUnion")
	case s.Mode != OutputNative && s.Mode != OutputTool && s.Mode != OutputUnion:
		return Invalid("Output.Mode", fmt.Sprintf("is %q; native, tool and union are known", s.Mode))
	}
	for i, t := range s.Types {
		if t.Name == "" || len(t.Schema) == 0 {
			return Invalid(fmt.Sprintf("Output.Types[%d]", i), "needs a name and a schema")
		}
	}
	return nil
}

// tools returns the return tools of the modes that use them.
func (s *Structured) tools() []Tool {
	if s.Mode == OutputNative {
		return nil
	}
	out := make([]Tool, 0, len(s.Types))
	for _, t := range s.Types {
		out = append(out, External(ToolSpec{
			Name:        returnPrefix + t.Name,
			Description: "Gives the final answer. " + t.Description,
			Schema:      t.Schema,
		}))
	}
	return out
}

const returnPrefix = "return_"
