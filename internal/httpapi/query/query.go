// Package query reads query parameters that several routes take, or that have a syntax of their own. An
// error is of kind InvalidArgument and names the parameter.
package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Values returns the value of a query parameter, and whether it was given.
type Values func(name string) (text string, given bool)

// Bool returns a parameter that is true or false; false without the parameter.
func Bool(v Values, name string) (bool, error) {
	text, given := v(name)
	switch {
	case !given || text == "false":
		return false, nil
	case text == "true":
		return true, nil
	}
	return false, shoal.Invalid("query."+name, fmt.Sprintf("must be true or false, not %q", text))
}

// Time returns a parameter that is a time or a date, nil without the parameter.
func Time(v Values, name string) (*shoal.Time, error) {
	text, _ := v(name)
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

var usageGroups = []string{"day", "agent", "model", "run"}

// Usage returns which usage the parameters select, and how it is grouped.
func Usage(v Values) (q storage.UsageQuery, err error) {
	agent, _ := v("agent")
	run, _ := v("run")
	q.Agent, q.Run = shoal.EntityID(agent), shoal.RunID(run)
	if by, _ := v("by"); by != "" {
		for group := range strings.SplitSeq(by, ",") {
			if !slices.Contains(usageGroups, group) || slices.Contains(q.By, group) {
				return q, shoal.Invalid("query.by", "must be one of "+strings.Join(usageGroups, ", ")+", or several, each once, separated by commas")
			}
			q.By = append(q.By, group)
		}
	}
	if q.From, err = Time(v, "from"); err != nil {
		return q, err
	}
	q.To, err = Time(v, "to")
	return q, err
}
