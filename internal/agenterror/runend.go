package agenterror

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// codes are the codes of the API for reasons that package agent names differently; all
// other reasons are codes themselves.
var codes = map[agent.Reason]string{
	agent.ReasonDenied: "max_steps", agent.ReasonInvalidRequest: "internal", agent.ReasonOutput: "internal", agent.ReasonUnknownTool: "internal",
	agent.ReasonEmpty: "provider_unavailable",
}

// retryable are the reasons of failures that may not recur with the same trigger.
var retryable = map[agent.Reason]bool{
	agent.ReasonRateLimited: true, agent.ReasonUnavailable: true, agent.ReasonTimeout: true, agent.ReasonStorage: true,
	agent.ReasonEmpty: true,
}

// EndOfRun returns the last status of a run whose turn has ended so, and its error, which
// is nil for a completed run.
func EndOfRun(end agent.TurnEnd) (shoal.RunStatus, *shoal.RunError) {
	code, found := codes[end.Reason]
	if !found {
		code = string(end.Reason)
	}
	failure := &shoal.RunError{Code: code, Message: end.Message, Retryable: retryable[end.Reason]}
	switch end.Outcome {
	case agent.Completed:
		return shoal.RunCompleted, nil
	case agent.Canceled:
		failure.Code = string(agent.ReasonCanceled)
		return shoal.RunCanceled, failure
	}
	return shoal.RunFailed, failure
}

// LimitOf returns the code of the limit at which a completed turn gave its closing answer, and
// an empty text for every other turn.
func LimitOf(end agent.TurnEnd) string {
	if end.Outcome != agent.Completed {
		return ""
	}
	switch end.Reason {
	case agent.ReasonMaxSteps, agent.ReasonDenied: // of more steps
		return string(agent.ReasonMaxSteps)
	case agent.ReasonMaxErrors:
		return string(agent.ReasonMaxErrors)
	}
	return ""
}
