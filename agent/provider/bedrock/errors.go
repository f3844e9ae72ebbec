package bedrock

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wire"
)

// problem is a failure in the words of Bedrock. Its code is in a header or in the type of a
// message; [said] puts it here.
type problem struct {
	Code    string `json:"__type"`
	Message string `json:"message"`
}

// words returns the words of a refusal with the code that is in a header.
func words(h http.Header, body []byte) []byte {
	code, _, _ := strings.Cut(h.Get("X-Amzn-ErrorType"), ":")
	return said(code, body)
}

// said puts a code into the words that it came with, if they are JSON.
func said(code string, body []byte) []byte {
	var p problem
	if json.Unmarshal(body, &p) != nil {
		return body
	}
	p.Code = cmp.Or(code, p.Code)
	p.Code = p.Code[strings.LastIndexByte(p.Code, '#')+1:]
	if p.Code == "" {
		return body
	}
	p.Code = strings.ToUpper(p.Code[:1]) + p.Code[1:] // in streams the codes begin with a small letter
	raw, err := json.Marshal(p)
	if err != nil {
		return body
	}
	return raw
}

// classes are those of the codes that say more than their status.
var classes = map[string]agent.ErrorClass{
	"ThrottlingException":           agent.ClassRateLimited,
	"ServiceQuotaExceededException": agent.ClassQuota,
	"ModelTimeoutException":         agent.ClassTimeout,

	"ModelNotReadyException":      agent.ClassOverloaded,
	"ModelErrorException":         agent.ClassOverloaded,
	"ModelStreamErrorException":   agent.ClassOverloaded,
	"InternalServerException":     agent.ClassOverloaded,
	"ServiceUnavailableException": agent.ClassOverloaded,

	"AccessDeniedException":               agent.ClassAuth,
	"UnrecognizedClientException":         agent.ClassAuth,
	"InvalidSignatureException":           agent.ClassAuth,
	"IncompleteSignatureException":        agent.ClassAuth,
	"MissingAuthenticationTokenException": agent.ClassAuth,
	"ExpiredTokenException":               agent.ClassAuth,
	"ExpiredToken":                        agent.ClassAuth,
	"InvalidClientTokenId":                agent.ClassAuth,
	"ResourceNotFoundException":           agent.ClassInvalid,
	"ValidationException":                 agent.ClassInvalid,
}

// stale are the codes of refusals that new credentials may overcome.
var stale = []string{"ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException", "InvalidClientTokenId"}

// explain reads an error in the words of Bedrock.
func explain(_ int, body []byte) wire.Problem {
	var p problem
	if json.Unmarshal(body, &p) != nil {
		return wire.Problem{}
	}
	out := wire.Problem{Class: classes[p.Code], Code: p.Code, Message: p.Message, Stale: slices.Contains(stale, p.Code)}
	if p.Code == "ValidationException" && tooLong(p.Message) {
		out.Class = agent.ClassContextOverflow
	}
	return out
}

// tooLong reads a sentence, because a prompt that the window does not hold has no code.
func tooLong(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"prompt is too long", "input is too long", "exceed context limit"}, func(words string) bool {
		return strings.Contains(message, words)
	})
}
