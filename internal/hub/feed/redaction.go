package feed

import (
	"context"
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// visibleData returns the data of a stored event as the follower may see it, or nil if it
// must not see the event.
func (f *Follower) visibleData(ctx context.Context, ev storage.Event) (json.RawMessage, error) {
	own := core.ReaderEntity(f.caller)
	if own == "" {
		return ev.Data, nil
	}
	if f.req.Run != "" && !f.runSpaces[ev.Space] {
		return f.visibleRunData(ctx, ev)
	}
	if !ev.Private {
		return ev.Data, nil
	}
	return redact(ev, own)
}

// visibleRunData returns an event that belongs to none of the entity's spaces: the state of
// the run, and of its pending actions those that the entity's spaces show.
func (f *Follower) visibleRunData(ctx context.Context, ev storage.Event) (json.RawMessage, error) {
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
	visible := map[shoal.PendingID]bool{}
	for _, call := range data.Run.PendingToolCalls {
		visible[call.PendingActionID] = true
	}
	var space shoal.SpaceID
	if err := f.events.core.Store.View(ctx, func(tx storage.Tx) error {
		rows, err := tx.PendingOf(f.req.Session, f.req.Run)
		if err != nil {
			return err
		}
		for _, p := range rows {
			if p.SpaceID == nil || !f.runSpaces[*p.SpaceID] || p.Target != "" && p.Target != core.ReaderEntity(f.caller) {
				delete(visible, p.ID)
			}
		}
		r, err := tx.Run(f.req.Session, f.req.Run)
		space = r.Space
		return err
	}); err != nil {
		return nil, err
	}
	data.Run = runs.RedactRun(data.Run, f.runSpaces[space])
	calls := []shoal.PendingToolCall{}
	for _, call := range data.Run.PendingToolCalls {
		if visible[call.PendingActionID] {
			calls = append(calls, call)
		}
	}
	data.Run.PendingToolCalls = calls
	return shoal.EncodeJSON(data)
}

// redact returns what a reader may see of an event that contains parts for one member, or
// nil for nothing.
func redact(ev storage.Event, reader shoal.EntityID) (json.RawMessage, error) {
	switch ev.Type {
	case shoal.EventMessageCreated, shoal.EventMessageUpdated, shoal.EventMessageCompleted:
		var data shoal.MessageData
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			return nil, err
		}
		data.Message = data.Message.For(reader)
		return shoal.EncodeJSON(data)
	case shoal.EventPendingOpened, shoal.EventPendingVoted, shoal.EventPendingSettled:
		var data pending.Event
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
