package compose

import (
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

// leave completes the run's messages in a space that it can write to no longer.
// Its calls there get nothing more to show.
func (c *Composer) leave(space shoal.SpaceID, why Refusal) {
	for _, k := range c.calls {
		if k.space != space || k.stage == stageShut {
			continue
		}
		if k.stage != stageShown {
			c.shut(k, why)
			continue
		}
		k.stage, k.held, k.fresh = stageShut, nil, ""
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

// end closes everything that is open.
func (c *Composer) end(outcome agent.Outcome) {
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

// endParts ends the parts of m that are not whole, and reports whether there were
// any that were cut short.
func (c *Composer) endParts(m *message) bool {
	cut := false
	sealed := m.Sealed
	m.Sealed = false // or the last part that ends would complete the message
	for _, p := range m.parts {
		switch {
		case p.Status == shoal.PartStreaming:
			c.endText(p, shoal.PartInterrupted)
			cut = true
		case p.Type == shoal.TextPart:
			p.Accepted = true
		case !p.whole():
			c.finishTool(p, shoal.PartCanceled, nil, "canceled")
			cut = true
		}
	}
	m.Sealed = sealed
	return cut
}
