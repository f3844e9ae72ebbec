package remoterun

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/live"
)

// thought is the part of reasoning that is being relayed.
type thought struct {
	part   shoal.PartID
	offset int
}

// relayThoughts relays reasoning, which is stored with the step.
func (x *running) relayThoughts(all []string) {
	if len(all) == 0 {
		if x.thought.part != "" {
			x.s.o.Hub.Work.Relay(x.lease, []live.Delta{x.thoughtDelta("", false, true)})
			x.thought = thought{}
		}
		return
	}
	var deltas []live.Delta
	for _, t := range all {
		first := x.thought.part == ""
		if first {
			x.thought.part = shoal.NewID[shoal.PartID](shoal.PrefixPart)
		}
		deltas = append(deltas, x.thoughtDelta(t, first, false))
		x.thought.offset += len(t)
	}
	x.s.o.Hub.Work.Relay(x.lease, deltas)
}

func (x *running) thoughtDelta(text string, first, last bool) live.Delta {
	d := live.Delta{Reasoning: true, Part: x.thought.part, Offset: x.thought.offset, Text: text, First: first, Last: last}
	if x.show {
		d.Space, d.Show = x.run.Space, true
	}
	return d
}
