package client

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
)

// InboxOptions say what an inbox yields, as in [WaitRequest].
type InboxOptions struct {
	Kind  shoal.WaitKind
	Space shoal.SpaceID
	From  []shoal.EntityID
}

// Inbox reads the inbox of an entity in the common loop: take what is there, do
// what it asks for, come back.
//
//	inbox := session.Inbox("shop-agent", client.InboxOptions{})
//	for {
//		batch, err := inbox.Next(ctx)
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// A batch counts as acknowledged when Next is called again, or Ack. What a
// program did not come to acknowledge, its next inbox yields again, first and
// with a higher delivery count: so nothing is lost, and a message may be seen
// twice. An Inbox belongs to one goroutine.
type Inbox struct {
	session *Session
	entity  shoal.EntityID
	req     WaitRequest
}

// Inbox returns the inbox of an entity. It makes no call.
func (s *Session) Inbox(entity shoal.EntityID, o InboxOptions) *Inbox {
	// Until there is a cursor, the server could take this wait for the
	// acknowledgement of what an earlier program with the same key was given.
	req := WaitRequest{Kind: o.Kind, Space: o.Space, From: o.From, Redeliver: true}
	return &Inbox{session: s, entity: entity, req: req}
}

// Next acknowledges what it returned before, and blocks until there is
// something that is not acknowledged, or ctx ends. The result holds at least one
// message. After an error it may be called again.
func (b *Inbox) Next(ctx context.Context) (shoal.WaitResult, error) {
	w := waiting{session: b.session, entity: b.entity, req: b.req, forever: true}
	result, err := w.run(ctx)
	if err == nil && result.Cursor != nil {
		b.req.Ack, b.req.Redeliver = *result.Cursor, false
	}
	return result, named("client.Inbox.Next", err)
}

// Ack acknowledges the last result of Next, for programs that stop reading. It does not
// wait. Newer messages stay unread, but count one more delivery.
func (b *Inbox) Ack(ctx context.Context) error {
	if b.req.Ack == "" {
		return nil
	}
	w := waiting{session: b.session, entity: b.entity, req: b.req, ends: time.Now()}
	_, err := w.run(ctx)
	return named("client.Inbox.Ack", err)
}
