package shoal

import (
	"errors"
	"strings"
	"time"
)

// Kind says what class of failure an [Error] is. Its text is the contract's
// error code. A Kind is itself an error, so errors.Is(err, shoal.NotFound) finds
// it however deeply err is wrapped.
type Kind string

// APIVersion is the version of the REST API. Within a major version a newer server does all that an
// older one does. X-Shoal-Api names it, in requests that of the client and in responses the server's.
const APIVersion = "1.0"

// The closed set of kinds. Each protocol edge maps them to its own status in
// one table.
const (
	InvalidJSON          Kind = "invalid_json"
	InvalidArgument      Kind = "invalid_argument"
	EntityRequired       Kind = "entity_required"
	Unauthenticated      Kind = "unauthenticated"
	Forbidden            Kind = "forbidden"
	IdentityMismatch     Kind = "identity_mismatch"
	NotFound             Kind = "not_found"
	AlreadyExists        Kind = "already_exists"
	SpaceClosed          Kind = "space_closed"
	SessionClosed        Kind = "session_closed"
	AdminRequired        Kind = "admin_required"
	Conflict             Kind = "conflict"
	AlreadyAnswered      Kind = "already_answered"
	ArgsChanged          Kind = "args_changed"
	RunNotWaiting        Kind = "run_not_waiting"
	Expired              Kind = "expired"
	IdempotencyMismatch  Kind = "idempotency_mismatch"
	TooLarge             Kind = "too_large"
	UnsupportedMediaType Kind = "unsupported_media_type"
	RateLimited          Kind = "rate_limited"
	TooManyWaiters       Kind = "too_many_waiters"
	Internal             Kind = "internal"
	Busy                 Kind = "busy"
	StorageFull          Kind = "storage_full"
	ServerTooOld         Kind = "server_too_old" // see APIVersion
	ClientTooOld         Kind = "client_too_old"
)

// Error makes a Kind usable with errors.Is.
func (k Kind) Error() string { return string(k) }

// Error is the one error type of the product. Op names the operation that
// failed, as package.Verb. Msg is for people: it says what is wrong and what to
// do, and holds nothing internal. Err is the cause; it never leaves the server.
type Error struct {
	Op     string
	Kind   Kind
	Msg    string
	Fields []FieldError
	Err    error
	// RetryAfter is how long to wait before a retry; 0 if that is unknown.
	RetryAfter time.Duration
	// RequestID identifies the request in the server's log. The client fills it in; on
	// the server it is empty.
	RequestID string
}

// FieldError names one wrong field of an input. Location is a path such as
// body.parts[2].text.
type FieldError struct {
	Location string `json:"location"`
	Message  string `json:"message"`
}

// Error returns the operation, the message and the cause in one line, for logs.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(string(e.Kind))
	if e.Msg != "" {
		b.WriteString(": " + e.Msg)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is e's Kind.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// E returns an Error of a kind with a sentence for people.
func E(op string, kind Kind, msg string) *Error { return &Error{Op: op, Kind: kind, Msg: msg} }

// Invalid returns an [InvalidArgument] error about one field.
func Invalid(field, msg string) *Error {
	return &Error{Kind: InvalidArgument, Msg: field + " " + msg, Fields: []FieldError{{Location: field, Message: msg}}}
}

// KindOf returns the kind of the outermost [Error] in err's chain, [Internal]
// for any other error, and "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// problems collects field errors so that one answer names them all.
type problems []FieldError

// add keeps the field errors of err, if there are any.
func (p *problems) add(err error) {
	var e *Error
	if errors.As(err, &e) {
		*p = append(*p, e.Fields...)
	}
}

// err returns one InvalidArgument error over all that was added, or nil.
func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	said := make([]string, len(p))
	for i, f := range p {
		said[i] = f.Location + " " + f.Message
	}
	return &Error{Kind: InvalidArgument, Msg: strings.Join(said, "; "), Fields: p}
}
