package run

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &execution{}
		model := func(chunks int) { // asks it, and takes so many chunks of the answer
			var failed error
			stream := x.activityMiddleware().Model(func(context.Context, *agent.Request) iter.Seq2[agent.Chunk, error] {
				return func(yield func(agent.Chunk, error) bool) {
					for range chunks {
						yield(agent.Chunk{Kind: agent.ChunkUsage}, nil)
					}
					yield(agent.Chunk{}, errors.New("it broke off")) // no sign of life
				}
			})(t.Context(), nil)
			for _, err := range stream {
				failed = err
			}
			if failed == nil {
				t.Error("an answer that breaks off does not fail")
			}
		}
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
			{"is taken up", func() { x.pulse.Beat(shoal.ActivityStarted) }, 0, shoal.ActivityStarted, false},
			{"is silent for less than a minute", func() {}, shoal.StallAfter - 1, shoal.ActivityStarted, false},
			{"is silent for a minute", func() {}, 1, shoal.ActivityStarted, true},
			{"asks its model", func() { model(0) }, 0, shoal.ActivityModel, false},
			{"receives something", func() { model(1) }, time.Second, shoal.ActivityDelta, false},
			{"has an agent that it asks begin a tool", func() { x.recordActivity(agent.Nested{Event: agent.ToolStarted{}}) }, time.Second, shoal.ActivityTool, false},
			{"has one that this one asks end a tool", func() { x.recordActivity(agent.Nested{Event: agent.Nested{Event: agent.ToolFinished{}}}) }, time.Second, shoal.ActivityTool, false},
			{"is warned about something beside it", func() { x.recordActivity(agent.Warning{}) }, shoal.StallAfter, shoal.ActivityTool, true},
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
