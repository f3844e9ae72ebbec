package pending

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

const (
	// AskLease is how long a request stays open after the last call about it.
	AskLease = 45 * time.Second
	// MaxAskWait is how long a call waits for an answer at most.
	MaxAskWait = 20 * time.Second
	// maxAsked is how many requests of one agent may be open.
	maxAsked = 32
)

// Ask is what a program asks in place of an agent that no run executes: whether the agent may
// call a tool. The first call is without ID and opens the request; each further one names it,
// keeps it open and waits for the answer, or takes it back (Withdrawn).
//
// SpaceID is the space that shows the request. If it is empty, that is the open space of the
// agent and its owner with the fewest members.
type Ask struct {
	ID        shoal.PendingID `json:"id,omitempty"`
	SpaceID   shoal.SpaceID   `json:"spaceId,omitempty"`
	ToolName  string          `json:"toolName,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	WaitMs    int64           `json:"waitMs,omitempty"`
	Withdrawn bool            `json:"withdrawn,omitempty"`
}

func (a Ask) validate() error {
	switch {
	case a.WaitMs < 0 || a.WaitMs > MaxAskWait.Milliseconds():
		return shoal.Invalid("waitMs", fmt.Sprintf("must be from 0 to %d", MaxAskWait.Milliseconds()))
	case a.ID != "" && (a.SpaceID != "" || a.ToolName != "" || len(a.Args) > 0):
		return shoal.Invalid("id", "names a request that is open: its space, tool and arguments cannot change")
	case a.ID != "":
		return nil
	case a.Withdrawn:
		return shoal.Invalid("id", "is missing: name the request to take back")
	case a.ToolName == "" || len(a.ToolName) > shoal.MaxName:
		return shoal.Invalid("toolName", fmt.Sprintf("must have 1 to %d bytes", shoal.MaxName))
	case len(a.Args) > 0 && a.Args[0] != '{':
		return shoal.Invalid("args", "must be an object")
	}
	return nil
}

// Ask opens a permission that no run waits for, keeps it open, or takes it back, and waits up
// to WaitMs for its answer. The owner of the agent, admins and owners of the session may
// answer, as far as they are members of the space. The request is canceled when no call
// has been made about it for [AskLease].
//
// It is for the agent itself only: Forbidden for others, NotFound for the request of another
// agent, Conflict if 32 are open or if the agent shares no open space with its owner.
func (p *Pending) Ask(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, a Ask) (out shoal.PendingAction, err error) {
	const op = "hub.Pending.Ask"
	if err := a.validate(); err != nil {
		return out, core.Wrap(op, err)
	}
	sub := p.core.Bus.Subscribe()
	defer sub.Close()
	err = p.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if err := checkAsker(ch, caller, session, agent); err != nil {
			return err
		}
		if a.ID == "" {
			if a.SpaceID, err = scopes.One(caller.Scopes, a.SpaceID); err != nil {
				return err
			}
		}
		row, err := changeAsked(ch, session, agent, a)
		if err == nil {
			out, err = NewJudge(ch, session).publicView(row)
		}
		return err
	})
	if err != nil || a.WaitMs == 0 || out.Status != shoal.PendingOpen {
		return out, err
	}
	sub.Add(askTopic(session, out.ID))
	end := time.NewTimer(time.Duration(a.WaitMs) * time.Millisecond)
	defer end.Stop()
	for last := false; ; {
		err := p.core.View(ctx, op, func(tx storage.Tx) error {
			row, err := findAsked(tx, session, agent, out.ID)
			if err == nil {
				out, err = NewJudge(tx, session).publicView(row)
			}
			return err
		})
		if err != nil || out.Status != shoal.PendingOpen || last {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, core.Wrap(op, ctx.Err())
		case <-end.C:
			last = true // a notification from another server may be late
		case <-sub.Ready():
			sub.Take()
		}
	}
}

// changeAsked opens a request, keeps it open or takes it back, and returns it.
func changeAsked(ch *core.Change, session shoal.SessionID, agent shoal.EntityID, a Ask) (storage.Pending, error) {
	if a.ID == "" {
		return openAsked(ch, session, agent, a)
	}
	row, err := findAsked(ch, session, agent, a.ID)
	if err != nil || row.Status != shoal.PendingOpen {
		return row, err
	}
	if a.Withdrawn {
		row.Status = shoal.PendingCanceled
		return row, settleRow(ch, row, shoal.PendingCanceled)
	}
	due := shoal.At(ch.At.Add(AskLease))
	row.Due = &due
	return row, ch.UpdatePending(row)
}

// askTopic is notified when a request is settled that no run waits for.
func askTopic(session shoal.SessionID, id shoal.PendingID) string {
	return core.RunTopic(session, shoal.RunID(id))
}

// checkAsker fails unless the caller is the agent.
func checkAsker(tx Tx, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID) error {
	if err := core.Authorize(caller, session, roles.Post); err != nil {
		return err
	}
	e, err := core.FindEntity(tx, session, agent)
	switch {
	case err != nil:
		return err
	case caller.Role != shoal.RoleEntity || caller.EntityID != agent:
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("Only %q itself may ask for its permissions.", agent))
	case e.Kind != shoal.Agent:
		return shoal.E("", shoal.Conflict, fmt.Sprintf("%q is a human: only agents ask for permissions.", agent))
	}
	return core.RequireOpenSession(tx, session)
}

func findAsked(tx storage.PendingTx, session shoal.SessionID, agent shoal.EntityID, id shoal.PendingID) (storage.Pending, error) {
	if !core.ValidID(id) {
		return storage.Pending{}, pendingNotFound(id)
	}
	row, err := tx.Pending(session, id)
	if errors.Is(err, shoal.NotFound) || err == nil && (row.RunID != "" || row.AgentID != agent) {
		err = pendingNotFound(id)
	}
	return row, err
}

// openAsked stores a new request and emits the event.
func openAsked(ch *core.Change, session shoal.SessionID, agent shoal.EntityID, a Ask) (row storage.Pending, err error) {
	open, err := ch.PendingActions(session, storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}, Agent: agent, Limit: maxAsked})
	if err != nil {
		return row, err
	}
	if len(open) == maxAsked {
		return row, shoal.E("", shoal.Conflict, fmt.Sprintf("%q has %d open requests: wait for an answer, or take one back.", agent, maxAsked))
	}
	e, err := core.FindEntity(ch, session, agent)
	if err != nil {
		return row, err
	}
	space, err := askSpace(ch, session, agent, OwnerOf(e), a.SpaceID)
	if err != nil {
		return row, err
	}
	by := []shoal.EntityID{shoal.AnswerAdmins}
	if owner := OwnerOf(e); owner != "" {
		by = append(by, owner)
	}
	if len(a.Args) == 0 {
		a.Args = json.RawMessage("{}")
	}
	due := shoal.At(ch.At.Add(AskLease))
	row = storage.Pending{
		PendingAction: shoal.PendingAction{
			ID: shoal.NewID[shoal.PendingID](shoal.PrefixPending), Kind: shoal.PendingPermission, AgentID: agent, SpaceID: &space,
			ToolName: a.ToolName, Args: a.Args, Status: shoal.PendingOpen, CreatedAt: ch.At,
		},
		Session: session, Hash: approval.ArgsHash(a.ToolName, a.Args), Due: &due,
		Policy: storage.Policy{By: by, Quorum: 1, Targeted: true, Requesters: []shoal.EntityID{}},
	}
	if err := ch.InsertPending(row); err != nil {
		return row, err
	}
	ch.Notify(core.DueTopic)
	return row, EmitAction(ch, row, shoal.EventPendingOpened)
}

// askSpace returns the space that shows a request: the named one, or of the open spaces of the
// agent and its owner the one with the fewest members.
func askSpace(ch *core.Change, session shoal.SessionID, agent, owner shoal.EntityID, named shoal.SpaceID) (shoal.SpaceID, error) {
	all, err := ch.Spaces(session, storage.SpaceFilter{Member: agent})
	if err != nil {
		return "", err
	}
	var found *shoal.Space
	for i, s := range all {
		if s.Status != shoal.SpaceStatusOpen || named != "" && s.ID != named {
			continue
		}
		if owner != "" && named == "" {
			in, err := ch.IsMember(session, s.ID, owner)
			if err != nil {
				return "", err
			}
			if !in {
				continue
			}
		}
		if found == nil || s.MemberCount < found.MemberCount {
			found = &all[i]
		}
	}
	switch {
	case found != nil:
		return found.ID, nil
	case named != "":
		return "", shoal.E("", shoal.NotFound, fmt.Sprintf("Space %q not found among the open spaces of %q.", named, agent))
	}
	return "", shoal.E("", shoal.Conflict, fmt.Sprintf("No open space has %q and its owner as members: add both to one.", agent))
}
