package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
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

var usageGroups = []string{"day", "agent", "model", "run"}

func sumUsage(c *call) error {
	agent, _ := c.value("agent")
	run, _ := c.value("run")
	q := storage.UsageQuery{Agent: shoal.EntityID(agent), Run: shoal.RunID(run)}
	if by, _ := c.value("by"); by != "" {
		for group := range strings.SplitSeq(by, ",") {
			if !slices.Contains(usageGroups, group) || slices.Contains(q.By, group) {
				return shoal.Invalid("query.by", "must be one of "+joinWords(usageGroups)+", or several, each once, separated by commas")
			}
			q.By = append(q.By, group)
		}
	}
	var err error
	if q.From, err = c.time("from"); err != nil {
		return err
	}
	if q.To, err = c.time("to"); err != nil {
		return err
	}
	rows, err := c.Hub.Usage.Sum(c.ctx(), c.caller, c.session(), q)
	return c.answerOr(err, http.StatusOK, pageOf(rows, len(rows), nil))
}

// time returns a parameter that is a time or a date, nil without the parameter.
func (c *call) time(name string) (*shoal.Time, error) {
	text, _ := c.value(name)
	if text == "" {
		return nil, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		at := shoal.At(day)
		return &at, nil
	}
	at := new(shoal.Time)
	if at.UnmarshalText([]byte(text)) != nil {
		return nil, shoal.Invalid("query."+name, `must be a time such as "2026-11-20T10:00:00.000Z", or a date`)
	}
	return at, nil
}
