package runner

import (
	"testing"

	"github.com/shoal-dev/shoal"
)

// An agent works for everybody at the roots of a run, or not at all.
func TestWorksForEverybodyAtTheRoots(t *testing.T) {
	owner := shoal.EntityID("ann")
	for name, c := range map[string]struct {
		respondTo []string
		acting    []shoal.EntityID
		sender    shoal.EntityID
		want      bool
	}{
		"its owner":                               {[]string{"owner"}, []shoal.EntityID{"ann"}, "ann", true},
		"somebody else":                           {[]string{"owner"}, []shoal.EntityID{"ben"}, "ben", false},
		"an agent of its owner":                   {[]string{"owner"}, []shoal.EntityID{"ann", "scout"}, "scout", false},
		"an agent that is named":                  {[]string{"owner", "scout"}, []shoal.EntityID{"ann", "scout"}, "scout", true},
		"a named agent for somebody else":         {[]string{"owner", "scout"}, []shoal.EntityID{"ben", "scout"}, "scout", false},
		"a named agent that it has asked":         {[]string{"owner", "scout"}, []shoal.EntityID{"ann", "coder", "scout"}, "scout", true},
		"another agent that it has asked":         {[]string{"owner"}, []shoal.EntityID{"coder", "scout"}, "scout", false},
		"itself alone":                            {[]string{"owner"}, []shoal.EntityID{"coder"}, "coder", false},
		"all members":                             {[]string{"members"}, []shoal.EntityID{"ben"}, "ben", true},
		"the sender where nobody is at the roots": {[]string{"owner"}, nil, "ann", true},
		"nobody": {[]string{"owner"}, nil, "", false},
	} {
		a := &served{Served: Served{Agent: Agent{ID: "coder", AgentConfig: AgentConfig{RespondTo: c.respondTo}}}}
		run := shoal.Run{ActingFor: c.acting}
		run.Trigger.SenderEntityID = c.sender
		if got := a.responds(run, &owner); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
