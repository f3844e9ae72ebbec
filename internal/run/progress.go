package run

import (
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub"
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
func (x *execution) progress() hub.Progress {
	x.pulse.mu.Lock()
	defer x.pulse.mu.Unlock()
	p := hub.Progress{Lease: x.lease}
	if x.pulse.kind != "" {
		p.Activity = &shoal.RunActivity{At: x.pulse.at, Kind: x.pulse.kind}
		p.Stalled = time.Since(x.pulse.when) >= shoal.StallAfter
	}
	return p
}

// activity notes what an event says about the run's being alive.
func (x *execution) activity(event agent.Event) {
	switch event.(type) {
	case agent.TextDelta, agent.ReasoningDelta, agent.ToolArgsDelta:
		x.pulse.beat(shoal.ActivityDelta)
	case agent.ToolFinished:
		x.pulse.beat(shoal.ActivityTool)
	}
}
