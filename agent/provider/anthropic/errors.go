package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	shoal "github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// sender is what the SDK sends with. It sees what the SDK hides: whether a
// request was made at all, and whether a stream ended or broke.
type sender struct {
	x      *wire.Exchange
	body   *body
	events int
}

// Do sends the request.
func (s *sender) Do(req *http.Request) (*http.Response, error) {
	resp, err := s.x.Do(req)
	if err != nil {
		return nil, err
	}
	s.body = &body{ReadCloser: resp.Body}
	resp.Body = s.body
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
func (s *sender) ended(err error) error {
	var known *agent.ModelError
	var told *sdk.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &told):
		return s.x.Failure(0, []byte(told.RawJSON()))
	case err != nil && s.body == nil:
		return shoal.Invalid("request", "cannot be written as JSON: "+err.Error())
	case s.body.err != nil:
		return s.x.Ended(s.body.err, s.events)
	case err != nil:
		return s.x.Malformed("the answer cannot be read", err)
	}
	return s.x.Ended(io.EOF, s.events)
}

// explain reads an error in the provider's own words.
func explain(_ int, text []byte) wire.Problem {
	var said struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &said) != nil {
		return wire.Problem{}
	}
	return wire.Problem{Class: class(said.Error.Type, said.Error.Message), Code: said.Error.Type, Message: said.Error.Message}
}

// class finds what the type of an error means: it is the same with a status and
// in a stream, where there is none. It is empty for types that say no more than
// the status.
func class(kind, message string) agent.ErrorClass {
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
		// The one place where words decide: the API has no codes for a prompt that
		// the window does not hold and for an account without credit.
		switch {
		case strings.Contains(message, "prompt is too long"), strings.Contains(message, "exceed context limit"):
			return agent.ClassContextOverflow
		case strings.Contains(message, "credit balance is too low"):
			return agent.ClassQuota
		}
		return agent.ClassInvalid
	case "not_found_error":
		return agent.ClassInvalid
	}
	return ""
}
