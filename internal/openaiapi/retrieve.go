package openaiapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// The states of responses that only a stored one can have.
const (
	queued    = "queued"
	failed    = "failed"
	cancelled = "cancelled"
)

// retrieve serves GET responses/{id}: the response as it is now. Its id is that of a run, of which the
// caller has to be in the space.
func (c *call) retrieve() error {
	if c.r.URL.Query().Get("stream") == "true" {
		return shoal.Invalid("stream", "is not offered for a response that exists: retrieve it again, or follow the conversation in Shoal")
	}
	run, err := c.run()
	if err != nil {
		return err
	}
	return c.show(run)
}

// stop serves POST responses/{id}/cancel: it cancels the run. A response that has ended stays as it is.
func (c *call) stop() error {
	run, err := c.run()
	if err != nil {
		return err
	}
	stopped, err := c.Hub.Runs.Cancel(c.r.Context(), c.caller, c.session, worker(run))
	if err != nil {
		return err
	}
	stopped.ID, stopped.PartOf = run.ID, run.PartOf
	return c.show(stopped)
}

// run returns the run of the response that the path names. Runs that are not answers in a space that the caller
// is in are not found, like those that do not exist.
func (c *call) run() (shoal.Run, error) {
	id := c.r.PathValue("response")
	run, err := c.Hub.Runs.Get(c.r.Context(), c.caller, c.session, shoal.RunID(id))
	if kind := shoal.KindOf(err); kind == shoal.NotFound || kind == shoal.InvalidArgument || err == nil && run.Trigger.SpaceID == "" {
		return run, shoal.E("openaiapi", shoal.NotFound, "The response "+quoted(id)+" does not exist.")
	}
	return run, err
}

// worker returns the id of the run that does the work of a run: another one, if that has taken its message in.
func worker(run shoal.Run) shoal.RunID {
	if run.PartOf != nil {
		return *run.PartOf
	}
	return run.ID
}

// show answers with the response of a run.
func (c *call) show(run shoal.Run) error {
	ctx := c.r.Context()
	work, err := c.work(ctx, worker(run))
	if err != nil {
		return err
	}
	var tools []string
	in, err := c.Hub.Runs.ClientInput(ctx, c.caller, c.session, work.Run.ID)
	if err != nil {
		return err
	}
	if in != nil {
		for _, t := range in.Tools {
			tools = append(tools, t.Name)
		}
	}
	waiting, err := c.waiting(ctx, work.Run)
	if err != nil {
		return err
	}
	r := newResponse(string(run.ID), string(run.AgentID), run.Trigger.SpaceID, nil, run.CreatedAt.Time)
	return c.write(stored(r, work, tools, waiting))
}

// work returns a run with the messages that it has written, as far as the caller may read them.
func (c *call) work(ctx context.Context, id shoal.RunID) (out shoal.RunSnapshotData, err error) {
	follower, err := c.Hub.Events.Follow(ctx, c.caller, feed.FollowRequest{Session: c.session, Run: id})
	if err != nil {
		return out, err
	}
	defer follower.Close()
	events, err := follower.Next(ctx, time.Time{}) // the snapshot is ready
	if err != nil {
		return out, err
	}
	if len(events) == 0 || events[0].Type != shoal.EventSnapshot {
		return out, shoal.E("openaiapi.work", shoal.Internal, "a run has no snapshot")
	}
	return out, json.Unmarshal(events[0].Data, &out)
}

// waiting returns what a suspended run waits for that the caller may answer.
func (c *call) waiting(ctx context.Context, run shoal.Run) (out []shoal.PendingAction, err error) {
	if !run.Status.Suspended() {
		return nil, nil
	}
	return c.Hub.Pending.List(ctx, c.caller, c.session, storage.PendingFilter{Run: run.ID, Status: []shoal.PendingStatus{shoal.PendingOpen}, Limit: shoal.MaxPage})
}

// stored returns the response r of a run as it is stored: in the form of one that has just been answered, with
// the texts that are complete.
func stored(r response, work shoal.RunSnapshotData, tools []string, waiting []shoal.PendingAction) response {
	f := newResponsesForm(r)
	p := &projection{
		form: f, tools: tools, said: map[shoal.PartID]bool{}, parts: map[shoal.PartID]*part{}, named: map[shoal.PendingID]bool{},
		mine: func(shoal.RunID) bool { return true },
	}
	for _, m := range work.Messages {
		if string(m.SpaceID) != r.Conversation.ID { // an agent may write elsewhere, too
			continue
		}
		for _, held := range m.Parts {
			p.said[held.ID] = held.Status == shoal.PartStreaming
		}
		p.Message(m, work.Run.ID)
	}
	// With nothing to answer here, it waits for somebody else, or for a reply in the space.
	waits := work.Run.Status == shoal.RunWaitingReply
	if len(waiting) > 0 {
		waits = p.waits(waiting) != "" || waits
	}
	f.complete(p.order, work.Run.Usage)
	out := f.response
	switch status := work.Run.Status; {
	case status == shoal.RunFailed:
		out.Status = failed
		if e := work.Run.Error; e != nil {
			out.Error = &responseError{Code: e.Code, Message: e.Message}
		}
	case status == shoal.RunCanceled:
		out.Status = cancelled
	case status == shoal.RunQueued:
		out.Status = queued
	case !status.Ended() && !waits:
		out.Status = inProgress
	}
	return out
}
