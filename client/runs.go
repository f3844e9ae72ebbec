package client

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/shoal-dev/shoal"
)

// RunsOptions narrow a list of runs, if set. Status are the states of which a run
// is in one; Space keeps the runs that a message of that space started, or that
// wrote to it.
type RunsOptions struct {
	Agent  shoal.EntityID
	Status []shoal.RunStatus
	Space  shoal.SpaceID
}

// Runs lists the runs that the caller may see, the newest first.
func (s *Session) Runs(ctx context.Context, o RunsOptions) iter.Seq2[shoal.Run, error] {
	states := make([]string, len(o.Status))
	for i, status := range o.Status {
		states[i] = string(status)
	}
	q := filters(map[string]string{"agent": string(o.Agent), "status": strings.Join(states, ","), "space": string(o.Space)})
	return list[shoal.Run](ctx, s.client, call{op: "client.Runs", path: s.path("runs"), query: q})
}

// Run returns one run. NotFound for one that the caller may not see.
func (s *Session) Run(ctx context.Context, id shoal.RunID) (out shoal.Run, err error) {
	return out, s.client.do(ctx, call{op: "client.Run", path: s.path("runs", string(id))}, &out)
}

// Steps lists the steps of a run in order, with what the model said in them.
// Services and admins only.
func (s *Session) Steps(ctx context.Context, id shoal.RunID) iter.Seq2[shoal.Step, error] {
	return list[shoal.Step](ctx, s.client, call{op: "client.Steps", path: s.path("runs", string(id), "steps")})
}

// CancelRun ends a run and returns it once it has ended, or as it is after a few
// seconds. One that has ended is returned as it is.
func (s *Session) CancelRun(ctx context.Context, id shoal.RunID) (out shoal.Run, err error) {
	in := call{op: "client.CancelRun", method: http.MethodPost, path: s.path("runs", string(id), "cancel")}
	return out, s.client.do(ctx, in, &out)
}
