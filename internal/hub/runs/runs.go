package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/behalf"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/naming"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Runs starts, reads and cancels runs.
type Runs struct{ core *core.Core }

// NewRuns returns the runs of a hub.
func NewRuns(c *core.Core) *Runs { return &Runs{c} }

// Trigger starts a run of a hosted agent for a service. It requires a service or an admin,
// and fails with InvalidArgument for an agent that is not hosted.
func (r *Runs) Trigger(ctx context.Context, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, service string, payload json.RawMessage, idempotencyKey string) (out shoal.Run, err error) {
	const op = "hub.Runs.Trigger"
	if err := errors.Join(core.Authorize(caller, session, roles.TriggerRun), shoal.CheckTrigger(service, payload), naming.CheckReserved("serviceName", service), core.CheckIdempotencyKey(idempotencyKey)); err != nil {
		return out, core.Wrap(op, core.FirstError(err))
	}
	if len(payload) == 0 {
		payload = json.RawMessage("null")
	}
	type input struct {
		Agent   shoal.EntityID
		Service string
		Payload json.RawMessage
	}
	err = r.core.Change(ctx, op, storage.In(session), func(ch *core.Change) (err error) {
		out, _, err = core.Once(ch, caller, session, op, idempotencyKey, input{agent, service, payload}, func() (shoal.Run, error) {
			return startServiceRun(ch, caller, session, agent, service, payload)
		})
		return err
	})
	return out, err
}

func startServiceRun(ch *core.Change, caller shoal.Principal, session shoal.SessionID, agent shoal.EntityID, service string, payload json.RawMessage) (shoal.Run, error) {
	if err := core.RequireOpenSession(ch, session); err != nil {
		return shoal.Run{}, err
	}
	if _, err := core.FindEntity(ch, session, agent); err != nil {
		return shoal.Run{}, err
	}
	as, err := ch.HostedAgent(session, agent)
	if errors.Is(err, shoal.NotFound) {
		err = shoal.E("", shoal.InvalidArgument, fmt.Sprintf("%q is not a hosted agent, so the server cannot run it. Give it a configuration, or write to it in a space.", agent))
	}
	if err != nil {
		return shoal.Run{}, err
	}
	now, err := ch.Now()
	if err != nil {
		return shoal.Run{}, err
	}
	run, err := StartRequest{
		Session: session, Agent: agent, requester: service,
		Trigger: shoal.Trigger{Type: shoal.ServiceTrigger, ServiceName: service, Payload: payload},
		cause:   storage.Cause{ActingFor: behalf.Join([]shoal.EntityID{behalf.Service(service), caller.EntityID})},
	}.create(ch, as, now, false)
	return run.Run, err
}

// Get returns a run that the caller may see: services and admins see all runs, an entity
// those that its spaces show. An entity gets it without the content of spaces that it is
// not in and without the pending actions of others.
func (r *Runs) Get(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID) (out shoal.Run, err error) {
	if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
		return out, core.Wrap("hub.Runs.Get", err)
	}
	return r.get(ctx, caller, session, id)
}

// get is Get for a caller whose right to read the run has been checked.
func (r *Runs) get(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID) (out shoal.Run, err error) {
	err = r.core.View(ctx, "hub.Runs.Get", func(tx storage.Tx) error {
		found, err := core.VisibleRun(tx, caller, session, id)
		if err != nil {
			return err
		}
		out, err = (&runReader{Tx: tx, caller: caller, session: session}).view(found)
		return err
	})
	return out, err
}

// runReader reads runs for one caller.
type runReader struct {
	storage.Tx
	caller      shoal.Principal
	session     shoal.SessionID
	memberships map[shoal.SpaceID]bool
	queueHeads  map[conversationKey]*shoal.RunID // the runs that queued runs wait for
}

// canRead reports whether the reader may read a space: a member may, and services and
// admins always.
func (r *runReader) canRead(space shoal.SpaceID) (bool, error) {
	if core.ReaderEntity(r.caller) == "" {
		return scopes.AllowSpace(r.caller.Scopes, space), nil
	}
	if space == "" || !scopes.AllowSpace(r.caller.Scopes, space) {
		return false, nil
	}
	if is, known := r.memberships[space]; known {
		return is, nil
	}
	is, err := r.IsMember(r.session, space, r.caller.EntityID)
	if r.memberships == nil {
		r.memberships = map[shoal.SpaceID]bool{}
	}
	r.memberships[space] = is
	return is, err
}

// view returns a run as the reader may see it, with what it waits for.
func (r *runReader) view(found storage.Run) (shoal.Run, error) {
	inside, err := r.canRead(found.Space)
	if err != nil {
		return found.Run, err
	}
	out := RedactRun(found.Run, inside)
	out.PendingToolCalls, out.WaitingForProgram = []shoal.PendingToolCall{}, waitsForProgram(found)
	if out.QueuedBehind, err = r.queuedBehind(found); err != nil {
		return out, err
	}
	if !out.Status.Suspended() {
		return out, nil
	}
	rows, err := r.PendingOf(r.session, out.ID)
	if err != nil {
		return out, err
	}
	if out.WaitingFor, err = r.waitingFor(rows); err != nil {
		return out, err
	}
	out.PendingToolCalls = PendingCalls(rows, func(p storage.Pending) bool {
		if core.ReaderEntity(r.caller) == "" {
			return true
		}
		is := false
		if p.SpaceID != nil {
			var failed error
			is, failed = r.canRead(*p.SpaceID)
			err = errors.Join(err, failed)
		}
		return is && (p.Target == "" || p.Target == r.caller.EntityID)
	})
	return out, err
}

// waitingFor returns the reply or the time that a run waits for, as the reader may see it.
func (r *runReader) waitingFor(rows []storage.Pending) (*shoal.ReplyWait, error) {
	wait := findReplyWait(rows)
	if wait == nil || wait.SpaceID == nil {
		return wait, nil
	}
	is, err := r.canRead(*wait.SpaceID)
	if err != nil || !is {
		return nil, err
	}
	return wait, nil
}

// queuedBehind returns the run that a queued run waits for. It is read once for all runs of
// an agent in a space.
func (r *runReader) queuedBehind(found storage.Run) (*shoal.RunID, error) {
	if !IsWaitingInQueue(found) || found.Space == "" {
		return nil, nil
	}
	key := conversationKey{found.AgentID, found.Space}
	if id, known := r.queueHeads[key]; known {
		return id, nil
	}
	if err := fillQueuedBehind(r.Tx, &found); err != nil {
		return nil, err
	}
	if r.queueHeads == nil {
		r.queueHeads = map[conversationKey]*shoal.RunID{}
	}
	r.queueHeads[key] = found.QueuedBehind
	return found.QueuedBehind, nil
}

// conversationKey identifies an agent in a space.
type conversationKey struct {
	agent shoal.EntityID
	space shoal.SpaceID
}

// List returns runs that the caller may see, the newest first.
func (r *Runs) List(ctx context.Context, caller shoal.Principal, session shoal.SessionID, filter storage.RunFilter) (out []shoal.Run, err error) {
	err = r.core.View(ctx, "hub.Runs.List", func(tx storage.Tx) error {
		if err := core.Authorize(caller, session, roles.ReadSession); err != nil {
			return err
		}
		if _, err := core.FindSession(tx, session); err != nil {
			return err
		}
		if filter.Agent != "" && !core.ValidID(filter.Agent) {
			return core.EntityNotFound(filter.Agent)
		}
		if filter.Space != "" {
			if _, err := core.ReadableSpace(tx, caller, session, filter.Space); err != nil {
				return err
			}
		} else if err := scopes.Session(caller.Scopes); err != nil {
			return err
		}
		filter.Reader = core.ReaderEntity(caller)
		found, err := tx.Runs(session, filter)
		if err != nil {
			return err
		}
		reader := &runReader{Tx: tx, caller: caller, session: session}
		out = make([]shoal.Run, len(found))
		for i, f := range found {
			if out[i], err = reader.view(f); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// Steps returns the steps of a run in order. It requires a service or an admin.
func (r *Runs) Steps(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID) (out []shoal.Step, err error) {
	const op = "hub.Runs.Steps"
	if err := core.Authorize(caller, session, roles.ReadModels); err != nil {
		return nil, core.Wrap(op, err)
	}
	err = r.core.View(ctx, op, func(tx storage.Tx) error {
		if _, err := core.VisibleRun(tx, caller, session, id); err != nil {
			return err
		}
		out, err = StepsOf(tx, session, id)
		return err
	})
	return out, err
}

// CancelWithin is how long Cancel waits for the end of the run.
const CancelWithin = 3 * time.Second

// Cancel cancels a run that the caller may see. It returns the run once it has ended, or in
// its current state after CancelWithin. A run that has already ended is returned unchanged.
func (r *Runs) Cancel(ctx context.Context, caller shoal.Principal, session shoal.SessionID, id shoal.RunID) (out shoal.Run, err error) {
	const op = "hub.Runs.Cancel"
	sub := r.core.Bus.Subscribe()
	defer sub.Close()
	if core.ValidID(id) {
		sub.Add(core.RunTopic(session, id))
	}
	err = r.core.Change(ctx, op, storage.In(session), func(ch *core.Change) error {
		if err := core.Authorize(caller, session, roles.ControlRun); err != nil {
			return err
		}
		found, err := core.VisibleRun(ch, caller, session, id)
		if err != nil {
			return err
		}
		_, err = CancelRun(ch, found)
		return err
	})
	if err != nil {
		return out, err
	}
	timer := time.NewTimer(CancelWithin)
	defer timer.Stop()
	for {
		if out, err = r.get(ctx, caller, session, id); err != nil || out.Status.Ended() {
			return out, err
		}
		select {
		case <-sub.Ready():
			sub.Take()
		case <-timer.C:
			return out, nil
		case <-r.core.Ctx.Done():
			return out, nil
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
}
