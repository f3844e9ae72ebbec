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

// pulse is the last sign of life of an execution. Its times are apart from those that are
// stored: a clock that is set must not make a run stall.
type pulse struct {
	mu   sync.Mutex
	kind shoal.ActivityKind
	at   shoal.Time
	when time.Time
}

// beat notes that something happened.
func (p *pulse) beat(kind shoal.ActivityKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kind, p.at, p.when = kind, shoal.Now(), time.Now()
}

// progress is what is stored of an execution when its lease is renewed.
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

// activityMiddleware is the middleware that notes what a model does, also that of an agent that this
// one asks. Every chunk counts: not each of them is an event.
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

// recordActivity notes what an event says about the run's being alive. Of the tools of its own
// agent the timings know.
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
