package httpapi

import (
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
	"github.com/shoal-dev/shoal/internal/hub"
)

func waitRoutes() []route {
	return []route{{
		method: http.MethodPost, path: entityPath + "/wait", do: wait, waits: true, id: "wait", tag: "Inbox",
		summary: "Wait for messages",
		about: "Answers what is unread in the entity's inbox: at once if there is anything, else as soon as something comes, else after `timeoutMs` " +
			"(30000 unless given, 0 to 600000) with `timedOut: true`. `kind` is `mentions` (also the system's messages) or `messages` (everything that others post). " +
			"Hand the answer's `cursor` back as `ack` to acknowledge exactly that. A caller that never does acknowledges an answer by waiting again, " +
			"unless the answer did not reach it whole or it says `redeliver`.",
		in: waitInput{}, example: `{"kind": "mentions", "timeoutMs": 30000}`, status: http.StatusOK, out: shoal.WaitResult{},
		errors: []shoal.Kind{shoal.EntityRequired, shoal.IdentityMismatch, shoal.Forbidden, shoal.TooManyWaiters},
	}}
}

// waitInput is a wait as clients ask for it. EntityID may repeat whose inbox it
// is.
type waitInput struct {
	Kind      shoal.WaitKind      `json:"kind"`
	TimeoutMs *input.Milliseconds `json:"timeoutMs,omitempty"`
	SpaceID   shoal.SpaceID       `json:"spaceId,omitempty"`
	From      []shoal.EntityID    `json:"from,omitempty"`
	Ack       string              `json:"ack,omitempty"`
	Redeliver bool                `json:"redeliver,omitempty"`
	EntityID  shoal.EntityID      `json:"entityId,omitempty"`
}

// wait answers at once or shortly, or goes on without its handler.
func wait(c *call) error {
	req, err := waitRequest(c)
	if err != nil {
		return err
	}
	while := shoal.MaxWait
	if c.Pool != nil {
		while = c.Pool.After()
	}
	delivery, on, err := c.Hub.Inbox.WaitShortly(c.ctx(), c.who, req, while)
	if on != nil {
		return c.detach(func(c *call) error {
			delivery, err := on.Wait(c.ctx())
			return answerWait(c, delivery, err)
		})
	}
	return answerWait(c, delivery, err)
}

// park lets a call go on where it needs little: on a goroutine of its own, which has its
// connection to itself. Where that cannot be, it goes on here.
func (c *call) detach(do func(*call) error) error {
	p, ok := c.Pool.Detach(c.w, c.r)
	if !ok {
		return do(c)
	}
	held := *c
	held.w, held.r = p, c.r.WithContext(p.Context())
	c.detached = true
	p.Go(func() {
		defer held.finish()
		if err := do(&held); err != nil {
			held.fail(err)
		}
	})
	return nil
}

// deliver answers a wait. The answer counts as read only if it was written
// whole.
func answerWait(c *call, d *hub.Delivery, err error) error {
	if err != nil {
		return err
	}
	if err := c.answer(http.StatusOK, d.Result); err != nil {
		return err
	}
	d.Written()
	return nil
}

// waitRequest reads what is waited for. It is apart from wait, which stands on
// the stack while the call is blocked: a stack of less than four kilobytes makes
// a blocked call eight kilobytes smaller.
func waitRequest(c *call) (*hub.WaitRequest, error) {
	defer c.dropBody()
	var in waitInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	req := &hub.WaitRequest{
		Session: c.session(), Entity: c.entity(), Kind: in.Kind, Timeout: shoal.DefaultWait,
		Space: in.SpaceID, From: in.From, Ack: in.Ack, Redeliver: in.Redeliver,
	}
	if in.TimeoutMs != nil {
		req.Timeout = time.Duration(*in.TimeoutMs)
	}
	return req, c.actor("entityId", in.EntityID)
}
