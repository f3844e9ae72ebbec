package runs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
)

// Delegate queues a run of target with this run's trigger, cause and depth. It fails with
// InvalidArgument, with a message for the model, when target is not another hosted agent of
// the trigger's space or when this run's agent is not the space's admin agent; nothing has
// changed then. The caller cancels this run itself.
func (c *RunChange) Delegate(target shoal.EntityID) (shoal.RunID, error) {
	s, err := c.delegationSpace()
	if err != nil {
		return "", err
	}
	if target == c.Run.AgentID {
		return "", delegationError("you cannot delegate to yourself")
	}
	hosted, err := c.HostedMembers(s.SessionID, s.ID)
	if err != nil {
		return "", err
	}
	if !slices.Contains(hosted, target) {
		return "", delegationError(fmt.Sprintf("%q is not a hosted agent of the space %q; its hosted agents are %q", target, s.ID, hosted))
	}
	client, err := findClientInput(c.Tx, s.SessionID, c.Run.ID)
	if err != nil {
		return "", err
	}
	r, refused, err := StartRequest{
		Session: s.SessionID, Agent: target, Trigger: c.Run.Trigger, requester: c.Run.Requester,
		cause: c.Run.Cause(0), client: client, trace: c.Run.TraceParent,
	}.startOnMessage(c.Change)
	if err == nil && refused {
		err = delegationError(fmt.Sprintf("%q is busy with another message and does not accept a second one", target))
	}
	return r.ID, err
}

// delegationSpace returns the space of the trigger, locked, if the run's agent is its admin
// agent.
func (c *RunChange) delegationSpace() (shoal.Space, error) {
	if c.Run.Space == "" {
		return shoal.Space{}, delegationError("no message of a space started this run")
	}
	s, err := c.LockSpace(c.Run.SessionID, c.Run.Space)
	switch {
	case errors.Is(err, shoal.NotFound):
		return s, delegationError("the space no longer exists")
	case err != nil:
		return s, err
	case s.Status == shoal.SpaceStatusClosed:
		return s, delegationError("the space is closed")
	case s.AdminAgentID == nil || *s.AdminAgentID != c.Run.AgentID:
		return s, delegationError("only the admin agent of the space can delegate")
	}
	return s, nil
}

func delegationError(why string) error {
	return shoal.E("", shoal.InvalidArgument, "Nothing was delegated: "+why+". Continue yourself.")
}
