// Package gcp reads the errors of Google's APIs.
package gcp

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

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

// Explain reads an error in Google's words; see [wire.Vendor].
func Explain(_ int, said []byte) wire.Problem {
	s := parse(said)
	p := wire.Problem{Class: s.class(), Status: s.Code, Code: s.Status, Message: s.Message}
	for _, d := range s.Details {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			p.RetryAfter = max(p.RetryAfter, delay)
		}
	}
	return p
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

// class returns the class of the API's own code. Codes are the same in responses and
// in streams, which have no status. The class is empty for codes that say no more than
// the status.
func (s status) class() agent.ErrorClass {
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
		// the window or the wire does not hold.
		if strings.Contains(s.Message, "exceeds the maximum number of tokens") ||
			strings.Contains(s.Message, "payload size exceeds the limit") {
			return agent.ClassContextOverflow
		}
		return agent.ClassInvalid
	}
	return ""
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
