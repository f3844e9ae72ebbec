package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/skew"
)

// partInput has the fields that shoal.Part decodes from JSON, for reflection.
type partInput struct {
	ID        string          `json:"id,omitempty"`
	Type      shoal.PartType  `json:"type"`
	Text      string          `json:"text,omitempty"`
	Status    string          `json:"status,omitempty"`
	Name      string          `json:"name,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Size      int64           `json:"size,omitempty"`
	URL       string          `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
}

var (
	partType      = reflect.TypeFor[shoal.Part]()
	partInputType = reflect.TypeFor[partInput]()
	timeType      = reflect.TypeFor[shoal.Time]()
	anyType       = reflect.TypeFor[json.RawMessage]()
)

// mismatches appends to found every place at or below the location at where tree does not fit the type
// t. tree is decoded JSON with numbers as json.Number; null fits every type.
func mismatches(found []shoal.FieldError, t reflect.Type, tree any, at string) []shoal.FieldError {
	wrong := func(message string) []shoal.FieldError {
		return append(found, shoal.FieldError{Location: at, Message: message})
	}
	switch {
	case tree == nil || t == anyType:
		return found
	case t.Kind() == reflect.Pointer:
		return mismatches(found, t.Elem(), tree, at)
	case t == timeType:
		text, _ := tree.(string)
		if new(shoal.Time).UnmarshalText([]byte(text)) != nil {
			return wrong("must be a time such as \"2026-11-20T10:00:00.000Z\"")
		}
		return found
	case t == millisecondsType:
		if _, ok := tree.(json.Number); !ok {
			return wrong("must be a number of milliseconds")
		}
		return found
	case t == partType:
		return mismatches(found, partInputType, tree, at)
	}
	switch t.Kind() {
	case reflect.String:
		if _, ok := tree.(string); !ok {
			return wrong("must be a string")
		}
	case reflect.Bool:
		if _, ok := tree.(bool); !ok {
			return wrong("must be true or false")
		}
	case reflect.Int64:
		n, _ := tree.(json.Number)
		if _, err := strconv.ParseInt(string(n), 10, 64); err != nil {
			return wrong("must be a whole number")
		}
	case reflect.Slice:
		list, ok := tree.([]any)
		if !ok {
			return wrong("must be an array")
		}
		for i, item := range list {
			found = mismatches(found, t.Elem(), item, fmt.Sprintf("%s[%d]", at, i))
		}
	case reflect.Struct:
		object, ok := tree.(map[string]any)
		if !ok {
			return wrong("must be an object")
		}
		return fieldMismatches(found, t, object, at)
	}
	return found
}

const notAField = "is not a field of this call"

// fieldMismatches is mismatches for the fields of an object.
func fieldMismatches(found []shoal.FieldError, t reflect.Type, object map[string]any, at string) []shoal.FieldError {
	known := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[name] = field.Type
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		location := at + "." + name
		if of, ok := known[name]; ok {
			found = mismatches(found, of, object[name], location)
		} else if t != partInputType {
			message := notAField + "; valid fields are " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
			found = append(found, shoal.FieldError{Location: location, Message: message})
		}
	}
	return found
}

// shapeError returns an error that lists where body, which is valid JSON, does not fit the type t.
func shapeError(body []byte, t reflect.Type) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return &shoal.Error{Op: "httpapi.decode", Kind: shoal.InvalidJSON, Msg: "The body is not valid JSON.", Err: err}
	}
	if _, ok := tree.(map[string]any); !ok {
		return shoal.Invalid("body", "must be a JSON object")
	}
	found := mismatches(nil, t, tree, "body")
	var cause error
	if len(found) == 0 {
		return shoal.Invalid("body", "does not have the form that /docs shows for this call")
	}
	said := make([]string, len(found))
	for i, f := range found {
		said[i] = strings.TrimPrefix(f.Location, "body.") + " " + f.Message
		if strings.HasPrefix(f.Message, notAField) {
			cause = skew.ErrUnknown
		}
	}
	return &shoal.Error{Op: "httpapi.decode", Kind: shoal.InvalidArgument, Msg: strings.Join(said, "; "), Fields: found, Err: cause}
}
