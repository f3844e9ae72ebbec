package feed

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// mayFollowRun checks the right to follow the run, and reads the spaces of an entity into
// runSpaces.
func (f *Follower) mayFollowRun(tx storage.Tx) error {
	if _, err := core.VisibleRun(tx, f.caller, f.req.Session, f.req.Run); err != nil {
		return err
	}
	own := core.ReaderEntity(f.caller)
	if own == "" {
		return nil
	}
	in, err := currentSpaces(tx, feedKey{session: f.req.Session, entity: own})
	f.runSpaces = in
	return err
}

// watchMembership notifies an entity that follows a run when it joins or leaves a space.
// The events of the run do not include that.
func (f *Follower) watchMembership() {
	if own := core.ReaderEntity(f.caller); f.req.Run != "" && own != "" {
		f.membership = f.events.core.Bus.Subscribe()
		f.membership.Add(core.EntityTopic(f.req.Session, own))
	}
}

func (f *Follower) unwatchMembership() {
	if f.membership != nil {
		f.membership.Close()
		f.membership = nil
	}
}

// membersChanged returns a channel that is ready when the entity has joined or left a
// space.
func (f *Follower) membersChanged() <-chan struct{} {
	if f.membership == nil {
		return nil
	}
	return f.membership.Ready()
}

// snapshotRun queues the snapshot of a run: the run, its steps if the caller may see them,
// and its messages in the spaces of the caller.
func (f *Follower) snapshotRun(tx Tx) error {
	r, err := tx.Run(f.req.Session, f.req.Run)
	if err != nil {
		return err
	}
	data := shoal.RunSnapshotData{EventHead: core.EventHead(storage.Event{Run: r.ID, Type: shoal.EventSnapshot}, shoal.Now()), Steps: []shoal.Step{}}
	if data.Run, err = f.visibleRun(tx, r); err != nil {
		return err
	}
	if core.ReaderEntity(f.caller) == "" {
		if data.Steps, err = runs.StepsOf(tx, r.SessionID, r.ID); err != nil {
			return err
		}
	}
	composed, err := tx.Composed(r.SessionID, r.ID)
	if err != nil {
		return err
	}
	var messages []shoal.Message
	for _, m := range composed {
		if core.ReaderEntity(f.caller) == "" || f.runSpaces[m.SpaceID] {
			messages = append(messages, m.Message)
		}
	}
	if data.Messages, err = f.snapshotMessages(tx, messages, f.after); err != nil {
		return err
	}
	data.Cursor = f.cursor(f.after)
	return f.queueEvent(shoal.EventSnapshot, data.Cursor, data)
}

// visibleRun returns the run as the follower may see it. An entity sees what its spaces
// show.
func (f *Follower) visibleRun(tx Tx, r storage.Run) (shoal.Run, error) {
	rows, err := tx.PendingOf(r.SessionID, r.ID)
	own := core.ReaderEntity(f.caller)
	out := runs.RedactRun(r.Run, own == "" || f.runSpaces[r.Space])
	out.PendingToolCalls = runs.PendingCalls(rows, func(p storage.Pending) bool {
		return own == "" || p.SpaceID != nil && f.runSpaces[*p.SpaceID] && (p.Target == "" || p.Target == own)
	})
	return out, err
}
