package tools

import (
	"context"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Threads returns the first page of the caller's open threads, as list_threads does.
func (s Set) Threads(ctx context.Context, c Caller) (any, error) {
	return s.threads(ctx, c, true, "")
}

// Me returns the entity that acts.
func (s Set) Me(ctx context.Context, c Caller) (any, error) {
	id, err := (&call{Set: s, Caller: c}).actor()
	if err != nil {
		return nil, err
	}
	return s.Hub.Entities.Get(ctx, c.Principal, c.Session, id)
}

// Thread returns a thread with its newest messages, as read_thread does.
func (s Set) Thread(ctx context.Context, c Caller, id shoal.SpaceID) (any, error) {
	space, err := s.Hub.Spaces.Get(ctx, c.Principal, c.Session, id)
	if err != nil {
		return nil, err
	}
	messages, err := s.Hub.Messages.Read(ctx, c.Principal, c.Session, id, storage.Page{Limit: shoal.DefaultPage})
	return reading{Space: space, Items: append([]shoal.Message{}, messages...)}, err
}
