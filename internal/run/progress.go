package run

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/runs"
)

// pulse is the last activity of an execution. It has a monotonic time besides the stored
// one: setting the clock must not make a run count as stalled.
type pulse struct {
	mu   sync.Mutex
	kind shoal.ActivityKind
	at   shoal.Time
	when time.Time
}

// beat records an activity.
func (p *pulse) beat(kind shoal.ActivityKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kind, p.at, p.when = kind, shoal.Now(), time.Now()
}

// progress returns what is stored of an execution when its lease is renewed.
func (x *execution) progress() runs.Progress {
	x.pulse.mu.Lock()
	defer x.pulse.mu.Unlock()
	p := runs.Progress{Lease: x.lease}
	if x.pulse.kind != "" {
		p.Activity = &shoal.RunActivity{At: x.pulse.at, Kind: x.pulse.kind}
		p.Stalled = time.Since(x.pulse.when) >= shoal.StallAfter
	}
	return p
}

// activityMiddleware records the activity of models, also of sub-agents. Every chunk counts,
// because not every chunk is an event.
func (x *execution) activityMiddleware() agent.Middleware {
	return agent.Middleware{Name: "alive", Model: func(next agent.ModelFunc) agent.ModelFunc {
		return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
			x.pulse.beat(shoal.ActivityModel)
			return func(yield func(agent.Chunk, error) bool) {
				for chunk, err := range next(ctx, req) {
					if err == nil {
						x.pulse.beat(shoal.ActivityDelta)
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
			x.pulse.beat(shoal.ActivityTool)
		case agent.Nested:
			x.recordActivity(nested.Event)
		}
	}
}
