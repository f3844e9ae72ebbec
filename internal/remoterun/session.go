package remoterun

import (
	"errors"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// sessionScope is that of the messages which say that a conversation began anew, one for each claim
// of a run. Stored keys depend on it.
const sessionScope = "session-began"

// announceSession posts in the space of the trigger that the program could not continue its
// conversation, if a batch says so: what members have written before is not known any more.
func (x *running) announceSession(c *runs.RunChange, b batch) error {
	for _, e := range b.Entries {
		if e.Line == nil || e.Line.Type != shoal.WorkSessionBegan || x.run.Space == "" {
			continue
		}
		s, err := c.LockSpace(x.run.SessionID, x.run.Space)
		if errors.Is(err, shoal.NotFound) || err == nil && s.Status == shoal.SpaceStatusClosed {
			return nil
		}
		if err != nil {
			return err
		}
		key := storage.PostKey{Scope: sessionScope, Key: fmt.Sprintf("%s/%d", x.run.ID, x.claim)}
		if _, _, err := c.MessageByKey(x.run.SessionID, key.Scope, key.Key); !errors.Is(err, shoal.NotFound) {
			return err
		}
		if _, err := core.PostSystemMessage(c.Change, s, sessionText(x.config.Agent.Name, e.Line.Known), nil, key); err != nil {
			return err
		}
	}
	return nil
}

func sessionText(agent string, known int) string {
	switch known {
	case 0:
		return agent + " began a new session; it knows no earlier messages."
	case 1:
		return agent + " began a new session; it knows the last message before."
	}
	return fmt.Sprintf("%s began a new session; it knows the last %d messages before.", agent, known)
}
