package hub

import (
	"context"
	"encoding/json"

	"github.com/shoal-dev/shoal"
)

// Runs starts, shows and cancels runs.
type Runs struct{ *core }

// Trigger starts a run of a hosted agent for a service. Services and admins only;
// InvalidArgument for an agent that is not hosted.
func (r *Runs) Trigger(ctx context.Context, who shoal.Principal, session shoal.SessionID, agent shoal.EntityID, service string, payload json.RawMessage, idempotencyKey string) (shoal.Run, error) {
	panic("not built")
}

// Get returns a run that the caller may see: services and admins all, an entity
// those that its spaces show.
func (r *Runs) Get(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.RunID) (shoal.Run, error) {
	panic("not built")
}

// List returns runs that the caller may see, the newest first.
func (r *Runs) List(ctx context.Context, who shoal.Principal, session shoal.SessionID, filter RunFilter) ([]shoal.Run, error) {
	panic("not built")
}

// Steps returns the steps of a run in order. Services and admins only.
func (r *Runs) Steps(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.RunID) ([]shoal.Step, error) {
	panic("not built")
}

// Cancel ends a run that the caller may see, and returns it once it has ended, or
// as it is after a few seconds. One that has ended is returned as it is.
func (r *Runs) Cancel(ctx context.Context, who shoal.Principal, session shoal.SessionID, id shoal.RunID) (shoal.Run, error) {
	panic("not built")
}
