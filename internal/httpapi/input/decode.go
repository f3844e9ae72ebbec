// Package input decodes the JSON body of a request into a Go value, checks it against a table of
// bounds, and names every place where it is wrong.
package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// Decoder decodes bodies and checks their bounds. It is safe for concurrent use.
type Decoder struct {
	bounds Bounds
	fields sync.Map // from reflect.Type to []boundedField
}

// NewDecoder returns a decoder with this table of bounds, which must not change afterwards.
func NewDecoder(bounds Bounds) *Decoder { return &Decoder{bounds: bounds} }

// Decode decodes body, which must be valid JSON and not empty, into the struct that in points to. A
// field that is null counts as left out; an unknown field is an error, because it is most often
// a misspelled one. The error is a *shoal.Error that names every wrong place.
func (d *Decoder) Decode(body []byte, in any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(in); err == nil && bytes.TrimLeft(body, " \t\r\n")[0] == '{' {
		return d.check(in)
	}
	return shapeError(body, reflect.TypeOf(in).Elem())
}

// Milliseconds is a time-out that JSON states in milliseconds. Any number is accepted and clamped to
// 0 to shoal.MaxWait.
type Milliseconds time.Duration

var millisecondsType = reflect.TypeFor[Milliseconds]()

// UnmarshalJSON decodes a number, even one that no integer can hold.
func (m *Milliseconds) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return err
	}
	n = min(max(n, 0), float64(shoal.MaxWait.Milliseconds()))
	*m = Milliseconds(n * float64(time.Millisecond))
	return nil
}
