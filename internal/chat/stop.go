package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
)

// ActiveStatuses are the statuses of runs that can be stopped.
var ActiveStatuses = []shoal.RunStatus{shoal.RunQueued, shoal.RunRunning, shoal.RunWaitingTool, shoal.RunWaitingReply}

// RunToStop chooses the run that "stop" means, from the active runs of a space with the newest
// first: the newest one of an agent. An empty agent means the only one that is active. The error is
// NotFound if no agent is active, and InvalidArgument if several agents are active.
func RunToStop(active []shoal.Run, agent shoal.EntityID) (shoal.Run, error) {
	const op = "chat.RunToStop"
	var agents []string
	for _, r := range active {
		if agent == r.AgentID {
			return r, nil
		}
		if id := string(r.AgentID); !slices.Contains(agents, id) {
			agents = append(agents, id)
		}
	}
	switch {
	case len(agents) == 0:
		return shoal.Run{}, shoal.E(op, shoal.NotFound, "no agent is active in this space")
	case agent != "":
		return shoal.Run{}, shoal.E(op, shoal.NotFound, fmt.Sprintf("%s is not active in this space; active: %s", agent, strings.Join(agents, ", ")))
	case len(agents) > 1:
		return shoal.Run{}, shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("several agents are active (%s): name one, /stop %s", strings.Join(agents, ", "), agents[0]))
	}
	return active[0], nil
}
