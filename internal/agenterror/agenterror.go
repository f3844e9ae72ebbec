// Package agenterror converts the errors of package agent to those of package shoal.
//
//	if _, err := agent.CompileSchema(field, raw); err != nil {
//		return agenterror.Convert(err)
//	}
package agenterror

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// converted is an error of package agent that is also one of the product.
type converted struct {
	error
	own *shoal.Error
}

// Unwrap returns what errors.Is and errors.As inspect: the product's error first.
func (c converted) Unwrap() []error { return []error{c.own, c.error} }

// Convert returns err as an error that holds a [*shoal.Error] with the same kind, message
// and fields, if it holds an [*agent.Error]. It changes no text, and no error that holds a
// [*shoal.Error] already. The result of nil is nil.
func Convert(err error) error {
	if _, ok := errors.AsType[*shoal.Error](err); ok {
		return err
	}
	e, ok := errors.AsType[*agent.Error](err)
	if !ok {
		return err
	}
	own := &shoal.Error{Op: e.Op, Kind: shoal.Kind(e.Kind), Msg: e.Msg, Err: e.Err}
	for _, f := range e.Fields {
		own.Fields = append(own.Fields, shoal.FieldError(f))
	}
	return converted{err, own}
}
