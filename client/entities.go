package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/shoal-dev/shoal"
)

// Entities lists the entities of the session, in the order of ids.
func (s *Session) Entities(ctx context.Context) iter.Seq2[shoal.Entity, error] {
	return list[shoal.Entity](ctx, s.client, call{op: "client.Entities", path: s.path("entities")})
}

// Entity returns one entity with its current state.
func (s *Session) Entity(ctx context.Context, id shoal.EntityID) (out shoal.Entity, err error) {
	return out, s.client.do(ctx, call{op: "client.Entity", path: s.path("entities", string(id))}, &out)
}

// CreateEntity creates an entity. It fails with AlreadyExists if the id is in use or was
// used before.
func (s *Session) CreateEntity(ctx context.Context, n shoal.NewEntity, options ...CallOption) (made shoal.Entity, err error) {
	in := call{op: "client.CreateEntity", path: s.path("entities"), body: n}
	return made, s.client.create(ctx, in, &made, options)
}

// ChangeEntity changes an entity and returns it.
func (s *Session) ChangeEntity(ctx context.Context, id shoal.EntityID, change shoal.EntityChange) (out shoal.Entity, err error) {
	in := call{op: "client.ChangeEntity", method: http.MethodPatch, path: s.path("entities", string(id)), body: change}
	return out, s.client.do(ctx, in, &out)
}

// EraseEntity deletes an entity and erases its name, its messages, files and answers, and the copies of
// them; tombstones remain at the positions of its messages. An erasure of many messages takes minutes;
// it continues if ctx ends, and after Conflict. For admins and owners of the session.
func (s *Session) EraseEntity(ctx context.Context, id shoal.EntityID) error {
	in := call{op: "client.EraseEntity", method: http.MethodPost, path: s.path("entities", string(id), "erase")}
	return s.client.do(ctx, in, nil)
}

// DeleteEntity removes an entity and revokes its keys; its messages stay.
func (s *Session) DeleteEntity(ctx context.Context, id shoal.EntityID) error {
	in := call{op: "client.DeleteEntity", method: http.MethodDelete, path: s.path("entities", string(id)), once: true}
	return s.client.do(ctx, in, nil)
}
