package hub

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
)

func noRun(id shoal.RunID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("There is no run %q among those that your spaces show.", id))
}

// seesRun returns a run if who may see it: services and admins all, an entity
// those of its spaces, which are the trigger's and those that the run wrote to.
func seesRun(tx Tx, who shoal.Principal, session shoal.SessionID, id shoal.RunID) (StoredRun, error) {
	if err := enter(who, session); err != nil {
		return StoredRun{}, err
	}
	if !mayBe(session) || !mayBe(id) {
		return StoredRun{}, noRun(id)
	}
	r, err := tx.Run(session, id)
	if errors.Is(err, shoal.NotFound) {
		return r, noRun(id)
	}
	if err != nil || reader(who) == "" {
		return r, err
	}
	spaces, err := runSpaces(tx, r)
	if err != nil {
		return r, err
	}
	for _, space := range spaces {
		in, err := tx.IsMember(session, space, reader(who))
		if in || err != nil {
			return r, err
		}
	}
	return r, noRun(id)
}

// runSpaces returns the spaces that show a run.
func runSpaces(tx Tx, r StoredRun) ([]shoal.SpaceID, error) {
	spaces, err := tx.RunSpaces(r.SessionID, r.ID)
	if r.Space != "" && !slices.Contains(spaces, r.Space) {
		spaces = append(spaces, r.Space)
	}
	return spaces, err
}

// mayFollowRun checks the right to follow the run, and notes where an entity is.
func (f *Follower) mayFollowRun(tx Tx) error {
	if _, err := seesRun(tx, f.who, f.req.Session, f.req.Run); err != nil {
		return err
	}
	own := reader(f.who)
	if own == "" {
		return nil
	}
	in, err := spacesOf(tx, feedKey{session: f.req.Session, entity: own})
	f.spaces = in
	return err
}

// watchOwn has an entity that follows a run learn that it joins or leaves a space:
// the run's own events do not tell.
func (f *Follower) watchOwn() {
	if own := reader(f.who); f.req.Run != "" && own != "" {
		f.mine = f.events.bus.Subscribe()
		f.mine.Add(entityTopic(f.req.Session, own))
	}
}

func (f *Follower) leaveRun() {
	if f.mine != nil {
		f.mine.Close()
		f.mine = nil
	}
}

// moved is ready when the entity has joined or left a space.
func (f *Follower) moved() <-chan struct{} {
	if f.mine == nil {
		return nil
	}
	return f.mine.Ready()
}

// snapshotRun opens the stream of a run: the run, its steps for whoever may see
// them, and its messages in the spaces of the caller.
func (f *Follower) snapshotRun(tx Tx) error {
	r, err := tx.Run(f.req.Session, f.req.Run)
	if err != nil {
		return err
	}
	data := shoal.RunSnapshotData{EventHead: head(StoredEvent{Run: r.ID, Type: shoal.EventSnapshot}, shoal.Now()), Steps: []shoal.Step{}}
	if data.Run, err = f.runFor(tx, r); err != nil {
		return err
	}
	if reader(f.who) == "" {
		if data.Steps, err = stepsOf(tx, r.SessionID, r.ID); err != nil {
			return err
		}
	}
	composed, err := tx.Composed(r.SessionID, r.ID)
	if err != nil {
		return err
	}
	var messages []shoal.Message
	for _, m := range composed {
		if reader(f.who) == "" || f.spaces[m.SpaceID] {
			messages = append(messages, m.Message)
		}
	}
	data.Messages = f.takeMessages(messages, f.after)
	data.Cursor = f.cursor(f.after)
	return f.encode(shoal.EventSnapshot, data.Cursor, data)
}

// runFor returns the run as the follower may see it: an entity learns of what its
// spaces show.
func (f *Follower) runFor(tx Tx, r StoredRun) (shoal.Run, error) {
	rows, err := tx.PendingOf(r.SessionID, r.ID)
	own := reader(f.who)
	out := outside(r.Run, own == "" || f.spaces[r.Space])
	out.PendingToolCalls = pendingCalls(rows, func(p StoredPending) bool {
		return own == "" || p.SpaceID != nil && f.spaces[*p.SpaceID] && (p.Target == "" || p.Target == own)
	})
	return out, err
}
