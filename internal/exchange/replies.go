package exchange

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// awaited returns the runs that wait for a reply of the caller in the space.
func (x *Exchange) awaited(ctx context.Context) (out []shoal.Run, err error) {
	runs, err := x.Hub.Runs.List(ctx, x.Who, x.Session, storage.RunFilter{Space: x.Space, Status: []shoal.RunStatus{shoal.RunWaitingReply}, Limit: shoal.MaxPage})
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		waits, err := x.waitsForReply(ctx, run)
		if err != nil {
			return nil, err
		}
		if waits {
			out = append(out, run)
		}
	}
	return out, nil
}

// waitsForReply reports whether a run waits for a message of the caller in the space.
func (x *Exchange) waitsForReply(ctx context.Context, run shoal.Run) (bool, error) {
	if run.Status != shoal.RunWaitingReply || run.WaitingFor == nil || run.WaitingFor.SpaceID == nil || *run.WaitingFor.SpaceID != x.Space {
		return false, nil
	}
	for _, from := range run.WaitingFor.From {
		if from.EntityID != nil && *from.EntityID == x.Who.EntityID || from.Type == "any" {
			return true, nil
		}
		if from.EntityID != nil {
			continue
		}
		kind, err := x.callerKind(ctx)
		if err != nil || from.Type == string(kind) {
			return err == nil, err
		}
	}
	return false, nil
}

// callerKind returns what the caller is, which is read once.
func (x *Exchange) callerKind(ctx context.Context) (shoal.EntityKind, error) {
	if x.kind == "" {
		e, err := x.Hub.Entities.Get(ctx, x.Who, x.Session, x.Who.EntityID)
		if err != nil {
			return "", err
		}
		x.kind = e.Kind
	}
	return x.kind, nil
}
