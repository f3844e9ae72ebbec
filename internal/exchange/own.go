package exchange

import (
	"context"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// ActiveRuns returns the runs in a space that act for the caller and have not ended, the newest first and at most
// [shoal.MaxPage]. It fails if the caller may not read the space.
func ActiveRuns(ctx context.Context, h *hub.Hub, caller shoal.Principal, session shoal.SessionID, space shoal.SpaceID) (out []shoal.Run, err error) {
	all, err := h.Runs.List(ctx, caller, session, storage.RunFilter{Space: space, Status: runs.ActiveStatuses, Limit: shoal.MaxPage})
	for _, run := range all {
		if slices.Contains(run.ActingFor, caller.EntityID) {
			out = append(out, run)
		}
	}
	return out, err
}

// WantOwn shows the runs that act for the caller and have not ended, and those whose messages were in progress when
// the exchange was opened: they may have ended since.
func (x *Exchange) WantOwn(ctx context.Context) error {
	active, err := ActiveRuns(ctx, x.Hub, x.Who, x.Session, x.Space)
	if err != nil {
		return err
	}
	for _, run := range active {
		x.want(run)
	}
	for _, m := range x.Snapshot.Messages {
		if m.RunID == nil || m.Status != shoal.MessageStreaming {
			continue
		}
		run, err := x.Hub.Runs.Get(ctx, x.Who, x.Session, *m.RunID)
		if err != nil {
			return err
		}
		if x.actsForCaller(run) {
			x.want(run)
		}
	}
	return nil
}

// NewestOwn returns the newest message of the snapshot that the caller has posted. ok is false if it has none.
func (x *Exchange) NewestOwn() (m shoal.Message, ok bool) {
	for _, m := range slices.Backward(x.Snapshot.Messages) {
		if m.EntityID == x.Who.EntityID && m.RunID == nil {
			return m, true
		}
	}
	return m, false
}
