package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// Runners lists the machines on which coding agents of the session run, in the order of their ids.
// For admins and owners of the session.
func (s *Session) Runners(ctx context.Context) iter.Seq2[shoal.Runner, error] {
	return list[shoal.Runner](ctx, s.client, call{op: "client.Runners", path: s.path("runners")})
}

// ReportRunner says that an agent runs on a machine, and what it may do there. Call it three times in
// each [shoal.RunnerWindow]. For the agent itself and admins.
func (s *Session) ReportRunner(ctx context.Context, id shoal.RunnerID, agent shoal.EntityID, r shoal.RunnerReport) error {
	in := call{op: "client.ReportRunner", method: http.MethodPut, path: s.path("runners", string(id), "agents", string(agent)), body: r}
	return s.client.do(ctx, in, nil)
}

// RemoveRunner revokes the keys of a machine, which ends what its agents do there, and forgets it. For
// admins and owners of the session.
func (s *Session) RemoveRunner(ctx context.Context, id shoal.RunnerID) error {
	in := call{op: "client.RemoveRunner", method: http.MethodDelete, path: s.path("runners", string(id)), once: true}
	return s.client.do(ctx, in, nil)
}
