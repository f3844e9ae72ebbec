package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
)

func runnerRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: sessionPath + "/runners", do: listRunners, id: "listRunners", tag: "Programs",
			summary: "List runners",
			about:   "The machines on which `shoal runner` runs coding agents, ordered by id, with what each lets its agents do, as it says itself. `online` is false 90 seconds after the last report. For admins and owners of the session.",
			query:   listParams, status: http.StatusOK, out: page[shoal.Runner]{}, errors: []shoal.Kind{shoal.Forbidden},
		},
		{
			method: http.MethodPut, path: sessionPath + "/runners/{runner}/agents/{agent}", do: reportRunner, unseen: true, id: "reportRunner", tag: "Programs",
			summary: "Say where an agent runs",
			about:   "A runner sends it when it starts an agent, every 30 seconds, and with `stopped` at its end. An agent is remembered on the eight machines that were heard last. For the agent's own key and admins.",
			in:      shoal.RunnerReport{}, example: `{"version": "1.0.0", "kind": "claude-code", "dir": "~/src/app", "mode": "ask", "respondTo": ["owner"], "approve": ["owner"], "maxTurnsPerHour": 30}`,
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Conflict, shoal.Forbidden},
		},
		{
			method: http.MethodDelete, path: sessionPath + "/runners/{runner}", do: removeRunner, id: "removeRunner", tag: "Programs",
			summary: "Remove a runner", about: "Revokes the keys with which it has reported, which ends what it does, and forgets it. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.Forbidden},
		},
	}
}

func listRunners(c *call) error {
	after, limit, err := idCursor[shoal.RunnerID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Runners.List(c.ctx(), c.caller, c.session(), after, limit+1)
	return c.answerOr(err, http.StatusOK, pageOf(found, limit, func(r shoal.Runner) string { return string(r.ID) }))
}

func reportRunner(c *call) error {
	var in shoal.RunnerReport
	if err := c.decode(&in); err != nil {
		return err
	}
	return c.noContentOr(c.Hub.Runners.Report(c.ctx(), c.caller, c.session(), shoal.RunnerID(c.r.PathValue("runner")), c.agent(), in))
}

func removeRunner(c *call) error {
	return c.noContentOr(c.Hub.Runners.Remove(c.ctx(), c.caller, c.session(), shoal.RunnerID(c.r.PathValue("runner"))))
}
