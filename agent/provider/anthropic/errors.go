package anthropic

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

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/shoal-dev/shoal/agent"
)

const (
	maxErrorBody = 64 << 10
	maxDetail    = 2 << 10
)

// exchange is one request and its answer, below the SDK. It sees what the SDK
// hides: the headers and the whole body of a refusal, and whether a stream
// ended or broke.
type exchange struct {
	ctx    context.Context
	key    string
	body   *body
	events int
}

// send passes the request on and turns every answer but 200 into an error
// before the SDK reads it, without a bound, to its end.
func (ex *exchange) send(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	resp, err := next(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		if err != nil && len(text) == 0 {
			text = nil // the status alone has to say it
		}
		return nil, ex.refusal(resp.StatusCode, text, retryAfter(resp.Header, time.Now()))
	}
	ex.body = &body{ReadCloser: resp.Body}
	resp.Body = ex.body
	return resp, nil
}

// body remembers why reading ended.
type body struct {
	io.ReadCloser
	err error
}

// Read reads on.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// ended says why there is no whole answer.
func (ex *exchange) ended(err error) error {
	if ex.ctx.Err() != nil {
		return context.Cause(ex.ctx)
	}
	var known *agent.ModelError
	var told *sdk.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &told):
		return ex.refusal(0, []byte(told.RawJSON()), 0)
	case ex.body == nil:
		return broken(err, "the provider was not reached")
	case ex.body.err != nil:
		return broken(ex.body.err, "the answer broke off")
	case err != nil:
		return &agent.ModelError{Class: agent.ClassMalformed, Provider: provider, Status: http.StatusOK, Detail: "the answer cannot be read", Err: err}
	case ex.events > 0:
		return broken(io.ErrUnexpectedEOF, "the answer ended before its end")
	}
	return malformed("the answer holds no event")
}

// refusal is an error in the provider's own words: of a status, or (status 0)
// in the middle of a stream, where only the type says what it means.
func (ex *exchange) refusal(status int, text []byte, after time.Duration) *agent.ModelError {
	var said struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	detail := ""
	if json.Unmarshal(text, &said) == nil {
		detail = said.Error.Message
	}
	if detail == "" {
		detail = string(text)
	}
	return &agent.ModelError{
		Class: class(status, said.Error.Type, detail), Provider: provider, Status: status, Code: said.Error.Type,
		Detail: ex.words(detail), RetryAfter: after,
	}
}

// class finds what a failure means. The type comes first: it is the same with a
// status and in a stream, where there is none.
func class(status int, kind, message string) agent.ErrorClass {
	switch kind {
	case "rate_limit_error":
		return agent.ClassRateLimited
	case "overloaded_error", "api_error", "timeout_error":
		return agent.ClassOverloaded
	case "authentication_error", "permission_error":
		return agent.ClassAuth
	case "billing_error":
		return agent.ClassQuota
	case "request_too_large":
		return agent.ClassContextOverflow
	case "invalid_request_error":
		// The one place where words decide: the API has no code for a prompt that
		// the window does not hold.
		if strings.Contains(message, "prompt is too long") || strings.Contains(message, "exceed context limit") {
			return agent.ClassContextOverflow
		}
		return agent.ClassInvalid
	case "not_found_error":
		return agent.ClassInvalid
	}
	switch {
	case status == http.StatusTooManyRequests:
		return agent.ClassRateLimited
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return agent.ClassAuth
	case status == http.StatusPaymentRequired:
		return agent.ClassQuota
	case status == http.StatusRequestEntityTooLarge:
		return agent.ClassContextOverflow
	case status == http.StatusRequestTimeout:
		return agent.ClassTimeout
	case status >= 500:
		return agent.ClassOverloaded
	case status >= 300:
		return agent.ClassInvalid
	}
	return agent.ClassMalformed
}

// words cuts the provider's words and takes the key out of them, should they
// repeat it.
func (ex *exchange) words(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, ex.key, "[key]"), "?")
	if len(text) <= maxDetail {
		return text
	}
	cut := maxDetail
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
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

// retryAfter reads the header in seconds, in milliseconds (the vendor's own) or
// as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for name, unit := range map[string]time.Duration{"Retry-After-Ms": time.Millisecond, "Retry-After": time.Second} {
		if n, err := strconv.ParseFloat(h.Get(name), 64); err == nil && n > 0 && n < 1e9 {
			return time.Duration(n * float64(unit))
		}
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
