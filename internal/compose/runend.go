package compose

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// leaveSpace completes the run's messages in a space to which it can no longer write. Its calls
// show nothing more there.
func (c *Composer) leaveSpace(space shoal.SpaceID, why Refusal) {
	for _, k := range c.calls {
		if k.space != space || k.stage == stageHidden {
			continue
		}
		if k.stage != stageShown {
			c.hide(k, why)
			continue
		}
		k.stage, k.buffer, k.fresh = stageHidden, nil, ""
		if !k.finished {
			k.refusal = why
		}
	}
	for _, m := range slices.Clone(c.messages) {
		if m.Space != space {
			continue
		}
		status := shoal.MessageCompleted
		if c.endParts(m) {
			status = shoal.MessageCanceled
		}
		m.Starts = false
		c.close(m, status)
	}
	for _, k := range c.calls {
		if k.space == space {
			k.part = nil
		}
	}
}

// endRun closes all open messages.
func (c *Composer) endRun(outcome agent.Outcome) {
	status, ok := map[agent.Outcome]shoal.MessageStatus{
		agent.Completed: shoal.MessageCompleted, agent.Canceled: shoal.MessageCanceled,
	}[outcome]
	if !ok {
		status = shoal.MessageFailed
	}
	for _, m := range slices.Clone(c.messages) {
		c.endParts(m)
		c.close(m, status)
	}
	c.calls, c.head, c.last, c.ended = nil, 0, nil, true
}

// endParts ends the incomplete parts of m, and reports whether any of them was interrupted
// or canceled.
func (c *Composer) endParts(m *message) bool {
	cut := false
	sealed := m.Sealed
	m.Sealed = false // otherwise the last part to end would complete the message
	for _, p := range m.parts {
		switch {
		case p.Status == shoal.PartStreaming:
			c.endText(p, shoal.PartInterrupted)
			cut = true
		case p.Type == shoal.TextPart:
			p.Accepted = true
		case !p.isFinal():
			c.finishTool(p, shoal.PartCanceled, nil, "canceled")
			cut = true
		}
	}
	m.Sealed = sealed
	return cut
}
