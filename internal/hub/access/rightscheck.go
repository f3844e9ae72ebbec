package access

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// checkRights ends the open calls whose rights no longer exist in the store.
func (k *Keys) checkRights(ctx context.Context) error {
	held := k.core.Calls.HeldRights()
	if len(held.Sessions) == 0 {
		return nil
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, core.RecheckLimit)
	defer cancel()
	var ended storage.HeldRights
	err := k.core.Store.ViewFirst(ctx, func(tx storage.Tx) (err error) {
		ended, err = tx.EndedRights(held, shoal.Time{Time: start})
		return err
	})
	if err != nil {
		return err
	}
	if len(ended.Keys)+len(ended.Entities)+len(ended.Roles)+len(ended.Sessions) > 0 {
		k.core.Revocations.Add(1)
		k.endCalls(ended)
	}
	k.core.Calls.MarkChecked(start)
	return nil
}

// endCalls ends the calls that depend on the given rights, and those of the widest rights
// first.
func (k *Keys) endCalls(ended storage.HeldRights) {
	for _, session := range ended.Sessions {
		k.core.Calls.EndSession(session)
	}
	for _, e := range ended.Entities {
		k.core.Calls.EndEntity(e.Session, e.ID)
	}
	for _, r := range ended.Roles {
		k.core.Calls.EndHeldRole(r)
	}
	for _, id := range ended.Keys {
		k.core.Calls.EndKey(id)
	}
}

// endUnchecked ends the open calls whose rights could not be read for too long.
func (k *Keys) endUnchecked(context.Context) error {
	if n := k.core.Calls.EndUnchecked(time.Now().Add(-core.RecheckLimit)); n > 0 {
		k.core.Log.Error("open calls were ended because their rights could not be read for too long", "calls", n, "limit", core.RecheckLimit)
	}
	return nil
}

// Watch calls ended, once and from any goroutine, when the principal loses its right to an
// open call in the session on any server, or the right could not be read for five seconds. ended must
// not block. The caller must call stop.
func (k *Keys) Watch(caller shoal.Principal, session shoal.SessionID, ended func(error)) (stop func()) {
	x := k.core.Calls.EnterWith(caller, session, core.OwnEntity(caller), ended)
	return func() { k.core.Calls.Leave(x) }
}

// While returns a context that ends, with the reason as its cause, when the principal loses its right
// to an open call in the session. The caller must call stop.
func (k *Keys) While(ctx context.Context, caller shoal.Principal, session shoal.SessionID) (held context.Context, stop func()) {
	held, cancel := context.WithCancelCause(ctx)
	leave := k.Watch(caller, session, func(err error) { cancel(err) })
	return held, func() {
		leave()
		cancel(nil)
	}
}

// Start starts the tasks that end open calls whose rights have ended. They end when the hub
// stops.
func (k *Keys) Start() {
	k.core.Go(k.watchRights)
	k.core.Go(func(ctx context.Context) { k.core.Repeat(ctx, time.Second, "unchecked rights", k.endUnchecked) })
}

// watchRights checks the rights of open calls at an interval, and when another server says that
// rights have ended, until ctx ends.
func (k *Keys) watchRights(ctx context.Context) {
	const what = "rights of open calls"
	if !k.core.Bus.Shared() {
		k.core.Repeat(ctx, core.RecheckEvery, what, k.checkRights)
		return
	}
	sub := k.core.Bus.Subscribe()
	defer sub.Close()
	sub.Add(core.RightsTopic)
	k.core.RepeatOn(ctx, core.RecheckEvery, sub.Ready(), what, func(ctx context.Context) error {
		if len(sub.Take()) > 0 {
			k.core.Revocations.Add(1)
		}
		return k.checkRights(ctx)
	})
}
