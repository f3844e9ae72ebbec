package httpapi

import (
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/fields"
	"github.com/shoal-dev/shoal/internal/httpapi/input"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
)

const resumedPath = entityPath + "/resumed"

func waitRoutes() []route {
	return []route{{
		method: http.MethodPost, path: entityPath + "/wait", do: wait, waits: true, unseen: true, id: "wait", tag: "Inbox",
		summary: "Wait for messages",
		about: "Returns what is unread in the entity's inbox: at once if there is anything, else as soon as something arrives, else after `timeoutMs` " +
			"(0 to 600000, 30000 by default) with `timedOut: true`. `kind` is `mentions` (including messages of the system) or `messages` (everything that others post). " +
			"Send the `cursor` of the result as `ack` to acknowledge exactly these messages. A caller that sends no `ack` acknowledges a result by waiting again, " +
			"unless the response did not reach it completely or it sends `redeliver`. " +
			"A program that waits in order to wake a model sends `adapter`: its wait does not make the entity look present, acknowledges only what `ack` names, " +
			"and returns nothing while the entity itself waits.",
		in: waitInput{}, example: `{"kind": "mentions", "timeoutMs": 30000}`, status: http.StatusOK, out: shoal.WaitResult{},
		errors: []shoal.Kind{shoal.EntityRequired, shoal.IdentityMismatch, shoal.Forbidden, shoal.TooManyWaiters},
	}, {
		method: http.MethodPost, path: resumedPath, do: markResumed, id: "markResumed", tag: "Inbox",
		summary: "Acknowledge messages that a model has",
		about: "Acknowledges exactly the messages of the wait that returned `cursor`, as the `ack` of a wait does, without waiting again. " +
			"It is for programs that wait for a model and know when it starts to work on the messages: their receipts are then `resumed`. From then on the key acknowledges explicitly.",
		in: resumedInput{}, example: `{"cursor": "w:7f3a90c2d4e1b586:Saa-zfjf_E5g:15:2k:mentions::"}`,
		status: http.StatusNoContent, errors: []shoal.Kind{shoal.EntityRequired, shoal.IdentityMismatch, shoal.Forbidden},
	}}
}

// waitInput is the body of a wait. EntityID is optional and must be the entity of the path.
type waitInput struct {
	Kind      shoal.WaitKind      `json:"kind"`
	TimeoutMs *input.Milliseconds `json:"timeoutMs,omitempty"`
	SpaceID   shoal.SpaceID       `json:"spaceId,omitempty"`
	From      []shoal.EntityID    `json:"from,omitempty"`
	Ack       string              `json:"ack,omitempty"`
	Redeliver bool                `json:"redeliver,omitempty"`
	Adapter   *shoal.WaitAdapter  `json:"adapter,omitempty"`
	EntityID  shoal.EntityID      `json:"entityId,omitempty"`
}

// wait responds within the time that Pool allows, or continues detached from its handler.
func wait(c *call) error {
	req, err := waitRequest(c)
	if err != nil {
		return err
	}
	delivery, on, err := c.Hub.Inbox.WaitShortly(c.ctx(), c.caller, req, c.Pool.After())
	if on != nil {
		return c.detach(func(c *call) error {
			delivery, err := on.Wait(c.ctx())
			return answerWait(c, delivery, err)
		})
	}
	return answerWait(c, delivery, err)
}

// detach continues a call in a goroutine of the pool, which owns the connection and needs little
// memory. If the connection cannot be detached, the call continues here.
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

// answerWait responds to a wait. The delivery counts only if the response was written
// completely.
func answerWait(c *call, d *inbox.Delivery, err error) error {
	if err != nil {
		return err
	}
	err = c.answer(http.StatusOK, d.Result)
	d.Settle(err == nil)
	return err
}

// waitRequest decodes the request. It is separate from wait, whose frame is on the stack while
// the call is blocked: a stack below 4 KiB saves 8 KiB per blocked call.
func waitRequest(c *call) (*inbox.WaitRequest, error) {
	defer c.dropBody()
	var in waitInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	req := &inbox.WaitRequest{
		Session: c.session(), Entity: c.entity(), Kind: in.Kind, Timeout: shoal.DefaultWait,
		Space: in.SpaceID, From: in.From, Ack: in.Ack, Redeliver: in.Redeliver, Adapter: in.Adapter,
	}
	if in.Adapter == nil {
		c.recordPresence()
	}
	if in.TimeoutMs != nil {
		req.Timeout = time.Duration(*in.TimeoutMs)
	}
	return req, c.actor("entityId", in.EntityID)
}

// resumedInput is the body of an acknowledgment without a wait.
type resumedInput struct {
	Cursor string `json:"cursor"`
}

func markResumed(c *call) error {
	var in resumedInput
	if err := c.decode(&in); err != nil {
		return err
	}
	return c.noContentOr(fields.Rename(c.Hub.Inbox.Resumed(c.ctx(), c.caller, c.session(), c.entity(), in.Cursor), "ack", "cursor"))
}
