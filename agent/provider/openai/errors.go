package openai

import (
	"bytes"
	"encoding/json"
	"errors"
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

// problem is what a provider says about a failure.
type problem struct {
	status  int // a number in place of a code, as OpenRouter and vLLM send it
	code    string
	kind    string // the field type
	message string
}

// failure returns the error for an answer that says one, from its status (0
// within a stream) and its words.
func (m *model) failure(status int, said []byte, secrets ...string) *agent.ModelError {
	p := parseProblem(said)
	if p.message == "" {
		p.message = string(bytes.TrimSpace(said))
	}
	e := &agent.ModelError{Class: classify(status, p), Provider: m.info.Provider, Status: status, Code: p.code}
	if e.Code == "" {
		e.Code = p.kind
	}
	e.Code = m.words(e.Code, secrets)
	e.Detail = m.words(p.message, secrets)
	return e
}

func (m *model) malformed(status int, detail string, err error) *agent.ModelError {
	return &agent.ModelError{
		Class: agent.ClassMalformed, Provider: m.info.Provider, Status: status,
		Detail: m.words(detail, nil), Err: err,
	}
}

// broken returns the error for a connection that failed or broke off. What
// net/http wraps around the cause holds the URL, and with it perhaps a secret.
func (m *model) broken(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	e := &agent.ModelError{Class: agent.ClassNetwork, Provider: m.info.Provider, Err: err}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		e.Class = agent.ClassTimeout
	}
	return e
}

// keyLike finds what looks like a key of one of the vendors, whole or masked.
var keyLike = regexp.MustCompile(`\b(sk|gsk|xai|pk)-[\w*.-]{6,}`)

// words makes a provider's words fit for an error: short, valid, without secrets.
func (m *model) words(s string, secrets []string) string {
	secrets = append([]string{m.options.APIKey}, secrets...)
	for _, value := range m.options.Headers {
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

// parseProblem reads the shapes that errors have in the wild: an object error,
// a string error, an object without the envelope, and any of them in an array.
func parseProblem(said []byte) problem {
	var list []json.RawMessage
	if json.Unmarshal(said, &list) == nil && len(list) > 0 {
		said = list[0]
	}
	var envelope struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(said, &envelope) != nil {
		return problem{}
	}
	var text string
	switch {
	case json.Unmarshal(envelope.Error, &text) == nil && text != "":
		return problem{message: text}
	case isObject(envelope.Error):
		said = envelope.Error
	}
	var inner struct {
		Code       json.RawMessage `json:"code"`
		Type       json.RawMessage `json:"type"`
		Message    json.RawMessage `json:"message"`
		InnerError struct {
			Code json.RawMessage `json:"code"`
		} `json:"innererror"`
	}
	if json.Unmarshal(said, &inner) != nil {
		return problem{}
	}
	p := problem{code: plain(inner.Code), kind: plain(inner.Type), message: plain(inner.Message)}
	if n, err := strconv.Atoi(p.code); err == nil {
		p.status, p.code = n, plain(inner.InnerError.Code)
	}
	if p.message == "" {
		p.message = plain(envelope.Detail)
	}
	if p.kind == "error" { // names the event, not the failure
		p.kind = ""
	}
	return p
}

// plain returns the text of a string, else the JSON itself; null is nothing.
func plain(raw json.RawMessage) string {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw)
}

func isObject(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

// codeClasses are the codes and types that say more than a status.
var codeClasses = map[string]agent.ErrorClass{
	"context_length_exceeded":   agent.ClassContextOverflow,
	"exceed_context_size_error": agent.ClassContextOverflow, // llama.cpp
	"context_window_exceeded":   agent.ClassContextOverflow,

	"insufficient_quota":         agent.ClassQuota,
	"billing_hard_limit_reached": agent.ClassQuota,
	"billing_not_active":         agent.ClassQuota,
	"insufficient_balance":       agent.ClassQuota,

	"content_filter":               agent.ClassFiltered,
	"content_policy_violation":     agent.ClassFiltered,
	"ResponsibleAIPolicyViolation": agent.ClassFiltered,

	"rate_limit_exceeded": agent.ClassRateLimited,
	"rate_limit_error":    agent.ClassRateLimited,

	"invalid_api_key":      agent.ClassAuth,
	"authentication_error": agent.ClassAuth,
	"permission_error":     agent.ClassAuth,

	"server_error":          agent.ClassOverloaded,
	"internal_server_error": agent.ClassOverloaded,
	"server_is_overloaded":  agent.ClassOverloaded,
	"overloaded_error":      agent.ClassOverloaded,
	"slow_down":             agent.ClassOverloaded,

	"model_not_found":       agent.ClassInvalid,
	"invalid_prompt":        agent.ClassInvalid,
	"invalid_image":         agent.ClassInvalid,
	"invalid_image_format":  agent.ClassInvalid,
	"invalid_request_error": agent.ClassInvalid,
	"BadRequestError":       agent.ClassInvalid,
}

// classify finds the class: a code that says more than the status, then the
// status, then, within a stream, that the provider failed on its side.
func classify(status int, p problem) agent.ErrorClass {
	if status == 0 {
		status = p.status
	}
	for _, name := range []string{p.code, p.kind} {
		switch class := codeClasses[name]; {
		case class == "":
		case class == agent.ClassInvalid && (status != 0 && status != http.StatusBadRequest):
			// The vague codes stand beside any status below 500.
		case class == agent.ClassInvalid && longContext(p.message):
			return agent.ClassContextOverflow
		default:
			return class
		}
	}
	switch {
	case status == http.StatusBadRequest && longContext(p.message):
		return agent.ClassContextOverflow
	case status == http.StatusRequestEntityTooLarge:
		return agent.ClassContextOverflow // a shorter history is the one thing that helps
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return agent.ClassAuth
	case status == http.StatusPaymentRequired:
		return agent.ClassQuota
	case status == http.StatusRequestTimeout:
		return agent.ClassTimeout
	case status == http.StatusTooManyRequests:
		return agent.ClassRateLimited
	case status == http.StatusConflict, status == http.StatusTooEarly:
		return agent.ClassOverloaded // asks for the same call again, later
	case status == http.StatusNotImplemented:
		return agent.ClassInvalid
	case status >= 300 && status < 500:
		return agent.ClassInvalid
	}
	return agent.ClassOverloaded
}

// longContext reads a sentence because vLLM, OpenRouter and DeepSeek give
// nothing else: their overflow is a plain bad request.
func longContext(message string) bool {
	return strings.Contains(strings.ToLower(message), "maximum context length")
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
