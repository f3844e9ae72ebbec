package connect

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Text returns the entry as a whole file that holds nothing else.
func (c *Client) Text(name string, t Target) (string, error) {
	text, _, err := c.set("", name, t)
	return text, err
}

// set puts an entry into a text, and says how many objects around it, and around
// the question for its key, it made.
func (c *Client) set(src, name string, t Target) (after string, made []int, err error) {
	fields := c.entry(name, t)
	if c.format == tomlFormat {
		drop := []string{"http_headers", "env_http_headers"}
		if t.Key != "" {
			drop = []string{"bearer_token_env_var", "env_http_headers"}
		}
		after, err = tomlSet(src, []string{c.inside, name}, fields, drop)
		return after, []int{0}, err
	}
	entry, found, err := jsonFind(src, []string{c.inside, name})
	if err != nil {
		return "", nil, err
	}
	made = []int{0}
	if found && entry.kind == '{' {
		for _, f := range fields { // what the person has added to the entry stays
			if src, _, err = jsonSet(src, []string{c.inside, name, f.name}, f.value); err != nil {
				return "", nil, err
			}
		}
	} else if src, made[0], err = jsonSet(src, []string{c.inside, name}, fields); err != nil {
		return "", nil, err
	}
	if c.asks {
		return setInput(src, name, t, made)
	}
	return src, made, nil
}

// setInput has the client ask for the key, if it does not yet.
func setInput(src, name string, t Target, made []int) (string, []int, error) {
	at, err := inputAt(src, name)
	if err != nil || at >= 0 {
		return src, append(made, 0), err
	}
	src, n, err := jsonPush(src, []string{"inputs"}, input(name, t.Agent))
	return src, append(made, n), err
}

// cut takes an entry out of a text, and the objects that set had made for it if
// nothing else is in them.
func (c *Client) cut(src, name string, made []int) (string, error) {
	if c.format == tomlFormat {
		return tomlCut(src, []string{c.inside, name})
	}
	up := func(i int) int {
		if i < len(made) {
			return made[i]
		}
		return 0
	}
	if c.asks {
		at, err := inputAt(src, name)
		if err != nil {
			return "", err
		}
		if at >= 0 {
			if src, err = jsonCut(src, []string{"inputs"}, at, up(1)); err != nil {
				return "", err
			}
		}
	}
	servers, found, err := jsonFind(src, []string{c.inside})
	if err != nil || !found {
		return src, err
	}
	at, err := servers.member(name)
	if err != nil || at < 0 {
		return src, err
	}
	return jsonCut(src, []string{c.inside}, at, up(0))
}

// inputAt returns where among the inputs the question for the key is, -1 if
// it does not.
func inputAt(src, name string) (int, error) {
	inputs, found, err := jsonFind(src, []string{"inputs"})
	if err != nil || !found {
		return -1, err
	}
	for i, item := range inputs.items {
		at, err := item.value.member("id")
		if err != nil {
			return -1, err
		}
		if at >= 0 && item.value.items[at].value.text(src) == inputID(name) {
			return i, nil
		}
	}
	return -1, nil
}

// read returns what the entry of a name says, nil if there is none.
func (c *Client) read(src, name string) (map[string]any, error) {
	said, err := c.decode(src)
	if err != nil {
		return nil, err
	}
	servers, _ := said[c.inside].(map[string]any)
	entry, is := servers[name]
	if fields, object := entry.(map[string]any); object || !is {
		return fields, nil
	}
	return map[string]any{}, nil // something that no client understands
}

// rest returns what a text says besides the entry of a name. An object that the
// entry alone was in is not there.
func (c *Client) rest(src, name string) (map[string]any, error) {
	said, err := c.decode(src)
	if err != nil || name == "" {
		return said, err
	}
	if servers, is := said[c.inside].(map[string]any); is {
		delete(servers, name)
		if len(servers) == 0 {
			delete(said, c.inside)
		}
	}
	if inputs, is := said["inputs"].([]any); is && c.asks {
		var others []any
		for _, one := range inputs {
			if in, _ := one.(map[string]any); in["id"] != inputID(name) {
				others = append(others, one)
			}
		}
		said["inputs"] = others
		if len(others) == 0 {
			delete(said, "inputs")
		}
	}
	return said, nil
}

// decode parses a text. A blank one says nothing.
func (c *Client) decode(src string) (map[string]any, error) {
	said := map[string]any{}
	if !utf8.ValidString(src) {
		return nil, unreadable("it is not UTF-8")
	}
	if c.format == tomlFormat {
		_, err := toml.Decode(src, &said)
		var wrong toml.ParseError
		switch {
		case errors.As(err, &wrong):
			return nil, unreadable(fmt.Sprintf("it is not TOML: line %d: %s", wrong.Position.Line, wrong.Message))
		case err != nil:
			return nil, unreadable("it is not TOML: " + err.Error())
		}
		return said, nil
	}
	return decodeJSON(src)
}

// decodeJSON parses a text of JSON. A blank one says nothing.
func decodeJSON(src string) (map[string]any, error) {
	if !utf8.ValidString(src) {
		return nil, unreadable("it is not UTF-8")
	}
	root, blank, err := scanJSON(src)
	if err != nil {
		return nil, unreadable("it is not JSON: " + message(err))
	}
	if blank {
		return map[string]any{}, nil
	}
	said, is := root.decode(src).(map[string]any)
	if !is {
		return nil, unreadable("it is not a JSON object")
	}
	return said, nil
}

// same compares what two texts say. A NaN is the same as another.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, is := b.(map[string]any)
		if !is || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			if other, is := b[key]; !is || !same(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, same)
	case []map[string]any: // an array of tables
		b, is := b.([]map[string]any)
		return is && slices.EqualFunc(a, b, func(a, b map[string]any) bool { return same(a, b) })
	case float64:
		b, is := b.(float64)
		return is && (a == b || math.IsNaN(a) && math.IsNaN(b))
	}
	return reflect.DeepEqual(a, b)
}
