package agent

import (
	"errors"
	"strings"
)

// ErrorKind says what class of failure an [Error] is. Its text is a code that stays
// the same. It is itself an error, so errors.Is(err, agent.ErrNotFound) finds it however
// deeply err is wrapped.
type ErrorKind string

// The kinds of errors. Failures of a provider are a [ModelError].
const (
	ErrInvalidJSON          ErrorKind = "invalid_json"
	ErrInvalidArgument      ErrorKind = "invalid_argument"
	ErrUnauthenticated      ErrorKind = "unauthenticated"
	ErrForbidden            ErrorKind = "forbidden"
	ErrNotFound             ErrorKind = "not_found"
	ErrConflict             ErrorKind = "conflict" // the state has changed, or does not allow it
	ErrTooLarge             ErrorKind = "too_large"
	ErrUnsupportedMediaType ErrorKind = "unsupported_media_type"
	ErrRateLimited          ErrorKind = "rate_limited"
	ErrInternal             ErrorKind = "internal"
	ErrBusy                 ErrorKind = "busy" // the same call can succeed later
	ErrStorageFull          ErrorKind = "storage_full"
)

// Error makes an ErrorKind usable with errors.Is.
func (k ErrorKind) Error() string { return string(k) }

// Error is the error of this package and of those below it. Op names the operation
// that failed, as package.Verb. Msg is for people: it says what is wrong and what to do,
// and holds nothing internal. Err is the cause, for logs.
type Error struct {
	Op     string
	Kind   ErrorKind
	Msg    string
	Fields []FieldError
	Err    error
}

// FieldError names one wrong field of an input. Location is a path such as
// tools[2].schema.
type FieldError struct {
	Location string `json:"location"`
	Message  string `json:"message"`
}

// Error returns the operation, the kind, the message and the cause in one line, for logs.
func (e *Error) Error() string {
	parts := make([]string, 0, 4)
	for _, part := range []string{e.Op, string(e.Kind), e.Msg} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is e's kind.
func (e *Error) Is(target error) bool {
	kind, ok := target.(ErrorKind)
	return ok && kind == e.Kind
}

// NewError returns an Error of a kind with a sentence for people.
func NewError(op string, kind ErrorKind, msg string) *Error {
	return &Error{Op: op, Kind: kind, Msg: msg}
}

// Invalid returns an [ErrInvalidArgument] error about one field.
func Invalid(field, msg string) *Error {
	return &Error{Kind: ErrInvalidArgument, Msg: field + " " + msg, Fields: []FieldError{{Location: field, Message: msg}}}
}

// KindOf returns the kind of the outermost [Error] in err's chain, [ErrInternal] for any
// other error, and "" for nil.
func KindOf(err error) ErrorKind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ErrInternal
}
