package agentconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
)

// read converts the text into maps, lists, strings, booleans, nil and json.Number in
// canonical form. Fields that occur twice, which JSON permits, are collected as problems; an
// error means that the text cannot be read.
func (c *check) read(text []byte) (any, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		return nil, unreadable("the config is not valid UTF-8")
	}
	if begin := bytes.TrimLeft(text, " \t\r\n"); len(begin) > 0 && begin[0] == '{' && json.Valid(text) {
		return c.readJSON(text)
	}
	return c.readYAML(text)
}

func unreadable(format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	return &shoal.Error{
		Op: "agentconfig.Decode", Kind: shoal.InvalidJSON, Msg: msg,
		Fields: []shoal.FieldError{{Location: "config", Message: msg}},
	}
}

func (c *check) readJSON(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	value, err := c.jsonValue(dec, "", 1)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, unreadable("the config has text after its end")
	}
	return value, nil
}

func (c *check) jsonValue(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, tooDeep()
	}
	token, err := dec.Token()
	if err != nil {
		return nil, unreadable("the config is not valid JSON: %v", err)
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			list := []any{}
			for dec.More() {
				item, err := c.jsonValue(dec, index(path, len(list)), depth+1)
				if err != nil {
					return nil, err
				}
				list = append(list, item)
			}
			_, err := dec.Token()
			return list, err
		}
		object := map[string]any{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, unreadable("the config is not valid JSON: %v", err)
			}
			key, _ := name.(string)
			at := join(path, key)
			value, err := c.jsonValue(dec, at, depth+1)
			if err != nil {
				return nil, err
			}
			if _, twice := object[key]; twice {
				c.addProblem(at, "occurs twice")
			}
			object[key] = value
		}
		_, err := dec.Token()
		return object, err
	case json.Number:
		return c.number(token.String(), path), nil
	}
	return token, nil
}

func tooDeep() error { return unreadable("the config is nested more than %d deep", MaxDepth) }

// number returns the canonical form of a number: an integer if it is exact, otherwise the
// shortest float64.
func (c *check) number(text, path string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return json.Number(strconv.FormatInt(n, 10))
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return json.Number(strconv.FormatUint(n, 10))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		c.addProblem(path, "is not a number that JSON can represent")
		return json.Number("0")
	}
	if f == 0 {
		return json.Number("0") // also for negative zero
	}
	out, _ := json.Marshal(f) // finite, so there is no error
	return json.Number(out)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_$-]{1,64}$`)

// join appends a field's name to path. It quotes names that would be ambiguous and shortens
// long ones.
func join(path, name string) string {
	if !plainName.MatchString(name) {
		return path + "[" + quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// quote renders a value as JSON that is short enough for an error.
func quote(v any) string {
	text, _ := shoal.EncodeJSON(v) // decoded values can always be encoded
	if len(text) > 60 {
		return strings.ToValidUTF8(string(text[:57]), "") + "…"
	}
	return string(text)
}
