package aisdkapi

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// maxHistory is how many messages of a space a client gets.
const maxHistory = 100

// history serves GET: the newest messages of the space as messages of the client. What agents have written in
// answer to a message of the caller is one message, with the id that its stream has.
func (c *call) history() error {
	ctx := c.r.Context()
	space, err := c.Hub.Spaces.GetWithMembers(ctx, c.caller, c.session, c.space)
	if err != nil {
		return err
	}
	messages, err := c.Hub.Messages.Read(ctx, c.caller, c.session, c.space, storage.Page{Limit: maxHistory})
	if err != nil {
		return err
	}
	all, err := c.Hub.Runs.List(ctx, c.caller, c.session, storage.RunFilter{Space: c.space, Limit: shoal.MaxPage})
	if err != nil {
		return err
	}
	waiting, err := c.Hub.Pending.List(ctx, c.caller, c.session, storage.PendingFilter{Space: c.space, Status: []shoal.PendingStatus{shoal.PendingOpen}, Limit: shoal.MaxPage})
	if err != nil {
		return err
	}
	h := newChat(c.caller.EntityID, space.Members, all)
	for _, m := range messages {
		h.add(m)
	}
	for _, w := range waiting {
		h.offer(w)
	}
	return c.write(h.messages())
}
