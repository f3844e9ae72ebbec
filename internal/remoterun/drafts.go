package remoterun

import (
	"slices"
	"time"

	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/perform"
)

// draftEvery is how often streaming messages are stored, for readers on other servers.
const draftEvery = 250 * time.Millisecond

// withDrafts adds the messages in progress if a part was opened or truncated, because its
// events must not survive without the part, and from time to time.
func (x *running) withDrafts(effects []compose.Effect) []compose.Effect {
	now, delta := time.Now(), false
	for _, e := range effects {
		switch e.(type) {
		case compose.OpenPart, compose.ResetPart:
			x.drafts = time.Time{}
		case compose.AppendPart:
			delta = true
		}
	}
	if now.Sub(x.drafts) < draftEvery {
		if delta && x.late == nil {
			x.late = x.s.after(2*draftEvery, x.saveLate)
		}
		return effects
	}
	if x.late != nil {
		x.late.Stop()
		x.late = nil
	}
	x.drafts = now
	return append(slices.Clip(effects), saves(x.machine.composer.Drafts())...)
}

// saveLate stores the messages in progress of a program that pauses.
func (x *running) saveLate() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.late == nil || x.gone || x.machine.end != nil {
		return
	}
	x.late, x.drafts = nil, time.Now()
	effects := saves(x.machine.composer.Drafts())
	var attempt *perform.Attempt
	err := x.s.write(x.s.ctx, x.lease, func(c *runs.RunChange) (err error) {
		attempt, err = x.perform(c, effects)
		return err
	})
	if err != nil {
		x.gone = true // what is stored is enough to go on
		return
	}
	attempt.Apply()
}

func saves(drafts []compose.Message) (out []compose.Effect) {
	for _, m := range drafts {
		out = append(out, compose.SaveMessage{Message: m})
	}
	return out
}
