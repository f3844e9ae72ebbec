package run

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &execution{}
		if p := x.progress(); p.Activity != nil || p.Stalled {
			t.Errorf("a run that has not begun has %+v, want no activity", p)
		}
		for _, step := range []struct {
			what    string
			do      func()
			after   time.Duration
			kind    shoal.ActivityKind
			stalled bool
		}{
			{"is taken up", func() { x.pulse.beat(shoal.ActivityStarted) }, 0, shoal.ActivityStarted, false},
			{"is silent for less than a minute", func() {}, shoal.StallAfter - 1, shoal.ActivityStarted, false},
			{"is silent for a minute", func() {}, 1, shoal.ActivityStarted, true},
			{"receives text", func() { x.activity(agent.TextDelta{}) }, 0, shoal.ActivityDelta, false},
			{"receives reasoning", func() { x.activity(agent.ReasoningDelta{}) }, time.Second, shoal.ActivityDelta, false},
			{"receives arguments", func() { x.activity(agent.ToolArgsDelta{}) }, time.Second, shoal.ActivityDelta, false},
			{"ends a tool", func() { x.activity(agent.ToolFinished{}) }, time.Second, shoal.ActivityTool, false},
			{"is warned about something beside it", func() { x.activity(agent.Warning{}) }, shoal.StallAfter, shoal.ActivityTool, true},
		} {
			step.do()
			<-time.After(step.after)
			p := x.progress()
			if p.Activity == nil || p.Activity.Kind != step.kind || p.Stalled != step.stalled {
				t.Errorf("a run that %s: activity %+v, stalled %v; want %s, %v", step.what, p.Activity, p.Stalled, step.kind, step.stalled)
			}
		}
	})
}
