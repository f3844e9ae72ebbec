package agenterror_test

import (
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/agenterror"
)

// The reasons of package agent become codes of the API.
func TestEndOfRun(t *testing.T) {
	for _, c := range []struct {
		outcome agent.Outcome
		reason  agent.Reason
		status  shoal.RunStatus
		code    string
		again   bool
	}{
		{agent.Completed, agent.ReasonDone, shoal.RunCompleted, "", false},
		{agent.Completed, agent.ReasonLength, shoal.RunCompleted, "", false},
		{agent.Canceled, agent.ReasonCanceled, shoal.RunCanceled, "canceled", false},
		{agent.Failed, agent.ReasonDenied, shoal.RunFailed, "max_steps", false},
		{agent.Failed, agent.ReasonEmpty, shoal.RunFailed, "provider_unavailable", true},
		{agent.Failed, agent.ReasonInvalidRequest, shoal.RunFailed, "internal", false},
		{agent.Failed, agent.ReasonRateLimited, shoal.RunFailed, "provider_rate_limited", true},
		{agent.Failed, agent.ReasonStorage, shoal.RunFailed, "storage", true},
		{agent.Failed, agent.ReasonMaxErrors, shoal.RunFailed, "max_errors", false},
	} {
		status, failure := agenterror.EndOfRun(agent.TurnEnd{Outcome: c.outcome, Reason: c.reason, Message: "so"})
		got := shoal.RunError{}
		if failure != nil {
			got = *failure
		}
		if status != c.status || got.Code != c.code || got.Retryable != c.again {
			t.Errorf("%s %s: %s %+v, want %s %s, retryable %v", c.outcome, c.reason, status, got, c.status, c.code, c.again)
		}
	}
}
