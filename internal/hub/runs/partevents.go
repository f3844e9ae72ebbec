package runs

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/live"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Relay publishes deltas, in order, to the current followers of the space or the run. It
// neither blocks nor fails: a follower that misses a delta recovers the text later. Each
// delta is encoded once for all followers.
func (w *Work) Relay(lease Lease, deltas []live.Delta) {
	for _, d := range deltas {
		n := live.DeltaEvent{
			Key: live.PartKey{Session: lease.Session, Owner: d.Owner(lease.Run), Part: d.Part}, Space: d.Space, Run: lease.Run, Target: d.Target, Type: d.EventType(),
			Offset: d.Offset, Size: len(d.Text), OfRun: d.Message == "", Show: d.Show && d.Space != "" || d.Message != "", First: d.First, Last: d.Last,
		}
		var ok bool
		if n.Base, ok = w.live.Add(lease.Generation, lease.Run, n.Key, d); !ok {
			continue
		}
		var event []byte
		for _, topic := range n.Topics() {
			if !w.core.Bus.Watched(topic) {
				continue
			}
			if event == nil {
				if event = n.Encode(d); event == nil {
					return
				}
			}
			w.core.Bus.Publish(core.Notification{Topic: topic, Event: event})
		}
	}
}

// EmitPart stores an event of a part in progress. data is the event's own type in the root
// package; EmitPart fills in its EventHead. target is the one member that may see the
// event, or empty. The caller must save the message in the same transaction, including the
// change that the event describes, so that later readers find it there.
func (c *RunChange) EmitPart(space shoal.SpaceID, target shoal.EntityID, what shoal.EventType, data PartEvent) error {
	ev := storage.Event{Session: c.Run.SessionID, Space: space, Run: c.Run.ID, Private: target != "", Type: what}
	h := data.Head()
	position, err := core.Emit(c.Change, ev, func(head shoal.EventHead) any {
		h.EventHead, h.TargetEntityID = head, target
		return data
	})
	if err != nil {
		return err
	}
	key := live.PartKey{Session: ev.Session, Owner: string(h.MessageID), Part: h.PartID}
	l := c.live
	switch what {
	case shoal.EventTextStart, shoal.EventToolInputStart:
		c.OnEnd(func(committed bool) {
			if committed {
				d := live.Delta{Space: space, Message: h.MessageID, Part: h.PartID, Target: target}
				if input, ok := data.(*shoal.ToolInputData); ok {
					d.Call, d.Tool = input.ToolCallID, input.ToolName
				}
				l.Open(key, c.Run, d, position)
			}
		})
	case shoal.EventPartReset:
		offset := data.(*shoal.PartResetData).Offset
		l.Reset(c.Change, key, offset, position)
		c.OnCommit(func() {
			l.Resume(key, c.Run, live.Delta{Space: space, Message: h.MessageID, Part: h.PartID, Target: target}, offset, position)
		})
	case shoal.EventTextEnd, shoal.EventToolInputAvailable, shoal.EventPartRemoved:
		l.Finish(c.Change, key)
	}
	return nil
}

// PartEvent is the data of an event about a part.
type PartEvent interface{ Head() *shoal.PartHead }
