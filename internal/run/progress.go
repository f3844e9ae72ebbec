package run

import (
	"context"
	"iter"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

// progress returns what is stored of an execution when its lease is renewed.
func (x *execution) progress() runs.Progress {
	activity, stalled := x.pulse.Last()
	return runs.Progress{Lease: x.lease, Activity: activity, Stalled: stalled}
}

// activityMiddleware records the activity of models, also of sub-agents. Every chunk counts,
// because not every chunk is an event.
func (x *execution) activityMiddleware() agent.Middleware {
	return agent.Middleware{Name: "alive", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			x.pulse.Beat(shoal.ActivityModel)
			return func(yield func(agent.Chunk, error) bool) {
				for chunk, err := range next(ctx, req) {
					if err == nil {
						x.pulse.Beat(shoal.ActivityDelta)
					}
					if !yield(chunk, err) {
						return
					}
				}
			}
		}
	}}
}

// recordActivity records the activity that an event shows. The timings record the tools of the
// run's own agent.
func (x *execution) recordActivity(event agent.Event) {
	if nested, is := event.(agent.Nested); is {
		switch nested.Event.(type) {
		case agent.ToolStarted, agent.ToolFinished:
			x.pulse.Beat(shoal.ActivityTool)
		case agent.Nested:
			x.recordActivity(nested.Event)
		}
	}
}
