package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// OneOf is a value of one of the registered types of the interface T, as an argument of a
// tool or a part of a structured answer:
//
//	type Shape interface{ Area() float64 }
//
//	func init() {
//		agent.RegisterOneOf(map[string]Shape{"circle": Circle{}, "square": Square{}})
//	}
//
//	type Drawing struct {
//		Shapes []agent.OneOf[Shape] `json:"shapes"`
//	}
//
// In JSON it is the object of its type with the property "type", which names it:
// {"type":"circle","radius":2}. The schema of a OneOf is an anyOf with one object for each
// type, a form that OpenAI, Anthropic and Google accept; the arguments of a call are checked against the
// object that "type" names. A type may contain OneOf values of its own interface.
type OneOf[T any] struct {
	// Value is nil if the JSON value was null.
	Value T
}

// typeProperty is the property that names the type of a OneOf.
const typeProperty = "type"

// RegisterOneOf makes the types of a [OneOf] of T known, by their names in JSON; the values
// only show the types. Call it once for T, before a schema with a OneOf[T] is made, as an
// init function does. It is safe for concurrent use. It panics if T is not an interface, if
// types is empty, if T is registered already, or if a value is neither a struct nor a
// pointer to one, has a field whose JSON name is "type", or decodes itself (UnmarshalJSON).
func RegisterOneOf[T any](types map[string]T) {
	t := reflect.TypeFor[T]()
	fail := func(format string, args ...any) {
		panic(fmt.Sprintf("agent.RegisterOneOf[%v]: ", t) + fmt.Sprintf(format, args...))
	}
	if t.Kind() != reflect.Interface || len(types) == 0 {
		fail("it needs an interface and its types")
	}
	var variants []variant
	for _, name := range slices.Sorted(maps.Keys(types)) {
		v := variant{name: name, made: reflect.TypeOf(types[name])}
		if v.fields = v.made; v.made != nil && v.made.Kind() == reflect.Pointer {
			v.fields = v.made.Elem()
		}
		if v.fields == nil || v.fields.Kind() != reflect.Struct || reflect.PointerTo(v.fields).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			fail("%q is %v, and has to be a struct without UnmarshalJSON", name, v.made)
		}
		for _, field := range plainFields(v.fields) {
			if strings.EqualFold(jsonName(field), typeProperty) {
				fail("%v has a field %q, which is the name of the type", v.made, typeProperty)
			}
		}
		variants = append(variants, v)
	}
	if _, twice := unions.LoadOrStore(t, variants); twice {
		fail("it is registered already")
	}
}

// unions are the types of each registered interface, a []variant by the reflect.Type.
var unions sync.Map

// variant is one type of a union.
type variant struct {
	name   string
	made   reflect.Type // that implements the interface
	fields reflect.Type // the struct itself
}

// union is implemented by every OneOf.
type union interface{ union() reflect.Type }

func (OneOf[T]) union() reflect.Type { return reflect.TypeFor[T]() }

func isUnion(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.Implements(reflect.TypeFor[union]()) && t.NumField() == 1 && t.Field(0).Name == "Value"
}

// unionOf returns the interface of a OneOf.
func unionOf(t reflect.Type) reflect.Type { return reflect.Zero(t).Interface().(union).union() }

// variantsOf returns the types of a OneOf.
func variantsOf(t reflect.Type) []variant {
	found, _ := unions.Load(unionOf(t))
	variants, _ := found.([]variant)
	return variants
}

// UnmarshalJSON implements [json.Unmarshaler]. Properties that the type does not have are
// ignored, as package json does; arguments of tools with such properties are refused before.
func (o *OneOf[T]) UnmarshalJSON(data []byte) error {
	var zero T
	o.Value = zero
	if string(bytes.TrimSpace(data)) == "null" {
		return nil
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	variants := variantsOf(reflect.TypeFor[OneOf[T]]())
	at := slices.IndexFunc(variants, func(v variant) bool { return v.name == head.Type })
	if at < 0 {
		return fmt.Errorf("type: %q is not one of the types of %v", head.Type, reflect.TypeFor[T]())
	}
	value := reflect.New(variants[at].fields)
	if err := json.Unmarshal(data, value.Interface()); err != nil {
		return err
	}
	if variants[at].made != value.Type() {
		value = value.Elem()
	}
	o.Value = value.Interface().(T)
	return nil
}

// MarshalJSON implements [json.Marshaler]. It fails if the type of Value is not registered.
func (o OneOf[T]) MarshalJSON() ([]byte, error) {
	made := reflect.TypeOf(o.Value)
	if made == nil {
		return []byte("null"), nil
	}
	for _, v := range variantsOf(reflect.TypeFor[OneOf[T]]()) {
		if v.made != made {
			continue
		}
		fields, err := encodeJSON(o.Value)
		if err != nil || string(fields) == "null" {
			return fields, err
		}
		name, err := json.Marshal(v.name)
		rest := bytes.TrimPrefix(fields, []byte("{"))
		if string(rest) != "}" {
			rest = append([]byte(","), rest...)
		}
		return slices.Concat([]byte(`{"type":`), name, rest), err
	}
	return nil, fmt.Errorf("agent.OneOf: %v is not registered as one of the types of %v", made, reflect.TypeFor[T]())
}

// jsonName returns the name of a field in JSON.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return orElse(name, field.Name)
}
