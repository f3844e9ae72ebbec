package e2e_test

import (
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/shoal-dev/shoal"
)

func TestProbeThoughtsCut(t *testing.T) {
	s := newStage(t)
	s.space(t, "attic", "bob")
	s.rest(t, http.MethodPatch, lab+"/spaces/den", args{"showAgentReasoning": true}, nil)
	s.host(t, "guide", "rooms", args{"tools": []any{args{"name": "choose", "displayTool": true}}}, "den", "attic")
	for i := range 6 {
		run := s.started(t, s.post(t, s.ann, "den", "Show me around.", "guide"))[0]
		at := lab + "/runs/" + string(run.ID)
		s.run(t, at, shoal.RunWaitingTool)
		path := at + "/events"
		if i%2 == 1 {
			path = denEvents
		}
		last, ended, text := "", false, ""
		ids := map[string]bool{}
		see := func(e told) bool {
			if e.id != "" {
				if ids[e.id] {
					t.Errorf("twice %s", e.raw)
				}
				ids[e.id] = true
				last = e.id
			}
			if e.event == "reasoning-start" && text != "" {
				t.Errorf("start again after %q", text)
			}
			if e.event == "reasoning-delta" {
				if e.data.Offset != len(text) {
					t.Errorf("offset %d at %d %s", e.data.Offset, len(text), e.raw)
				}
				text += e.data.Delta
			}
			ended = ended || e.event == "run.completed"
			return !ended
		}
		s.bite(t, bearer(s.admin), path, "", 1<<20, func(e told) bool { see(e); return false })
		p := s.waitsFor(t, s.ann)
		s.restAs(t, s.ann, http.MethodPost, lab+"/pending-actions/"+string(p.ID)+"/answer", args{"result": nil}, nil)
		size := int64(900)
		for !ended {
			before := last
			s.bite(t, bearer(s.admin), path, last, 1+rand.Int64N(size), see)
			size = 900
			if before == last {
				size *= 8
			}
		}
		t.Logf("%s %q", path, text)
	}
}
