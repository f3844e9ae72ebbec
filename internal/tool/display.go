package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// Routing is the destination that the model chose for a call of a display tool. The zero
// value shows the call nowhere.
type Routing struct {
	TargetSpaceID  shoal.SpaceID
	Mention        shoal.EntityID
	TargetEntityID shoal.EntityID
}

// routingField is a field that a display tool adds to its schema.
type routingField struct {
	name, description string
	targeted          bool // only for targeted tools
	set               func(r *Routing, value string)
}

// routingFields are listed in the order in which the model sees them.
var routingFields = []routingField{
	{
		name:        agentconfig.TargetSpace,
		description: "The id of the space in which to show this. Without it, nobody sees the call.",
		set:         func(r *Routing, v string) { r.TargetSpaceID = shoal.SpaceID(v) },
	},
	{
		name:        agentconfig.Mention,
		description: "The id of a member of that space to mention, who is then notified.",
		set:         func(r *Routing, v string) { r.Mention = shoal.EntityID(v) },
	},
	{
		name:        agentconfig.TargetEntity,
		targeted:    true,
		description: "The id of the one member of that space to show this to. The other members see only that a private part exists.",
		set:         func(r *Routing, v string) { r.TargetEntityID = shoal.EntityID(v) },
	},
}

// withRoutingFields returns a copy of an author's schema with the routing fields before its own
// properties. Routing fields are never required.
func withRoutingFields(schema json.RawMessage, targeted bool) (json.RawMessage, error) {
	parts := map[string]json.RawMessage{}
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &parts); err != nil {
			return nil, shoal.Invalid("inputSchema", "must be an object")
		}
	}
	properties := map[string]json.RawMessage{}
	if own := parts["properties"]; len(own) > 0 {
		if err := json.Unmarshal(own, &properties); err != nil {
			return nil, shoal.Invalid("inputSchema.properties", "must be an object")
		}
	}
	delete(parts, "type")
	delete(parts, "properties")
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	for i, f := range routingFields {
		if f.targeted && !targeted {
			continue
		}
		if _, taken := properties[f.name]; taken {
			return nil, shoal.Invalid("inputSchema.properties."+f.name, "is reserved: display tools add this field. Choose another name")
		}
		if i > 0 {
			b.WriteByte(',')
		}
		writeMember(&b, f.name, mustEncode(map[string]string{"type": "string", "description": f.description}))
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		b.WriteByte(',')
		writeMember(&b, name, properties[name])
	}
	b.WriteByte('}')
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		b.WriteByte(',')
		writeMember(&b, name, parts[name])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func writeMember(b *bytes.Buffer, name string, value json.RawMessage) {
	b.Write(mustEncode(name))
	b.WriteByte(':')
	b.Write(value)
}

// mustEncode encodes values that can always be encoded, such as strings.
func mustEncode(v any) json.RawMessage {
	text, err := encode(v)
	if err != nil {
		panic("tool: " + err.Error())
	}
	return json.RawMessage(text)
}

// Strip removes the routing fields from the arguments of a call. The rest is returned as the
// model wrote it, byte for byte and in its order, except for the white space between fields;
// empty arguments count as {}. A tool that is not a display tool has no routing fields:
// fields with their names are ordinary arguments.
//
// The error describes the problem to the model.
func (t *Tool) Strip(arguments string) (Routing, string, error) {
	var r Routing
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	fields, err := splitFields(arguments)
	if err != nil {
		return r, "", err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, f := range fields {
		if t.config.DisplayTool {
			routing, err := r.setField(f, t.config.Targeted)
			if err != nil {
				return Routing{}, "", err
			}
			if routing {
				continue
			}
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(f.quoted)
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return r, b.String(), nil
}

// setField stores a routing field and reports whether f is one.
func (r *Routing) setField(f argument, targeted bool) (bool, error) {
	at := slices.IndexFunc(routingFields, func(known routingField) bool { return known.name == f.name })
	if at < 0 || (routingFields[at].targeted && !targeted) {
		return false, nil
	}
	var value *string
	if err := json.Unmarshal(f.value, &value); err != nil {
		return true, fmt.Errorf("arguments.%s: must be a string", f.name)
	}
	if value != nil && *value != "" {
		if err := shoal.CheckID("arguments."+f.name, *value); err != nil {
			return true, fmt.Errorf("arguments.%s: must be an id", f.name)
		}
		routingFields[at].set(r, *value)
	}
	return true, nil
}

// argument is one top-level field of a call's arguments.
type argument struct {
	name          string
	quoted, value json.RawMessage
}

// splitFields returns the top-level fields of an object.
func splitFields(arguments string) ([]argument, error) {
	dec := json.NewDecoder(strings.NewReader(arguments))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("arguments: must be one JSON object")
	}
	var fields []argument
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, errors.New("arguments: must be valid JSON")
		}
		name, _ := token.(string) // names are always strings
		if seen[name] {
			return nil, fmt.Errorf("arguments: the field %.80q occurs twice", name)
		}
		seen[name] = true
		f := argument{name: name, quoted: mustEncode(name)}
		if err := dec.Decode(&f.value); err != nil {
			return nil, errors.New("arguments: must be valid JSON")
		}
		fields = append(fields, f)
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("arguments: must be valid JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("arguments: there is text after the object")
	}
	return fields, nil
}
