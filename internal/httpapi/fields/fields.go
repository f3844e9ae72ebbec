// Package fields says where the invalid fields of a request are, in the names of the API.
package fields

import (
	"errors"
	"net/http"
	"strings"

	"github.com/shoal-dev/shoal"
)

// headerFields are the headers of inputs that are not in the body or the query.
var headerFields = map[string]string{"idempotencyKey": "header.Idempotency-Key", "X-Shoal-Entity": "header.X-Shoal-Entity"}

// Locate prefixes every invalid field with its place in the request. The hub knows only the
// names of fields: without a prefix, a field is in the query of a GET and in the body of
// every other method.
func Locate(err error, method string) error {
	var e *shoal.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	place := "body."
	if method == http.MethodGet || method == http.MethodHead {
		place = "query."
	}
	copied := *e
	copied.Fields = make([]shoal.FieldError, len(e.Fields))
	for i, f := range e.Fields {
		copied.Fields[i] = f
		switch root, _, _ := strings.Cut(f.Location, "."); {
		case headerFields[f.Location] != "":
			copied.Fields[i].Location = headerFields[f.Location]
		case root != "body" && root != "query" && root != "header" && root != "path":
			copied.Fields[i].Location = place + f.Location
		}
	}
	return &copied
}

// Rename returns err with the location of a field, and of everything below it, changed from from to
// to, in the list of fields and in the message: for a field that has another name in the API
// than in the hub.
func Rename(err error, from, to string) error {
	var e *shoal.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	copied := *e
	copied.Msg = strings.Replace(e.Msg, from, to[strings.LastIndexByte(to, '.')+1:], 1)
	copied.Fields = make([]shoal.FieldError, len(e.Fields))
	for i, f := range e.Fields {
		copied.Fields[i] = f
		if rest, found := strings.CutPrefix(f.Location, from); found {
			copied.Fields[i].Location = to + rest
		}
	}
	return &copied
}
