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

// The dialects of JSON Schema that tools may be described in.
const (
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
	draft7    = "http://json-schema.org/draft-07/schema"
)

// The meta-schemas of the two dialects say whether a schema is one.
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
		panic(err) // it is a part of the binary, and a test compiles it
	}
	return s
}

// schema checks that a value is a JSON Schema which an agent can use, so one that
// refers to nothing outside of itself.
func (c *check) schema(v any, path string) {
	document, ok := v.(map[string]any)
	if !ok {
		c.wrong(path, "must be a JSON Schema, which is an object, not %s", kindOf(v))
		return
	}
	meta := meta2020
	switch dialect, _ := document["$schema"].(string); strings.TrimSuffix(dialect, "#") {
	case draft2020:
	case draft7:
		meta = meta7
	default:
		if document["$schema"] != nil {
			c.wrong(path+".$schema", "must be %s or %s", draft2020, draft7)
			return
		}
	}
	text, _ := shoal.EncodeJSON(v) // of what was read, which can be written
	err := meta().Check(path, string(text))
	if faults, ok := errors.AsType[agent.Faults](err); ok {
		for _, f := range faults {
			c.wrong(f.Path, "is not valid JSON Schema: %s", f.Message)
		}
		return
	}
	if err != nil {
		c.wrong(path, "is not valid JSON Schema: %v", err)
		return
	}
	_, err = agent.CompileSchema(path, text)
	if refused, ok := errors.AsType[*shoal.Error](err); ok {
		for _, f := range refused.Fields {
			c.wrong(f.Location, "%s", f.Message)
		}
	}
}
