package httpapi

import (
	"net/http"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/query"
)

func usageRoutes() []route {
	return []route{{
		method: http.MethodGet, path: sessionPath + "/usage", do: sumUsage, id: "usage", tag: "Usage",
		summary: "Read the usage of model calls", about: "One row for each group, or one row in total without `by`. Fields that are not in `by` are empty. For admins and owners of the session.",
		query: []param{
			{"by", "The fields to group by: `day`, `agent`, `model` or `run`, or several, separated by commas.", stringParam},
			{"from", "Only calls at or after this time: a time, or a date in UTC.", stringParam},
			{"to", "Only calls before this time.", stringParam},
			{"agent", "Only this agent.", stringParam},
			{"run", "Only this run.", stringParam},
		},
		status: http.StatusOK, out: page[shoal.UsageRow]{},
	}}
}

func sumUsage(c *call) error {
	q, err := query.Usage(c.value)
	if err != nil {
		return err
	}
	rows, err := c.Hub.Usage.Sum(c.ctx(), c.caller, c.session(), q)
	return c.answerOr(err, http.StatusOK, pageOf(rows, len(rows), nil))
}
