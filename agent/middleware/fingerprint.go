package middleware

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// fingerprint identifies what a model reads of a request. Messages and calls have ids that
// differ from run to run: the former are left out, the latter are numbered.
func fingerprint(req *agent.Request) (string, error) {
	plain := *req
	plain.Messages = slices.Clone(req.Messages)
	calls := map[string]string{}
	for i := range plain.Messages {
		m := &plain.Messages[i]
		m.ID, m.CreatedAt = "", time.Time{}
		m.Parts = slices.Clone(m.Parts)
		for j := range m.Parts {
			numberCalls(&m.Parts[j], calls)
		}
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return "", fmt.Errorf("the request has no JSON form: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func numberCalls(p *agent.Part, calls map[string]string) {
	number := func(id string) string {
		if calls[id] == "" {
			calls[id] = fmt.Sprint(len(calls) + 1)
		}
		return calls[id]
	}
	switch {
	case p.Call != nil:
		call := *p.Call
		call.ID = number(call.ID)
		p.Call = &call
	case p.Result != nil:
		result := *p.Result
		result.CallID = number(result.CallID)
		p.Result = &result
	}
}
