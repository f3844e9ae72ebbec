package wire

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

const (
	maxDetail  = 2 << 10
	longestAsk = 24 * time.Hour // what a Retry-After can ask for
)

// Problem is what a vendor's words say about a failure. The zero value leaves it
// to the status.
type Problem struct {
	Class      agent.ErrorClass // where the words say more than the status
	Status     int              // from the body; used if there was no HTTP status
	Code       string
	Message    string // empty: the words as they came
	RetryAfter time.Duration
	// Stale says that a refusal is about a key that has ended, so that a new one may help,
	// although the status says that a valid key lacks a permission.
	Stale bool
}

// ClassOf returns the class of a status, for failures whose body says nothing more.
// Status 0 means that the provider reported a failure on its side in a stream.
func ClassOf(status int) agent.ErrorClass {
	switch status {
	case http.StatusTooManyRequests:
		return agent.ClassRateLimited
	case http.StatusUnauthorized, http.StatusForbidden:
		return agent.ClassAuth
	case http.StatusPaymentRequired:
		return agent.ClassQuota
	case http.StatusRequestEntityTooLarge:
		return agent.ClassContextOverflow // a shorter history is the one thing that helps
	case http.StatusRequestTimeout:
		return agent.ClassTimeout
	case http.StatusConflict, http.StatusTooEarly: // ask for the same call again, later
		return agent.ClassOverloaded
	case http.StatusNotImplemented:
		return agent.ClassInvalid
	}
	if status >= 300 && status < 500 {
		return agent.ClassInvalid
	}
	return agent.ClassOverloaded
}

// Failure returns the error for a failure in the vendor's own words: of a status,
// or (status 0) within a stream.
func (x *Exchange) Failure(status int, said []byte) *agent.ModelError {
	failure, _ := x.failure(status, said)
	return failure
}

func (x *Exchange) failure(status int, said []byte) (*agent.ModelError, Problem) {
	p := x.client.vendor.Explain(status, said)
	return &agent.ModelError{
		Class:    cmp.Or(p.Class, ClassOf(cmp.Or(status, p.Status))),
		Provider: x.client.info.Provider, Status: status, Code: x.Words(p.Code),
		Detail:     x.Words(cmp.Or(p.Message, string(bytes.TrimSpace(said)))),
		RetryAfter: p.RetryAfter,
	}, p
}

// Refused returns the error for a failure that the answer itself names.
func (x *Exchange) Refused(class agent.ErrorClass, code, message string) *agent.ModelError {
	return &agent.ModelError{Class: class, Provider: x.client.info.Provider, Status: x.status, Code: code, Detail: x.Words(message)}
}

// Malformed returns the error for bytes that are not a valid answer.
func (x *Exchange) Malformed(detail string, err error) *agent.ModelError {
	return &agent.ModelError{
		Class: agent.ClassMalformed, Provider: x.client.info.Provider, Status: x.status, Detail: x.Words(detail), Err: err,
	}
}

// Broken returns the error for a connection that failed or broke off. What
// net/http wraps around the cause holds the URL, and with it perhaps a secret.
func (x *Exchange) Broken(detail string, err error) *agent.ModelError {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	e := &agent.ModelError{Class: agent.ClassNetwork, Provider: x.client.info.Provider, Detail: detail, Err: err}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		e.Class = agent.ClassTimeout
	}
	return e
}

// StreamError returns the reason why a stream ended before the answer was complete: err is
// what its reader returned, events the number of events that had arrived.
func (x *Exchange) StreamError(err error, events int) *agent.ModelError {
	switch {
	case errors.Is(err, ErrTooLong):
		return x.Malformed("", err)
	case !errors.Is(err, io.EOF):
		return x.Broken("the answer broke off", err)
	case events == 0:
		return x.Malformed("no whole event in an answer of type "+x.kind, nil)
	}
	return x.Broken("the answer ended before its end", io.ErrUnexpectedEOF)
}

// keyLike finds what looks like a key of one of the vendors, whole or masked.
var keyLike = regexp.MustCompile(`\b((sk|gsk|xai|pk)-[\w*.-]{6,}|AIza[\w*.-]{6,})`)

// Words makes a provider's words fit for an error: at most 2 KiB, valid, without
// secrets.
func (x *Exchange) Words(s string) string {
	secrets := append([]string{x.client.reach.APIKey}, x.keys...)
	for _, value := range x.client.reach.Headers {
		secrets = append(secrets, strings.TrimPrefix(value, "Bearer "))
	}
	for _, secret := range secrets {
		if len(secret) >= 4 {
			s = strings.ReplaceAll(s, secret, "[secret]")
		}
	}
	s = strings.ToValidUTF8(keyLike.ReplaceAllString(s, "[secret]"), "\ufffd")
	if len(s) > maxDetail {
		cut := maxDetail
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	return s
}

// retryAfter reads how long the provider asks to wait, as of now.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := asked(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := h.Get("Retry-After")
	if d, ok := asked(value, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), longestAsk)
	}
	return 0
}

func asked(value string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || n != n {
		return 0, false
	}
	return time.Duration(min(max(n, 0), float64(longestAsk/unit)) * float64(unit)), true
}
