package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

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

// class returns the class of an error type. Error types are the same in responses and
// in streams, which have no status. The class is empty for types that say no more than
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
