package agent

import (
	"encoding/json"
	"reflect"
	"slices"
	"sync"
)

// A server makes an agent for each run, since its tools belong to the run, but their schemas
// hardly ever change. Deriving and compiling them each time was a fifth of the CPU time of a
// short run.

const (
	keptSchemas     = 256      // compiled
	keptSchemaBytes = 16 << 10 // of the text of one
)

// toolSchemas keeps the compiled schemas of tools by their text.
var toolSchemas = schemaCache{compiled: map[string]*Schema{}}

// schemaCache keeps at most keptSchemas compiled schemas, which do not change. It is safe for
// concurrent use.
type schemaCache struct {
	mu       sync.Mutex
	compiled map[string]*Schema
}

// compile is [CompileSchema] with the name "schema".
func (c *schemaCache) compile(raw json.RawMessage) (*Schema, error) {
	if s := c.get(raw); s != nil {
		return s, nil
	}
	s, err := CompileSchema("schema", raw)
	if err != nil || len(raw) > keptSchemaBytes {
		return s, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.compiled) >= keptSchemas {
		clear(c.compiled) // what is in use comes back with its next use
	}
	c.compiled[string(raw)] = s
	return s, nil
}

func (c *schemaCache) get(raw json.RawMessage) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compiled[string(raw)]
}

// typeSchemas keeps what deriveSchema returns, a json.RawMessage, by the type.
var typeSchemas sync.Map

// schemaOf returns the schema of an object, derived from the type that it decodes into. The
// result belongs to the caller.
func schemaOf(t reflect.Type) (json.RawMessage, error) {
	if kept, ok := typeSchemas.Load(t); ok {
		return slices.Clone(kept.(json.RawMessage)), nil
	}
	schema, err := deriveSchema(t)
	if err == nil {
		typeSchemas.Store(t, slices.Clone(schema))
	}
	return schema, err
}
