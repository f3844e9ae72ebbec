package talk

import (
	"cmp"
	"context"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// timeline extracts the messages from events: every message of a space once, when it is
// complete, even if a new snapshot arrives after a long disconnection.
type timeline struct {
	session   *client.Session
	last      map[shoal.SpaceID]int64 // the newest seq that was seen
	streaming map[shoal.MessageID]shoal.Message
}

func newTimeline(session *client.Session) timeline {
	return timeline{session, map[shoal.SpaceID]int64{}, map[shoal.MessageID]shoal.Message{}}
}

// newMessages returns the complete messages that e adds. earlier reports whether they are from
// the first snapshot of their space, and so older than the subscription.
func (t *timeline) newMessages(ctx context.Context, e shoal.Event) (fresh []shoal.Message, earlier bool, err error) {
	switch e.Type {
	case shoal.EventMessageCreated:
		data, err := view.Decode[shoal.MessageData](e)
		return t.newerThan(t.last[data.Message.SpaceID], []shoal.Message{data.Message}), false, err
	case shoal.EventMessageCompleted:
		data, err := view.Decode[shoal.MessageData](e)
		if err != nil {
			return nil, false, err
		}
		delete(t.streaming, data.Message.ID)
		t.last[data.Message.SpaceID] = max(t.last[data.Message.SpaceID], data.Message.Seq)
		return []shoal.Message{data.Message}, false, nil
	case shoal.EventSnapshot:
		data, err := view.Decode[shoal.SnapshotData](e)
		if err != nil {
			return nil, false, err
		}
		return t.snapshot(ctx, data)
	}
	return nil, false, nil
}

func (t *timeline) snapshot(ctx context.Context, s shoal.SnapshotData) (fresh []shoal.Message, earlier bool, err error) {
	last, known := t.last[s.Space.ID]
	if !known {
		t.last[s.Space.ID] = s.Space.LastSeq
		return t.keepComplete(s.Messages), true, nil
	}
	fresh, err = t.completedSince(ctx, s)
	if err != nil {
		return nil, false, err
	}
	missed, err := t.readMissing(ctx, s, last)
	fresh = append(fresh, t.keepComplete(missed)...)
	return append(fresh, t.newerThan(last, s.Messages)...), false, err
}

// keepComplete returns the complete messages and records those that are still streaming.
func (t *timeline) keepComplete(all []shoal.Message) (whole []shoal.Message) {
	for _, m := range all {
		if m.Status == shoal.MessageStreaming {
			t.streaming[m.ID] = m
		} else {
			whole = append(whole, m)
		}
	}
	return whole
}

// newerThan returns the complete messages after seq, and advances the newest seq.
func (t *timeline) newerThan(seq int64, all []shoal.Message) []shoal.Message {
	var fresh []shoal.Message
	for _, m := range all {
		if m.Seq > seq {
			fresh = append(fresh, m)
			t.last[m.SpaceID] = m.Seq
		}
	}
	return t.keepComplete(fresh)
}

// completedSince returns the messages that were streaming before and are now complete. It reads
// those that are older than the snapshot from the server.
func (t *timeline) completedSince(ctx context.Context, s shoal.SnapshotData) (whole []shoal.Message, err error) {
	for id, m := range t.streaming {
		if m.SpaceID != s.Space.ID {
			continue
		}
		now := s.Messages
		if len(now) == 0 || now[0].Seq > m.Seq {
			now, err = t.session.Messages(ctx, m.SpaceID, client.MessagesOptions{After: m.Seq - 1, Limit: 1})
			if err != nil {
				return nil, err
			}
		}
		for _, n := range now {
			if n.ID == id && n.Status != shoal.MessageStreaming {
				whole = append(whole, n)
				delete(t.streaming, id)
			}
		}
	}
	slices.SortFunc(whole, func(a, b shoal.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	return whole, nil
}

// readMissing reads the messages between seq and the first message of a snapshot.
func (t *timeline) readMissing(ctx context.Context, s shoal.SnapshotData, seq int64) (all []shoal.Message, err error) {
	if len(s.Messages) == 0 || s.Messages[0].Seq <= seq+1 {
		return nil, nil
	}
	for m, err := range t.session.Timeline(ctx, s.Space.ID, seq) {
		if err != nil || m.Seq >= s.Messages[0].Seq {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}
