package google

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

// maxDetail bounds the provider's words in an error.
const maxDetail = 2 << 10

// status is an error in the words of the wire.
type status struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Status  string   `json:"status"`
	Details []detail `json:"details"`
}

// detail is one of several kinds of details; each sets only fields of its own.
type detail struct {
	Reason     string `json:"reason"`     // ErrorInfo
	RetryDelay string `json:"retryDelay"` // RetryInfo
	Violations []struct {
		QuotaID string `json:"quotaId"`
	} `json:"violations"` // QuotaFailure
}

// refusal is an error in the provider's own words: of a status, or (code 0) in
// the middle of a stream.
func (ex *exchange) refusal(code int, text []byte, after time.Duration) *agent.ModelError {
	s := parse(text)
	for _, d := range s.Details {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			after = max(after, delay)
		}
	}
	words := s.Message
	if words == "" {
		words = string(text)
	}
	words = strings.ReplaceAll(words, ex.key, "[key]")
	f := &agent.ModelError{Class: s.class(code), Provider: provider, Status: code, Code: s.Status, Detail: cut(words)}
	if retryable := f.Class == agent.ClassRateLimited || f.Class == agent.ClassOverloaded; retryable {
		f.RetryAfter = after
	}
	return f
}

// parse reads an error, which may come alone or in a list.
func parse(text []byte) status {
	type envelope struct {
		Error status `json:"error"`
	}
	var one envelope
	if json.Unmarshal(text, &one) == nil {
		return one.Error
	}
	var list []envelope
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		return list[0].Error
	}
	return status{}
}

// class finds what a failure means. The wire's own code comes first: it is the
// same with a status and in a stream, where there is none.
func (s status) class(code int) agent.ErrorClass {
	if code == 0 {
		code = s.Code
	}
	for _, d := range s.Details {
		if strings.HasPrefix(d.Reason, "API_KEY_") {
			return agent.ClassAuth // a wrong key comes as a bad request
		}
	}
	switch s.Status {
	case "RESOURCE_EXHAUSTED":
		if s.spent() {
			return agent.ClassQuota
		}
		return agent.ClassRateLimited
	case "UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED", "ABORTED", "CANCELLED", "UNKNOWN":
		return agent.ClassOverloaded
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		return agent.ClassAuth
	case "INVALID_ARGUMENT":
		// The one place where words decide: the API has no code for a prompt that
		// the window does not hold.
		if strings.Contains(s.Message, "exceeds the maximum number of tokens") {
			return agent.ClassContextOverflow
		}
		return agent.ClassInvalid
	}
	switch {
	case code == http.StatusTooManyRequests:
		return agent.ClassRateLimited
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return agent.ClassAuth
	case code == http.StatusPaymentRequired:
		return agent.ClassQuota
	case code == http.StatusRequestEntityTooLarge:
		return agent.ClassContextOverflow // a shorter history is the one thing that helps
	case code == http.StatusRequestTimeout:
		return agent.ClassTimeout
	case code >= 500:
		return agent.ClassOverloaded
	case code >= 300:
		return agent.ClassInvalid
	}
	return agent.ClassMalformed
}

// spent reports whether a day's quota is used up: no wait of a turn helps.
func (s status) spent() bool {
	for _, d := range s.Details {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				return true
			}
		}
	}
	return false
}

// told turns what a reader found into an error for the caller.
func (ex *exchange) told(err error) error {
	var r refused
	if errors.As(err, &r) {
		return ex.refusal(0, r.text, 0)
	}
	return err
}

// ended says why there is no whole answer, nil if there is one.
func (ex *exchange) ended(err error, reason bool) error {
	if ex.ctx.Err() != nil {
		return context.Cause(ex.ctx)
	}
	var known *agent.ModelError
	switch {
	case errors.As(err, &known):
		return known
	case err != nil && !ex.sent:
		return &agent.ModelError{Class: agent.ClassInvalid, Provider: provider, Detail: "the request cannot be made", Err: err}
	case ex.body == nil:
		return broken(err, "the provider was not reached")
	case errors.Is(ex.body.err, errLongLine):
		return malformed(errLongLine.Error())
	case ex.body.err != nil:
		return broken(ex.body.err, "the answer broke off")
	case err != nil:
		return &agent.ModelError{Class: agent.ClassMalformed, Provider: provider, Status: http.StatusOK, Detail: "the answer cannot be read", Err: err}
	case len(ex.body.stray) > 0 && parse(ex.body.stray).Code != 0:
		return ex.refusal(0, ex.body.stray, 0)
	case ex.body.events == 0:
		return malformed("the answer holds no event")
	case ex.body.partial || !reason:
		return broken(io.ErrUnexpectedEOF, "the answer ended before its end")
	}
	return nil
}

func malformed(detail string) *agent.ModelError {
	return &agent.ModelError{Class: agent.ClassMalformed, Provider: provider, Status: http.StatusOK, Detail: detail}
}

func broken(err error, detail string) *agent.ModelError {
	class := agent.ClassNetwork
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		class = agent.ClassTimeout
	}
	return &agent.ModelError{Class: class, Provider: provider, Detail: detail, Err: err}
}

// cut bounds the provider's words.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= maxDetail {
		return text
	}
	end := maxDetail
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// retryAfter reads the header, in seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 && n < 1e9 {
		return time.Duration(n * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
