package agentconfig

import (
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// The dialects of JSON Schema that the schemas of tools may use.
const (
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
	draft7    = "http://json-schema.org/draft-07/schema"
)

// The meta-schemas of the two dialects validate a schema; [agent.Schema] validates values.
var (
	//go:embed draft2020.json
	draft2020JSON []byte
	//go:embed draft7.json
	draft7JSON []byte

	meta2020 = sync.OnceValue(func() *agent.Schema { return mustCompile(draft2020JSON) })
	meta7    = sync.OnceValue(func() *agent.Schema { return mustCompile(draft7JSON) })
)

func mustCompile(meta json.RawMessage) *agent.Schema {
	s, err := agent.CompileSchema("metaschema", meta)
	if err != nil {
		panic(err) // the meta-schemas are embedded, and a test compiles them
	}
	return s
}

// checkSchema checks that a value is a JSON Schema that an agent can use. The schema must not
// refer to anything outside itself.
func (c *check) checkSchema(v any, path string) {
	document, ok := v.(map[string]any)
	if !ok {
		c.addProblem(path, "must be a JSON Schema, which is an object, not %s", kindOf(v))
		return
	}
	meta := meta2020
	switch dialect, _ := document["$schema"].(string); strings.TrimSuffix(dialect, "#") {
	case draft2020:
	case draft7:
		meta = meta7
	default:
		if document["$schema"] != nil {
			c.addProblem(path+".$schema", "must be %s or %s", draft2020, draft7)
			return
		}
	}
	text, _ := shoal.EncodeJSON(v) // decoded values can always be encoded
	err := meta().Check(path, string(text))
	if faults, ok := errors.AsType[agent.Faults](err); ok {
		for _, f := range faults {
			c.addProblem(f.Path, "is not valid JSON Schema: %s", f.Message)
		}
		return
	}
	if err != nil {
		c.addProblem(path, "is not valid JSON Schema: %v", err)
		return
	}
	_, err = agent.CompileSchema(path, text)
	if refused, ok := errors.AsType[*agent.Error](err); ok {
		for _, f := range refused.Fields {
			c.addProblem(f.Location, "%s", f.Message)
		}
	}
}
