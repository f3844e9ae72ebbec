package price

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// object is a JSON object as it was written: in order, and with duplicate names, which
// a map would hide.
type object []member

type member struct {
	name  string
	value any
}

// maxDepth is more than a list of prices needs, and keeps a hostile one off the
// stack.
const maxDepth = 8

// parse returns the one JSON value in data: object, []any, string, json.Number,
// bool or nil.
func parse(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := value(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	return v, nil
}

func value(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth == maxDepth {
		return nil, errors.New("it is nested too deeply")
	}
	var members object
	list := []any{}
	for d.More() {
		var name string
		if delim == '{' {
			t, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ = t.(string)
		}
		v, err := value(d, depth+1)
		if err != nil {
			return nil, err
		}
		members, list = append(members, member{name, v}), append(list, v)
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return nil, err
	}
	if delim == '{' {
		return members, nil
	}
	return list, nil
}

// join appends a name to a path, in brackets when it would blur the path.
func join(path, name string) string {
	if name == "" || strings.ContainsAny(name, ".[] \t\n\"") {
		return path + "[" + strconv.Quote(name) + "]"
	}
	return path + "." + name
}
