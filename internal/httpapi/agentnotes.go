package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

const (
	memoriesPath = agentPath + "/memories"
	goalsPath    = agentPath + "/goals"
)

func agentNoteRoutes() []route {
	const who = " For admins and owners of the session."
	return []route{
		{
			method: http.MethodGet, path: memoriesPath, do: listMemories, id: "listAgentMemories", tag: "Agents",
			summary: "List the memories of a hosted agent", about: "In the order of creation." + who,
			query: listParams, status: http.StatusOK, out: page[shoal.Memory]{},
		},
		{
			method: http.MethodDelete, path: memoriesPath, do: deleteMemory, id: "clearAgentMemories", tag: "Agents",
			summary: "Delete all memories of a hosted agent", about: "Runs that have started may still use them." + who,
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: memoriesPath + "/{memory}", do: deleteMemory, id: "deleteAgentMemory", tag: "Agents",
			summary: "Delete one memory of a hosted agent", about: "Runs that have started may still use it." + who,
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodGet, path: goalsPath, do: listGoals, id: "listAgentGoals", tag: "Agents",
			summary: "List the goals of a hosted agent", about: "In the order of creation, including achieved ones." + who,
			query: listParams, status: http.StatusOK, out: page[shoal.Goal]{},
		},
		{
			method: http.MethodDelete, path: goalsPath, do: deleteGoal, id: "clearAgentGoals", tag: "Agents",
			summary: "Delete all goals of a hosted agent", about: "Runs that have started may still use them." + who,
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: goalsPath + "/{goal}", do: deleteGoal, id: "deleteAgentGoal", tag: "Agents",
			summary: "Delete one goal of a hosted agent", about: "Runs that have started may still use it." + who,
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
	}
}

func listMemories(c *call) error {
	after, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	found, err := c.Hub.Agents.Memories(c.ctx(), c.caller, c.session(), c.agent(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(m shoal.Memory) string { return m.ID }))
}

func listGoals(c *call) error {
	after, limit, err := c.page(shoal.DefaultPage)
	if err != nil {
		return err
	}
	found, err := c.Hub.Agents.Goals(c.ctx(), c.caller, c.session(), c.agent(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(g shoal.Goal) string { return g.ID }))
}

func deleteMemory(c *call) error {
	return c.noContentOr(c.Hub.Agents.DeleteMemory(c.ctx(), c.caller, c.session(), c.agent(), c.r.PathValue("memory")))
}

func deleteGoal(c *call) error {
	return c.noContentOr(c.Hub.Agents.DeleteGoal(c.ctx(), c.caller, c.session(), c.agent(), c.r.PathValue("goal")))
}
