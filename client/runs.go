package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// RunsOptions filter a list of runs. Status contains the accepted states. Space selects the
// runs that a message of that space started, or that wrote to it. Since and Until limit the
// time of creation; Until is excluded.
type RunsOptions struct {
	Agent        shoal.EntityID
	Status       []shoal.RunStatus
	Trigger      shoal.TriggerType
	Space        shoal.SpaceID
	Since, Until *shoal.Time
}

// Runs lists the runs that the caller may see, the newest first.
func (s *Session) Runs(ctx context.Context, o RunsOptions) iter.Seq2[shoal.Run, error] {
	q := filters(map[string]string{
		"agent": string(o.Agent), "status": joined(o.Status), "trigger": string(o.Trigger), "space": string(o.Space),
		"since": timeOrNone(o.Since), "until": timeOrNone(o.Until),
	})
	return list[shoal.Run](ctx, s.client, call{op: "client.Runs", path: s.path("runs"), query: q})
}

// joined lists words for a parameter.
func joined[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = string(word)
	}
	return strings.Join(out, ",")
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

// CancelRun cancels a run and returns it when it has ended, or its current state after a
// few seconds. An ended run is returned unchanged.
func (s *Session) CancelRun(ctx context.Context, id shoal.RunID) (out shoal.Run, err error) {
	in := call{op: "client.CancelRun", method: http.MethodPost, path: s.path("runs", string(id), "cancel")}
	return out, s.client.do(ctx, in, &out)
}

// ModelRequest returns the request to the model for one step of a run; steps count from 0.
// It fails with NotFound if the step does not exist or its request is not stored. Services
// and admins only.
func (s *Session) ModelRequest(ctx context.Context, id shoal.RunID, step int) (out shoal.ModelRequest, err error) {
	in := call{op: "client.ModelRequest", path: s.path("runs", string(id), "steps", strconv.Itoa(step), "request")}
	return out, s.client.do(ctx, in, &out)
}

// RetryRun starts one new run of the same agent with the trigger of an ended run, even if
// the call is retried. It fails with Conflict if the run has not ended, or if its agent
// cannot run any more.
func (s *Session) RetryRun(ctx context.Context, id shoal.RunID, options ...CallOption) (started TriggeredRun, err error) {
	in := call{op: "client.RetryRun", path: s.path("runs", string(id), "retry")}
	return started, s.client.create(ctx, in, &started, options)
}
