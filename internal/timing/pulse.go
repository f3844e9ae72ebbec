package timing

import (
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// Pulse is the last activity of an execution. It has a monotonic time besides the stored
// one: setting the clock must not make a run count as stalled.
type Pulse struct {
	mu   sync.Mutex
	kind shoal.ActivityKind
	at   shoal.Time
	when time.Time
}

// Beat records an activity.
func (p *Pulse) Beat(kind shoal.ActivityKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kind, p.at, p.when = kind, shoal.Now(), time.Now()
}

// Last returns the last activity, or nil, and whether it was so long ago that
// the run counts as stalled.
func (p *Pulse) Last() (activity *shoal.RunActivity, stalled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kind == "" {
		return nil, false
	}
	return &shoal.RunActivity{At: p.at, Kind: p.kind}, time.Since(p.when) >= shoal.StallAfter
}
