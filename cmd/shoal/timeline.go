package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// timeline takes the messages out of events: of each space every message once,
// in order, also where a snapshot comes again after a long absence.
type timeline struct {
	session *client.Session
	last    map[shoal.SpaceID]int64
}

// take returns the messages that are new in e, and whether they are the first
// that is seen of their space, the newest of those that were there before.
func (t *timeline) take(ctx context.Context, e shoal.Event) (fresh []shoal.Message, earlier bool, err error) {
	switch e.Type {
	case shoal.EventMessageCreated:
		data, err := decode[shoal.MessageData](e)
		return t.after(t.last[data.Message.SpaceID], []shoal.Message{data.Message}), false, err
	case shoal.EventSnapshot:
		data, err := decode[shoal.SnapshotData](e)
		last, known := t.last[data.Space.ID]
		if err != nil || !known {
			t.last[data.Space.ID] = data.Space.LastSeq
			return data.Messages, true, err
		}
		missed, err := t.missed(ctx, data, last)
		return append(missed, t.after(last, data.Messages)...), false, err
	}
	return nil, false, nil
}

// after keeps the messages behind seq.
func (t *timeline) after(seq int64, all []shoal.Message) (fresh []shoal.Message) {
	for _, m := range all {
		if m.Seq > seq {
			fresh = append(fresh, m)
			t.last[m.SpaceID] = m.Seq
		}
	}
	return fresh
}

// missed reads what lies between seq and the first message of a snapshot.
func (t *timeline) missed(ctx context.Context, s shoal.SnapshotData, seq int64) (all []shoal.Message, err error) {
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

// decode reads the data of an event.
func decode[T any](e shoal.Event) (data T, err error) {
	if err = json.Unmarshal(e.Data, &data); err != nil {
		err = &shoal.Error{Kind: shoal.Internal, Msg: fmt.Sprintf("an event %s of the server cannot be read", e.Type), Err: err}
	}
	return data, err
}
