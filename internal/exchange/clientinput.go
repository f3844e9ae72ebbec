package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agenterror"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// MaxClientInput is how many bytes the tools and the context of a client have together: each request
// of the model contains them.
const MaxClientInput = 256 << 10

// ClientInput returns what runs get of a client beside its message, nil if that is nothing. It
// checks the schemas of the tools, and compacts them, so that equal schemas are equal bytes. at
// returns the place of a tool's schema in the client's request.
func ClientInput(tools []storage.ClientTool, context []storage.ClientContext, at func(tool int) string) (*storage.ClientInput, error) {
	if len(tools) == 0 && len(context) == 0 {
		return nil, nil
	}
	out := &storage.ClientInput{Tools: tools, Context: context}
	for i, t := range tools {
		schema, err := argumentSchema(at(i), t.Schema)
		if err != nil {
			return nil, err
		}
		out.Tools[i].Schema = schema
	}
	text, err := json.Marshal(out)
	if err == nil && len(text) > MaxClientInput {
		err = shoal.Invalid("body.tools", fmt.Sprintf("and context have %d bytes together; at most %d are allowed", len(text), MaxClientInput))
	}
	return out, err
}

// argumentSchema checks the schema of a tool's arguments, and returns nil for one that takes any
// object.
func argumentSchema(at string, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil {
		return nil, shoal.Invalid(at, "must be a JSON Schema, which is an object")
	}
	if len(schema) == 0 {
		return nil, nil
	}
	if schema["type"] != "object" {
		return nil, shoal.Invalid(at+".type", `must be "object"`)
	}
	if _, err := agent.CompileSchema(at, raw); err != nil {
		return nil, agenterror.Convert(err)
	}
	var text bytes.Buffer
	err := json.Compact(&text, raw)
	return text.Bytes(), err
}

// Unused reports whether sent, what the client has sent beside its message, has tools or context that no run
// uses: the runs began with others. Without a run, nothing is unused.
func (x *Exchange) Unused(ctx context.Context, sent *storage.ClientInput) (tools, context bool, err error) {
	if sent == nil || len(x.Runs) == 0 {
		return false, false, nil
	}
	tools, context = len(sent.Tools) > 0, len(sent.Context) > 0
	for id := range x.Runs {
		in, err := x.Hub.Runs.ClientInput(ctx, x.Who, x.Session, id)
		if err != nil {
			return false, false, err
		}
		if in != nil {
			tools = tools && !equal(in.Tools, sent.Tools)
			context = context && !equal(in.Context, sent.Context)
		}
	}
	return tools, context, nil
}

// equal compares what was stored with what is sent, by the JSON of both.
func equal[T any](stored, sent T) bool {
	a, err := shoal.EncodeJSON(stored)
	if err != nil {
		return false
	}
	b, err := shoal.EncodeJSON(sent)
	return err == nil && bytes.Equal(a, b)
}

// RefusedTools returns the indexes of the tools of sent that runs do not use, because their agents have
// tools with the same names.
func (x *Exchange) RefusedTools(ctx context.Context, sent *storage.ClientInput) (all []int, err error) {
	if sent == nil {
		return nil, nil
	}
	refused := map[string]bool{}
	for id := range x.Runs {
		in, err := x.Hub.Runs.ClientInput(ctx, x.Who, x.Session, id)
		if err != nil {
			return nil, err
		}
		if in != nil {
			for _, name := range in.Refused {
				refused[name] = true
			}
		}
	}
	for i, t := range sent.Tools {
		if refused[t.Name] {
			all = append(all, i)
		}
	}
	return all, nil
}
