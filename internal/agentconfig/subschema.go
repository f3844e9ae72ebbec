package agentconfig

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// The dialects of JSON Schema that tools may be described in.
const (
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
	draft7    = "http://json-schema.org/draft-07/schema"
)

// The meta-schemas say whether a schema is one; what a value has to be is
// [agent.Schema]'s to say. The library has them built in and loads nothing.
var (
	meta2020 = sync.OnceValue(func() *jsonschema.Schema { return jsonschema.NewCompiler().MustCompile(draft2020) })
	meta7    = sync.OnceValue(func() *jsonschema.Schema { return jsonschema.NewCompiler().MustCompile(draft7) })
)

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
	if violation, ok := errors.AsType[*jsonschema.ValidationError](meta().Validate(v)); ok {
		c.noSchema(violation, path)
		return
	}
	text, _ := shoal.EncodeJSON(v) // of what was read, which can be written
	_, err := agent.CompileSchema(path, text)
	if refused, ok := errors.AsType[*shoal.Error](err); ok {
		for _, f := range refused.Fields {
			c.wrong(f.Location, "%s", f.Message)
		}
	}
}

// noSchema names every place that a meta-schema refuses: the violations that are
// no mere sum of others.
func (c *check) noSchema(v *jsonschema.ValidationError, at string) {
	for _, cause := range v.Causes {
		c.noSchema(cause, at)
	}
	if len(v.Causes) > 0 {
		return
	}
	for _, step := range v.InstanceLocation {
		if n, err := strconv.Atoi(step); err == nil {
			at = index(at, n)
		} else {
			at = join(at, step)
		}
	}
	c.wrong(at, "is no JSON Schema: %s", v.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}
