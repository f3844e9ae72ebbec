package agent

import (
	"fmt"
	"strings"
	"time"
)

// ErrorClass is what a provider's failure means for the turn.
type ErrorClass string

// The classes of provider failures. Providers find the class in status codes
// and in the error codes of their wire, never in sentences, except where a
// vendor gives nothing else (said at that place).
const (
	ClassRateLimited     ErrorClass = "rate_limited"     // 429: later, perhaps after RetryAfter
	ClassOverloaded      ErrorClass = "overloaded"       // 500, 502, 503, 504, 529
	ClassNetwork         ErrorClass = "network"          // not reached, reset, cut in the middle
	ClassTimeout         ErrorClass = "timeout"          // no first byte, or a stall, for too long
	ClassMalformed       ErrorClass = "malformed"        // bytes that are no answer, an empty answer
	ClassAuth            ErrorClass = "auth"             // 401, 403: the key is wrong or may not
	ClassInvalid         ErrorClass = "invalid"          // the provider refuses the request as it is
	ClassContextOverflow ErrorClass = "context_overflow" // more tokens than the window holds
	ClassFiltered        ErrorClass = "content_filtered" // the provider refuses the content
	ClassQuota           ErrorClass = "quota"            // no credit left: waiting does not help
	ClassTooLarge        ErrorClass = "too_large"        // the answer exceeds Options.MaxAnswerBytes
)

// retryable says which classes another attempt can help.
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
	Status   int    // HTTP status, 0 when there was none
	Code     string // the provider's own code, such as insufficient_quota
	// Detail is the provider's own words, at most about 2 KiB, for the operator;
	// not for people in a space.
	Detail string
	// RetryAfter is how long the provider asks to wait, 0 when it does not.
	RetryAfter time.Duration
	Err        error
}

// Error returns class, status, code, words and cause in one line, for logs.
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
