package hub

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal"
)

// failureScope is that of the keys under which a space is told that an agent failed:
// once for each agent and code until a run of the agent succeeds.
const failureScope = "failure"

// advice says what to do about a failure, by its code. Other codes have the run itself
// to look at.
var advice = map[string]string{
	"provider_auth":         "The operator of the server has to set the key of the model's provider.",
	"provider_rate_limited": "Ask again in a few minutes.",
	"provider_unavailable":  "Ask again in a few minutes.",
	"timeout":               "Ask again, for less at once.",
	"max_steps":             "Ask again, for less at once, or raise loop.maxSteps of the agent.",
	"budget_exhausted":      "Somebody who manages the agent or the session can raise the limit.",
}

// tellFailure says in the space of a run's trigger that the run has failed, to those who
// wait for it: the sender of the trigger and the people behind the run. It is in nobody
// else's inbox and starts no run. Runs that no message started, and those of a space that
// is closed, fail without it.
func tellFailure(ch *change, r StoredRun) error {
	if r.Trigger.Type != shoal.SpaceMessageTrigger || r.Error == nil {
		return nil
	}
	s, err := ch.LockSpace(r.SessionID, r.Space)
	if errors.Is(err, shoal.NotFound) || err == nil && s.Status == shoal.SpaceShut {
		return nil
	}
	if err != nil {
		return err
	}
	key, told, err := failureKey(ch, r)
	if err != nil || told {
		return err
	}
	concerned, err := concernedBy(ch, r)
	if err != nil || len(concerned) == 0 {
		return err
	}
	names, err := ch.EntityNames(r.SessionID, []shoal.EntityID{r.AgentID})
	if err != nil {
		return err
	}
	what, known := advice[r.Error.Code]
	if !known {
		what = "Ask again, or look at the run " + string(r.ID) + "."
	}
	name := names[r.AgentID]
	if name == "" {
		name = string(r.AgentID)
	}
	text := fmt.Sprintf("%s could not answer (%s): %s. %s", name, r.Error.Code, strings.TrimRight(r.Error.Message, ". "), what)
	_, err = post(ch, s, shoal.System, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: concerned}, key)
	return err
}

// failureKey is the key of the message about a failure, and whether there is one already
// since a run of the agent succeeded.
func failureKey(ch *change, r StoredRun) (key PostKey, told bool, err error) {
	done, err := ch.Runs(r.SessionID, RunFilter{Agent: r.AgentID, Status: []shoal.RunStatus{shoal.RunCompleted}, Limit: 1})
	if err != nil {
		return key, false, err
	}
	since := shoal.RunID("")
	if len(done) > 0 {
		since = done[0].ID
	}
	key = PostKey{Scope: failureScope, Key: fmt.Sprintf("%s/%s/%s/%s", r.Space, r.AgentID, r.Error.Code, since)}
	_, _, err = ch.MessageByKey(r.SessionID, key.Scope, key.Key)
	if errors.Is(err, shoal.NotFound) {
		return key, false, nil
	}
	return key, err == nil, err
}

// concernedBy are the members of the trigger's space that a failed run concerns.
func concernedBy(ch *change, r StoredRun) (out []shoal.EntityID, err error) {
	people, err := requestersOf(ch, r)
	if err != nil {
		return nil, err
	}
	for _, id := range append([]shoal.EntityID{r.Trigger.SenderEntityID}, people...) {
		if !mayBe(id) {
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
