package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// problem is what a provider says about a failure.
type problem struct {
	status  int // a number in place of a code, as OpenRouter and vLLM send it
	code    string
	kind    string // the field type
	message string
}

// explain reads an error in the provider's own words.
func explain(status int, said []byte) wire.Problem {
	p := parseProblem(said)
	return wire.Problem{
		Class: classify(cmp.Or(status, p.status), p), Status: p.status, Code: cmp.Or(p.code, p.kind), Message: p.message,
	}
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

// classify finds what a code says beyond the status, empty if nothing.
func classify(status int, p problem) agent.ErrorClass {
	for _, name := range []string{p.code, p.kind} {
		switch class := codeClasses[name]; {
		case class == "":
		case class == agent.ClassInvalid && (status != 0 && status != http.StatusBadRequest):
			// The vague codes occur with any status below 500.
		case class == agent.ClassInvalid && longContext(p.message):
			return agent.ClassContextOverflow
		default:
			return class
		}
	}
	if status == http.StatusBadRequest && longContext(p.message) {
		return agent.ClassContextOverflow
	}
	return ""
}

// longContext reads a sentence because vLLM, OpenRouter, DeepSeek and LM Studio give
// nothing else: their overflow is a plain bad request.
func longContext(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"context length", "context window", "maximum model length"}, func(words string) bool {
		return strings.Contains(message, words)
	})
}
