package agent

import (
	"fmt"
	"strings"
	"time"
)

// ErrorClass is what a provider's failure means for the turn.
type ErrorClass string

// The classes of provider failures. Provider packages derive the class from HTTP
// status codes and from the error codes of the API, never from the wording of a
// message, except where a vendor sends nothing else (a comment there says so).
const (
	ClassRateLimited     ErrorClass = "rate_limited"     // 429: later, perhaps after RetryAfter
	ClassOverloaded      ErrorClass = "overloaded"       // 500, 502, 503, 504, 529
	ClassNetwork         ErrorClass = "network"          // unreachable, reset, or closed in the middle of an answer
	ClassTimeout         ErrorClass = "timeout"          // no first byte, or a stall, for too long
	ClassMalformed       ErrorClass = "malformed"        // not a valid answer, or an empty one
	ClassAuth            ErrorClass = "auth"             // 401, 403: the key is wrong or lacks a permission
	ClassInvalid         ErrorClass = "invalid"          // the provider refuses the request as it is
	ClassContextOverflow ErrorClass = "context_overflow" // more tokens than the window holds
	ClassFiltered        ErrorClass = "content_filtered" // the provider refuses the content
	ClassQuota           ErrorClass = "quota"            // no credit left: waiting does not help
	ClassTooLarge        ErrorClass = "too_large"        // the answer exceeds Options.MaxAnswerBytes
)

// retryable reports whether another attempt can succeed after a failure of the class.
func (c ErrorClass) retryable() bool {
	switch c {
	case ClassRateLimited, ClassOverloaded, ClassNetwork, ClassTimeout, ClassMalformed:
		return true
	}
	return false
}

// ModelError is a provider's failure.
type ModelError struct {
	Class    ErrorClass
	Provider string
	Status   int    // HTTP status, 0 without a response
	Code     string // the provider's own code, such as insufficient_quota
	// Detail is the provider's own message, at most about 2 KiB. It is for the
	// operator, not for the people who use the agent.
	Detail string
	// RetryAfter is how long the provider asks to wait, 0 if it does not say.
	RetryAfter time.Duration
	Err        error
}

// Error returns class, status, code, detail and cause in one line, for logs.
func (e *ModelError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Provider, e.Class)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (status %d)", e.Status)
	}
	if e.Code != "" {
		b.WriteString(" " + e.Code)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }
