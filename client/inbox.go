package client

import (
	"context"
	"time"

	"github.com/shoal-dev/shoal"
)

// InboxOptions select the messages of an inbox, as in [WaitRequest].
type InboxOptions struct {
	Kind  shoal.WaitKind
	Space shoal.SpaceID
	From  []shoal.EntityID
}

// Inbox reads the inbox of an entity in a loop:
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
// The next call of Next, or Ack, acknowledges a batch. A message that was not acknowledged
// is returned again by the next Inbox, first and with a higher delivery count: no message
// is lost, and one may be returned twice. An Inbox belongs to one goroutine.
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

// Next acknowledges its previous result, and blocks until there are messages or ctx ends.
// The result has at least one message. After an error it may be called again.
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
