package agentconfig

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/shoal-dev/shoal/internal/yamltext"
)

// maxYAMLNodes limits the expansion of nested aliases.
const maxYAMLNodes = 200_000

func (c *check) readYAML(text []byte) (any, error) {
	document, err := yamltext.Read(text)
	if err != nil {
		return nil, unreadable("the config is neither JSON nor YAML: %v", err)
	}
	r := yamlReader{check: c}
	value := r.value(&document, "", 0)
	if r.err != nil {
		return nil, r.err
	}
	return value, nil
}

// yamlReader converts nodes into the same values as the JSON reader.
type yamlReader struct {
	*check
	nodes int
	err   error
}

func (r *yamlReader) value(n *yaml.Node, path string, depth int) any {
	if r.nodes++; r.nodes > maxYAMLNodes || r.err != nil {
		if r.err == nil {
			r.err = unreadable("the config grows to more than %d values through its aliases", maxYAMLNodes)
		}
		return nil
	}
	if depth > MaxDepth {
		r.err = tooDeep()
		return nil
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) != 1 {
			r.err = unreadable("the config is empty")
			return nil
		}
		return r.value(n.Content[0], path, depth+1)
	case yaml.AliasNode:
		if n.Alias == nil {
			r.err = unreadable("the config has an alias of nothing")
			return nil
		}
		return r.value(n.Alias, path, depth+1)
	case yaml.SequenceNode:
		list := []any{}
		for i, item := range n.Content {
			list = append(list, r.value(item, index(path, i), depth+1))
		}
		return list
	case yaml.MappingNode:
		return r.mapping(n, path, depth)
	case yaml.ScalarNode:
		return r.scalar(n, path)
	}
	r.err = unreadable("the config is empty")
	return nil
}

func (r *yamlReader) mapping(n *yaml.Node, path string, depth int) any {
	object := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		for name.Kind == yaml.AliasNode && name.Alias != nil {
			name = name.Alias
		}
		switch {
		case name.Kind != yaml.ScalarNode:
			r.addProblem(path, "has a field whose name is not a text (line %d)", name.Line)
			continue
		case name.ShortTag() == "!!merge":
			r.addProblem(path, "uses <<, which is not supported: write the fields out (line %d)", name.Line)
			continue
		}
		at := join(path, name.Value)
		value := r.value(n.Content[i+1], at, depth+1)
		if _, twice := object[name.Value]; twice {
			r.addProblem(at, "occurs twice")
		}
		object[name.Value] = value
	}
	return object
}

func (r *yamlReader) scalar(n *yaml.Node, path string) any {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return n.Value
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err != nil {
			r.addProblem(path, "does not match its tag")
			return nil
		}
		switch v := v.(type) {
		case bool, nil:
			return v
		case string:
			return v
		case float64:
			return r.number(fmt.Sprintf("%.17g", v), path)
		}
		return r.number(fmt.Sprint(v), path)
	}
	r.addProblem(path, "has the tag %s, which a config cannot contain", quote(n.ShortTag()))
	return nil
}
