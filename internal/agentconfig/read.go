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

// read turns the text into maps, lists, strings, booleans, nil and json.Number
// in its one form. What JSON allows and we do not (a field given twice) is
// collected as wrong; an error says that nothing could be read.
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
		return nil, unreadable("the config is no JSON: %v", err)
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
				return nil, unreadable("the config is no JSON: %v", err)
			}
			key, _ := name.(string)
			at := join(path, key)
			value, err := c.jsonValue(dec, at, depth+1)
			if err != nil {
				return nil, err
			}
			if _, twice := object[key]; twice {
				c.wrong(at, "is given twice")
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

// number returns the one form of a number: digits where it is whole and exact,
// the shortest float64 elsewhere.
func (c *check) number(text, path string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return json.Number(strconv.FormatInt(n, 10))
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return json.Number(strconv.FormatUint(n, 10))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		c.wrong(path, "is no number that JSON can hold")
		return json.Number("0")
	}
	if f == 0 {
		return json.Number("0") // also of a negative one
	}
	out, _ := json.Marshal(f) // finite, so there is no error
	return json.Number(out)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_$-]{1,64}$`)

// join is path with a field's name, quoted where it would be unclear and cut
// where it is long.
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
	text, _ := shoal.EncodeJSON(v) // of what was read, which can be written
	if len(text) > 60 {
		return strings.ToValidUTF8(string(text[:57]), "") + "…"
	}
	return string(text)
}
