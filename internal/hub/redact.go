package hub

import (
	"context"
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// hasPrivate reports whether a part of m is for one member alone.
func hasPrivate(m shoal.Message) bool {
	for _, p := range m.Parts {
		if p.Target != "" {
			return true
		}
	}
	return false
}

// forReader leaves out what is not for a reader.
func forReader(messages []shoal.Message, reader shoal.EntityID) []shoal.Message {
	for i := range messages {
		messages[i] = messages[i].For(reader)
	}
	return messages
}

// show returns the data of a stored event as the follower may see it, nil if it
// must not see it at all.
func (f *Follower) show(ctx context.Context, ev StoredEvent) (json.RawMessage, error) {
	own := reader(f.who)
	if own == "" {
		return ev.Data, nil
	}
	if f.req.Run != "" && !f.spaces[ev.Space] {
		return f.showRun(ctx, ev)
	}
	if !ev.Private {
		return ev.Data, nil
	}
	return redact(ev, own)
}

// showRun shows an event that no space of the entity tells: it sees how the run
// stands, and of what it waits for what its spaces show.
func (f *Follower) showRun(ctx context.Context, ev StoredEvent) (json.RawMessage, error) {
	switch ev.Type {
	case shoal.EventRunCreated, shoal.EventRunStarted, shoal.EventRunWaitingTool, shoal.EventRunWaitingReply, shoal.EventRunResumed, shoal.EventRunStalled,
		shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled:
	default:
		return nil, nil
	}
	var data shoal.RunData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return nil, err
	}
	told := map[shoal.PendingID]bool{}
	for _, call := range data.Run.PendingToolCalls {
		told[call.PendingActionID] = true
	}
	var space shoal.SpaceID
	if err := f.events.store.View(ctx, func(tx Tx) error {
		rows, err := tx.PendingOf(f.req.Session, f.req.Run)
		if err != nil {
			return err
		}
		for _, p := range rows {
			if p.SpaceID == nil || !f.spaces[*p.SpaceID] || p.Target != "" && p.Target != reader(f.who) {
				delete(told, p.ID)
			}
		}
		r, err := tx.Run(f.req.Session, f.req.Run)
		space = r.Space
		return err
	}); err != nil {
		return nil, err
	}
	data.Run = outside(data.Run, f.spaces[space])
	calls := []shoal.PendingToolCall{}
	for _, call := range data.Run.PendingToolCalls {
		if told[call.PendingActionID] {
			calls = append(calls, call)
		}
	}
	data.Run.PendingToolCalls = calls
	return shoal.EncodeJSON(data)
}

// redact returns what a reader may see of an event that holds parts for one
// member.
func redact(ev StoredEvent, reader shoal.EntityID) (json.RawMessage, error) {
	switch ev.Type {
	case shoal.EventMessageCreated, shoal.EventMessageUpdated, shoal.EventMessageCompleted:
		var data shoal.MessageData
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			return nil, err
		}
		data.Message = data.Message.For(reader)
		return shoal.EncodeJSON(data)
	case shoal.EventPendingOpened, shoal.EventPendingVoted, shoal.EventPendingSettled:
		var data pendingEvent
		if err := json.Unmarshal(ev.Data, &data); err != nil || data.Target != reader {
			return nil, err
		}
		return ev.Data, nil
	}
	var data shoal.PartHead
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return nil, err
	}
	if data.TargetEntityID == reader {
		return ev.Data, nil
	}
	data.TargetEntityID, data.Private = "", true
	return shoal.EncodeJSON(data)
}
