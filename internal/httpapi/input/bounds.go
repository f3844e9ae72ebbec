package input

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Bound is the bound of one input: the size in bytes of a text or of any value, the number of
// entries of a list, or the range of a number. With Cut, a number outside of the range is moved into it
// instead of being refused. With Content, the error for a text that is too long is TooLarge
// instead of InvalidArgument.
type Bound struct {
	Bytes, Entries int
	Least, Most    int64
	Content, Cut   bool
}

// Bounds are the bounds of the fields of all bodies, by "Type.field"; "Type.field[]" is the
// bound of an entry of a list.
type Bounds map[string]Bound

// CheckText returns an error that names location if a text of n bytes is longer than b allows:
// TooLarge for content, InvalidArgument for others.
func (b Bound) CheckText(location string, n int) error {
	if n <= b.Bytes {
		return nil
	}
	field := shoal.FieldError{Location: location, Message: fmt.Sprintf("has %d bytes; at most %d are allowed", n, b.Bytes)}
	kind := shoal.InvalidArgument
	if b.Content {
		kind = shoal.TooLarge
	}
	return &shoal.Error{Kind: kind, Msg: field.Location + " " + field.Message, Fields: []shoal.FieldError{field}}
}

// boundedField is a field with a bound, or an object with such fields.
type boundedField struct {
	name   string
	index  []int
	bound  Bound
	entry  Bound          // of each entry of a list
	nested []boundedField // fields of an object
}

// check returns an error if a field of the decoded body that in points to is outside of its bound.
func (d *Decoder) check(in any) error {
	v := reflect.ValueOf(in).Elem()
	if v.Kind() != reflect.Struct {
		return nil
	}
	found, known := d.fields.Load(v.Type())
	if !known {
		found, _ = d.fields.LoadOrStore(v.Type(), d.bounds.fields(v.Type()))
	}
	return checkFields("", found.([]boundedField), v)
}

// fields returns the fields of a struct that have bounds.
func (bounds Bounds) fields(t reflect.Type) (out []boundedField) {
	schema := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		key := schema + "." + name
		b, bounded := bounds[key]
		f := boundedField{name: name, index: field.Index, bound: b, entry: bounds[key+"[]"]}
		if inner := field.Type; inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct && inner.Elem() != timeType {
			f.nested = bounds.fields(inner.Elem())
		}
		if bounded && field.Type != reflect.PointerTo(timeType) || len(f.nested) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func checkFields(at string, fields []boundedField, v reflect.Value) error {
	for _, f := range fields {
		if err := f.check(at+f.name, v.FieldByIndex(f.index)); err != nil {
			return err
		}
	}
	return nil
}

func (f boundedField) check(at string, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct:
		return checkFields(at+".", f.nested, v)
	case v.Kind() == reflect.String || v.Type() == anyType:
		return f.bound.CheckText(at, v.Len())
	case v.Kind() == reflect.Int64 && !f.bound.Cut && (v.Int() < f.bound.Least || v.Int() > f.bound.Most):
		return shoal.Invalid(at, fmt.Sprintf("must be at least %d and at most %d", f.bound.Least, f.bound.Most))
	case v.Kind() == reflect.Float64 && !(v.Float() >= float64(f.bound.Least) && v.Float() <= float64(f.bound.Most)):
		return shoal.Invalid(at, fmt.Sprintf("must be at least %d and at most %d", f.bound.Least, f.bound.Most))
	case v.Kind() == reflect.Slice && v.Len() > f.bound.Entries:
		return shoal.Invalid(at, fmt.Sprintf("has %d entries; at most %d are allowed", v.Len(), f.bound.Entries))
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		for i := range v.Len() {
			if err := f.entry.CheckText(fmt.Sprintf("%s[%d]", at, i), v.Index(i).Len()); err != nil {
				return err
			}
		}
	}
	return nil
}
