package notices

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// failureScope is the scope of the keys of the messages that say that an agent failed, once
// for each agent and code until a run of the agent succeeds. Stored keys depend on it.
const failureScope = "failure"

// failureAdvice says what to do about a failure, by its code. For other codes the message
// names the run.
var failureAdvice = map[string]string{
	"provider_auth":         "The operator of the server has to set the key of the model's provider.",
	"provider_rate_limited": "Ask again in a few minutes.",
	"provider_unavailable":  "Ask again in a few minutes.",
	"timeout":               "Ask again for less at once.",
	"max_steps":             "Ask again for less at once, or raise loop.maxSteps of the agent.",
	"budget_exhausted":      "Somebody who manages the agent or the session can raise the limit.",
}

// postFailureNotice posts a message in the space of a run's trigger that says that the run
// has failed. It mentions the sender of the trigger and the requesters of the run; it
// enters no other inbox and starts no run. If the space has such a message since the
// agent's last completed run, that message is delivered again instead. It returns the id of
// the message, or an empty id for runs that no message started and for closed spaces.
func postFailureNotice(ch *core.Change, r storage.Run) (shoal.MessageID, error) {
	if r.Trigger.Type != shoal.SpaceMessageTrigger || r.Error == nil {
		return "", nil
	}
	s, err := ch.LockSpace(r.SessionID, r.Space)
	if errors.Is(err, shoal.NotFound) || err == nil && s.Status == shoal.SpaceStatusClosed {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	concerned, err := failureRecipients(ch, r)
	if err != nil || len(concerned) == 0 {
		return "", err
	}
	key, earlier, err := findFailureNotice(ch, r)
	if err != nil {
		return "", err
	}
	if earlier != nil {
		return earlier.ID, deliverAgain(ch, *earlier, concerned)
	}
	text, err := failureText(ch, r)
	if err != nil {
		return "", err
	}
	m, err := core.PostSystemMessage(ch, s, text, concerned, key)
	return m.ID, err
}

// failureText says which agent failed, why, and what to do.
func failureText(ch *core.Change, r storage.Run) (string, error) {
	names, err := ch.EntityNames(r.SessionID, []shoal.EntityID{r.AgentID})
	if err != nil {
		return "", err
	}
	what, known := failureAdvice[r.Error.Code]
	if !known {
		what = "Ask again, or open the run " + string(r.ID) + "."
	}
	name := cmp.Or(names[r.AgentID], string(r.AgentID))
	return fmt.Sprintf("%s could not answer (%s): %s. %s", name, r.Error.Code, strings.TrimRight(r.Error.Message, ". "), what), nil
}

// deliverAgain delivers a system message to those of the members whose inbox does not
// contain it.
func deliverAgain(ch *core.Change, m shoal.Message, to []shoal.EntityID) error {
	var missing []shoal.EntityID
	for _, id := range to {
		unread, err := ch.Unread(m.SessionID, id, storage.InboxFilter{Space: m.SpaceID, From: []shoal.EntityID{shoal.System}}, shoal.MaxPage)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(unread, func(e storage.InboxEntry) bool { return e.Message.ID == m.ID }) {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return ch.DeliverMessageTo(m, missing)
}

// findFailureNotice returns the key of the message about a failure, and the message itself
// if one was posted since the agent's last completed run.
func findFailureNotice(ch *core.Change, r storage.Run) (key storage.PostKey, earlier *shoal.Message, err error) {
	done, err := ch.Runs(r.SessionID, storage.RunFilter{Agent: r.AgentID, Status: []shoal.RunStatus{shoal.RunCompleted}, Limit: 1})
	if err != nil {
		return key, nil, err
	}
	since := shoal.RunID("")
	if len(done) > 0 {
		since = done[0].ID
	}
	key = storage.PostKey{Scope: failureScope, Key: fmt.Sprintf("%s/%s/%s/%s", r.Space, r.AgentID, r.Error.Code, since)}
	m, _, err := ch.MessageByKey(r.SessionID, key.Scope, key.Key)
	if errors.Is(err, shoal.NotFound) {
		return key, nil, nil
	}
	return key, &m, err
}

// failureRecipients returns the members of the trigger's space that a failed run concerns.
func failureRecipients(ch *core.Change, r storage.Run) (out []shoal.EntityID, err error) {
	people, err := pending.RequestersOf(ch, r)
	if err != nil {
		return nil, err
	}
	for _, id := range append([]shoal.EntityID{r.Trigger.SenderEntityID}, people...) {
		if !core.ValidID(id) {
			continue
		}
		in, err := ch.IsMember(r.SessionID, r.Space, id)
		if err != nil {
			return nil, err
		}
		if in {
			out = append(out, id)
		}
	}
	return out, nil
}

// RecordOutcome stores the last failure of an agent until a run of it succeeds, and
// notifies the members that a failure concerns.
func RecordOutcome(ch *core.Change, r storage.Run) error {
	switch r.Status {
	case shoal.RunCompleted:
		return ch.SetLastFailure(r.SessionID, r.AgentID, nil)
	case shoal.RunFailed:
		message, err := postFailureNotice(ch, r)
		if err != nil {
			return err
		}
		return ch.SetLastFailure(r.SessionID, r.AgentID, &shoal.Failure{
			Code: r.Error.Code, Message: r.Error.Message, RunID: r.ID, At: *r.EndedAt, MessageID: message,
		})
	}
	return nil
}
