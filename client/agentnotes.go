package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// AgentMemories lists the memories of a hosted agent in the order of their creation. For
// admins and owners of the session.
func (s *Session) AgentMemories(ctx context.Context, id shoal.EntityID) iter.Seq2[shoal.Memory, error] {
	return list[shoal.Memory](ctx, s.client, call{op: "client.AgentMemories", path: s.path("agents", string(id), "memories")})
}

// DeleteAgentMemory deletes one memory of a hosted agent. For admins and owners of
// the session.
func (s *Session) DeleteAgentMemory(ctx context.Context, id shoal.EntityID, memory string) error {
	in := call{op: "client.DeleteAgentMemory", method: http.MethodDelete, path: s.path("agents", string(id), "memories", memory), once: true}
	return s.client.do(ctx, in, nil)
}

// ClearAgentMemories deletes all memories of a hosted agent. For admins and owners of
// the session.
func (s *Session) ClearAgentMemories(ctx context.Context, id shoal.EntityID) error {
	in := call{op: "client.ClearAgentMemories", method: http.MethodDelete, path: s.path("agents", string(id), "memories"), once: true}
	return s.client.do(ctx, in, nil)
}

// AgentGoals lists the goals of a hosted agent in the order of their creation, including
// completed ones. For admins and owners of the session.
func (s *Session) AgentGoals(ctx context.Context, id shoal.EntityID) iter.Seq2[shoal.Goal, error] {
	return list[shoal.Goal](ctx, s.client, call{op: "client.AgentGoals", path: s.path("agents", string(id), "goals")})
}

// DeleteAgentGoal deletes one goal of a hosted agent. For admins and owners of the
// session.
func (s *Session) DeleteAgentGoal(ctx context.Context, id shoal.EntityID, goal string) error {
	in := call{op: "client.DeleteAgentGoal", method: http.MethodDelete, path: s.path("agents", string(id), "goals", goal), once: true}
	return s.client.do(ctx, in, nil)
}

// ClearAgentGoals deletes all goals of a hosted agent. For admins and owners of the
// session.
func (s *Session) ClearAgentGoals(ctx context.Context, id shoal.EntityID) error {
	in := call{op: "client.ClearAgentGoals", method: http.MethodDelete, path: s.path("agents", string(id), "goals"), once: true}
	return s.client.do(ctx, in, nil)
}
