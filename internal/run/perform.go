package run

import (
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/perform"
)

// perform performs the effects of one input, and the effects that follow from them. All
// stored effects, and also after them, run in one transaction; the remaining deltas are
// relayed after it. The transaction also answers questions about memberships.
func (x *execution) perform(effects []compose.Effect, also func(*runs.RunChange) error) error {
	if len(effects) == 1 && also == nil {
		if _, delta := effects[0].(compose.AppendPart); delta {
			x.relay(effects) // nearly all inputs
			return nil
		}
	}
	for len(effects) > 0 || also != nil {
		before, stored, after := compose.Split(x.withDrafts(effects))
		x.relay(before)
		var answers []perform.Membership
		if len(stored) > 0 || also != nil {
			var done *perform.Attempt
			err := x.write(x.ctx, func(c *runs.RunChange) error {
				done = x.output.Begin(c, stored)
				for _, e := range stored {
					if err := done.Perform(e); err != nil {
						return err
					}
				}
				if also != nil {
					return also(c)
				}
				return nil
			})
			if err != nil {
				return err
			}
			done.Apply()
			answers = done.Answers()
		}
		x.relay(after)
		effects, also = nil, nil
		for _, a := range answers {
			effects = append(effects, x.composer.SetMembership(a.Space, a.Target, a.Standing)...)
		}
	}
	return nil
}

// withDrafts adds the messages in progress if a part was opened or truncated: its events
// must not survive a crash without the part.
func (x *execution) withDrafts(effects []compose.Effect) []compose.Effect {
	for _, e := range effects {
		switch e.(type) {
		case compose.OpenPart, compose.ResetPart:
			for _, m := range x.composer.Drafts() {
				effects = append(effects, compose.SaveMessage{Message: m})
			}
			return effects
		}
	}
	return effects
}

func (x *execution) relay(effects []compose.Effect) {
	if deltas := x.output.Deltas(effects); len(deltas) > 0 {
		x.hub.Work.Relay(x.lease, deltas)
	}
}
