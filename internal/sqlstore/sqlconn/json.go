package sqlconn

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
)

// Encode returns v as JSON for a column.
func Encode(v any) (string, error) {
	text, err := shoal.EncodeJSON(v)
	return string(text), err
}

// EncodeOrNil is [Encode] for a pointer; NULL for nil.
func EncodeOrNil[T any](v *T) (any, error) {
	if v == nil {
		return nil, nil
	}
	return Encode(v)
}

// RawOrNull returns JSON byte for byte; NULL if it is empty.
func RawOrNull(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return string(raw)
}

// RawOrNil reads a column that [RawOrNull] wrote.
func (r *Rows) RawOrNil(i int) json.RawMessage {
	if r.Null(i) {
		return nil
	}
	return r.JSON(i)
}

// IDOrNull returns an id; NULL if it is empty.
func IDOrNull[T ~string](id T) any {
	if id == "" {
		return nil
	}
	return string(id)
}

// IDsOrNull returns a list of ids as JSON; NULL if it is empty. Unlike [JoinIDs] it also
// works for names of services, which may contain spaces.
func IDsOrNull(ids []shoal.EntityID) (any, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return Encode(ids)
}

// IDs reads a column that [IDsOrNull] wrote.
func (r *Rows) IDs(i int) []shoal.EntityID {
	ids := []shoal.EntityID{}
	if !r.Null(i) {
		r.Decode(r.Text(i), &ids)
	}
	return ids
}

// JoinIDs returns ids separated by spaces, which no id contains; NULL if there are none.
func JoinIDs(ids []shoal.EntityID) any {
	switch len(ids) {
	case 0:
		return nil
	case 1:
		return string(ids[0])
	}
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(id))
	}
	return b.String()
}

// SplitIDs returns the ids of a column that [JoinIDs] wrote. The slice is never nil.
func SplitIDs(text string) []shoal.EntityID {
	ids := []shoal.EntityID{}
	for id := range strings.FieldsSeq(text) {
		ids = append(ids, shoal.EntityID(id))
	}
	return ids
}

// Decode reads JSON that the store wrote.
func (r *Rows) Decode(text string, v any) {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		r.FailDamaged("a value", fmt.Errorf("it is not the JSON that was stored: %w", err))
	}
}

// DecodeOrNil is [Rows.Decode] for a column that may be NULL.
func (r *Rows) DecodeOrNil(i int, v any) {
	if !r.Null(i) {
		r.Decode(r.Text(i), v)
	}
}
