package view

import (
	"testing"

	"github.com/shoal-dev/shoal"
)

// The outcome of a permission says what was decided, and not only that somebody answered.
func TestPendingOutcome(t *testing.T) {
	ann, ask := shoal.EntityID("ann"), "Which one?"
	for want, p := range map[string]shoal.PendingAction{
		"pnd_1 is answered by ann":                  {Status: shoal.PendingAnswered, AnsweredBy: &ann},
		"pnd_1 is approved by ann":                  {Status: shoal.PendingAnswered, AnsweredBy: &ann, Decision: &shoal.Decision{Approved: true, By: &ann}},
		"pnd_1 is denied by ann":                    {Status: shoal.PendingAnswered, AnsweredBy: &ann, Decision: &shoal.Decision{By: &ann}},
		"pnd_1 is sent back with a question by ann": {Status: shoal.PendingAnswered, AnsweredBy: &ann, Decision: &shoal.Decision{By: &ann, Ask: &ask}},
		"pnd_1 is approved":                         {Status: shoal.PendingAnswered, Decision: &shoal.Decision{Approved: true}},
		"pnd_1 is expired":                          {Status: shoal.PendingExpired, Decision: &shoal.Decision{}},
		"pnd_1 is canceled":                         {Status: shoal.PendingCanceled},
	} {
		p.ID = "pnd_1"
		if got := PendingOutcome(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
