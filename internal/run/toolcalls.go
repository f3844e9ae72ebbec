package run

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
	"github.com/shoal-dev/shoal/internal/tool"
)

// refusals are the results of calls that name a space and were not executed.
var refusals = map[compose.Refusal]string{
	compose.RefusedNotMember: "Error: you are not a member of this space, or it does not exist; use the id of a space that you are in.",
	compose.RefusedClosed:    "Error: this space is closed; you cannot write there any more.",
	compose.RefusedTarget:    "Error: targetEntityId is not a member of this space; name one of its members, or leave it out.",
	compose.RefusedMention:   "Error: mention is not a member of this space, so nothing was sent; mention one of its members, or leave it out.",
	compose.RefusedSpace:     "Error: the id of the space is missing or invalid; use the id of a space that you are in.",
	compose.RefusedEmpty:     "Error: text is empty; nothing was sent.",
	compose.RefusedTooLarge:  "Error: this is too large for one message; send it in several.",
	compose.RefusedMalformed: "Error: the arguments are not JSON; write one JSON object.",
}

// beforeTools blocks calls of a step that must not be executed.
func (x *execution) beforeTools(ctx context.Context, batch *agent.Batch) error {
	defer x.compose()()
	for _, call := range batch.Calls {
		status, why, err := x.mayCall(ctx, call)
		if err != nil {
			x.failTurn(err)
			return err
		}
		if why != "" {
			batch.Block(call.ID, status, why)
		}
	}
	return nil
}

// mayCall returns why a call must not be executed, empty if it may.
func (x *execution) mayCall(ctx context.Context, call agent.ToolCall) (agent.ResultStatus, string, error) {
	route, shows := x.composer.Route(call.ID)
	if shows && route.Refusal != "" {
		return agent.ResultFailed, refusals[route.Refusal], nil
	}
	if shows && route.Mention != "" && route.Space != "" {
		member := false
		err := x.read(ctx, func(tx storage.Tx) (err error) {
			member, err = tx.IsMember(x.run.SessionID, route.Space, route.Mention)
			return err
		})
		if err != nil {
			return "", "", err
		}
		if !member {
			return agent.ResultFailed, refusals[compose.RefusedMention], x.perform(x.composer.Refuse(call.ID, compose.RefusedMention), nil)
		}
	}
	if call.Name == spacetool.SendTool {
		_, err := spacetool.ParseSend(call.Arguments)
		return agent.ResultInvalid, forModel(err), nil
	}
	t := x.findTool(x.agentName(), call.Name)
	if t == nil || t.Kind() == tool.Here {
		return "", "", nil // the tool checks its arguments
	}
	_, arguments, err := t.Strip(call.Arguments)
	if err == nil {
		err = t.Check(arguments)
	}
	if err == nil && t.Kind() == tool.Clock {
		_, err = t.Wait(call.Arguments)
	}
	return agent.ResultInvalid, forModel(err), nil
}

// forModel returns the text of an error as the model reads it.
func forModel(err error) string {
	var e *shoal.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && e.Msg != "":
		return "Error: " + e.Msg
	}
	return "Error: " + err.Error()
}

// answer sends a message that waits for no reply at once. All other requests are answered
// through the hub.
func (x *execution) answer(_ context.Context, p agent.Pending) (agent.Answer, bool) {
	if p.Kind != agent.ClientCall || p.Call.Name != spacetool.SendTool || p.Conversation != string(x.run.ID) {
		return agent.Answer{}, false // also requests of sub-agents, from other goroutines
	}
	var a agent.Answer
	var done bool
	var err error
	x.timings.TimeCall(p.Call.ID, func() bool {
		a, done, err = x.send(p)
		return done
	})
	if err != nil {
		x.failTurn(err)
	}
	return a, done && err == nil
}

// failTurn ends the turn because a write failed.
func (x *execution) failTurn(err error) {
	x.storeFailure = &brokenError{err}
	x.cancel(x.storeFailure)
}

// send accepts the message of a call. done is false for a call that waits for a reply.
func (x *execution) send(p agent.Pending) (a agent.Answer, done bool, err error) {
	s, err := spacetool.ParseSend(p.Call.Arguments)
	if err != nil {
		return agent.Answer{Text: forModel(err), Failed: true}, true, nil
	}
	defer x.compose()()
	route, _ := x.composer.Route(p.Call.ID)
	message, accepted := x.shown[p.Call.ID]
	if route.Place != nil {
		message, accepted = route.Place.Message, true
	}
	if !accepted || x.output.Unopened[message] {
		why := refusals[route.Refusal]
		if why == "" {
			why = refusals[compose.RefusedClosed]
		}
		return agent.Answer{Text: why, Failed: true}, true, nil
	}
	effects := x.composer.Accept(p.Call.ID)
	if s.Wait == nil {
		return agent.Answer{Text: spacetool.SendResult(message, nil, false, false)}, true, x.perform(effects, nil)
	}
	row := x.pendingRow(p, storage.PendingReply)
	due := shoal.At(shoal.Now().Add(s.Wait.Timeout))
	row.Due = &due
	row.Reply = &storage.ReplyWait{Space: s.SpaceID, After: x.output.Messages[message].Seq, For: s.Wait.For}
	return a, false, x.perform(effects, func(c *runs.RunChange) error {
		_, err := c.OpenPending(row)
		return err
	})
}

// replyResult returns the result of a call that waited for a reply.
func (x *execution) replyResult(p agent.Pending, row storage.Pending) string {
	reply, err := decodeReply(row)
	if err != nil {
		x.log.Error("a reply cannot be decoded", "pending", row.ID, "error", err)
	}
	return spacetool.SendResult(x.shown[p.Call.ID], reply, true, reply == nil)
}
