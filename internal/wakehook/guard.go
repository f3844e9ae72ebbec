package wakehook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// guardWithin is how long the end of a turn may be checked. A check that fails asks for nothing.
const guardWithin = 5 * time.Second

// mentionsIn returns the last mention of each space that can be answered.
func mentionsIn(items []shoal.WaitItem) (out []unanswered) {
	for _, item := range items {
		if item.Space.Status == shoal.SpaceStatusClosed {
			continue
		}
		for _, m := range slices.Backward(item.Messages) {
			if m.Reason == shoal.ReasonMention && m.EntityID != shoal.System && m.DeletedAt == nil {
				out = append(out, unanswered{Space: item.Space.ID, Message: m.ID, Seq: m.Seq, From: m.EntityID})
				break
			}
		}
	}
	return out
}

// guard asks the model once for the answers to the mentions that it has got in the turn that has ended, if
// it has neither posted in their spaces nor reacted to them: what it writes in its terminal is seen
// there only. If that cannot be found out, the end of the next turn is another chance.
func (h *hook) guard(ctx context.Context) (asked bool) {
	read, err := h.state.takeRead()
	if err != nil || len(read) == 0 {
		return false
	}
	open, err := h.unanswered(ctx, read)
	if err != nil {
		_ = h.state.putBack(read) // then nobody is asked
		return false
	}
	if len(open) == 0 {
		return false
	}
	_, err = h.out.Write([]byte(reminder(h.tools, open)))
	return err == nil
}

// unanswered returns the mentions that the agent has not answered, one for each space.
func (h *hook) unanswered(ctx context.Context, read []unanswered) (open []unanswered, err error) {
	ctx, cancel := context.WithTimeout(ctx, guardWithin)
	defer cancel()
	me, err := h.server.Me(ctx)
	if err != nil || me.EntityID == nil || me.SessionID == nil {
		return nil, err
	}
	session := h.server.Session(*me.SessionID)
	for _, u := range read {
		answered, err := isAnswered(ctx, session, *me.EntityID, u)
		if err != nil {
			return nil, err
		}
		// A later mention in the same space takes the place of an earlier one.
		open = slices.DeleteFunc(open, func(o unanswered) bool { return o.Space == u.Space })
		if !answered {
			open = append(open, u)
		}
	}
	return open, nil
}

// isAnswered reports whether an agent has said something in the space of a mention since, or has reacted
// to it. A mention that is gone needs no answer.
func isAnswered(ctx context.Context, session *client.Session, agent shoal.EntityID, u unanswered) (bool, error) {
	m, err := session.Message(ctx, u.Message)
	switch {
	case shoal.KindOf(err) == shoal.NotFound:
		return true, nil
	case err != nil:
		return false, err
	case m.DeletedAt != nil:
		return true, nil
	}
	for _, r := range m.Reactions {
		if slices.Contains(r.EntityIDs, agent) {
			return true, nil
		}
	}
	for m, err := range session.Timeline(ctx, u.Space, u.Seq) {
		if err != nil || m.EntityID == agent {
			return err == nil, err
		}
	}
	return false, nil
}

// reminder returns what the model reads. It holds no text of others.
func reminder(tools string, open []unanswered) string {
	answers := make([]string, len(open))
	from := make([]string, len(open))
	for i, u := range open {
		answers[i] = fmt.Sprintf("threadId %q, replyTo %q, mentions [%q]", u.Space, u.Message, u.From)
		from[i] = fmt.Sprintf("%s in thread %s", u.From, u.Space)
	}
	return "Your turn has ended, and on Shoal you have not answered " + strings.Join(from, " and ") + ". What you write here is not seen there.\n" +
		"Answer with " + tools + "send_message: " + strings.Join(answers, "; or ") + ". If your user does not want that, or nothing has to be said, say nothing: Shoal does not ask again.\n"
}
