package httpapi

import (
	"net/http"
	"slices"

	"github.com/shoal-dev/shoal"
)

const planPath = sessionPath + "/plans/{plan}"

func planRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: agentPath + "/plans", do: listPlans, id: "listPlans", tag: "Plans",
			summary: "List the plans of an agent", about: "Ordered by id, including completed and canceled ones. For admins and owners of the session.",
			query: listParams, status: http.StatusOK, out: page[shoal.Plan]{},
		},
		{
			method: http.MethodPost, path: agentPath + "/plans", do: decoded(http.StatusCreated, createPlan), id: "createPlan", tag: "Plans",
			summary: "Create a plan", about: "A plan is a schedule of a hosted agent. Send `cron`, with a `timeZone` that defaults to UTC, or `scheduledAt` for one time. Each due time starts one run. For admins and owners of the session.",
			in: shoal.NewPlan{}, example: `{"name": "morning report", "instruction": "Report yesterday's sales.", "cron": "0 8 * * 1-5", "timeZone": "Europe/Berlin"}`, idempotent: true,
			status: http.StatusCreated, out: shoal.Plan{}, errors: []shoal.Kind{shoal.SessionClosed},
		},
		{
			method: http.MethodPatch, path: planPath, do: decoded(http.StatusOK, updatePlan), id: "updatePlan", tag: "Plans",
			summary: "Change a plan", about: "Omitted fields do not change. `status` is `paused`, `pending` to resume the plan, or `canceled`. For admins and owners of the session.",
			in: shoal.PlanChange{}, example: `{"status": "paused"}`, status: http.StatusOK, out: shoal.Plan{},
			errors: []shoal.Kind{shoal.Conflict, shoal.SessionClosed},
		},
		{
			method: http.MethodDelete, path: planPath, do: deletePlan, id: "deletePlan", tag: "Plans",
			summary: "Delete a plan", about: "Runs that it started continue. For admins and owners of the session.",
			status: http.StatusNoContent, errors: []shoal.Kind{shoal.SessionClosed},
		},
	}
}

func (c *call) plan() shoal.PlanID { return shoal.PlanID(c.r.PathValue("plan")) }

func listPlans(c *call) error {
	after, limit, err := idCursor[shoal.PlanID](c)
	if err != nil {
		return err
	}
	found, err := c.Hub.Plans.List(c.ctx(), c.caller, c.session(), c.agent())
	first := slices.IndexFunc(found, func(p shoal.Plan) bool { return p.ID > after })
	if first < 0 {
		first = len(found)
	}
	return c.answerOr(err, http.StatusOK, pageOf(found[first:], limit, func(p shoal.Plan) string { return string(p.ID) }))
}

func createPlan(c *call, in shoal.NewPlan) (shoal.Plan, error) {
	return c.Hub.Plans.Create(c.ctx(), c.caller, c.session(), c.agent(), in, c.idempotencyKey())
}

func updatePlan(c *call, in shoal.PlanChange) (shoal.Plan, error) {
	return c.Hub.Plans.Update(c.ctx(), c.caller, c.session(), c.plan(), in)
}

func deletePlan(c *call) error {
	return c.noContentOr(c.Hub.Plans.Delete(c.ctx(), c.caller, c.session(), c.plan()))
}
