package client

import (
	"context"
	"iter"
	"strings"

	"github.com/shoal-dev/shoal"
)

// UsageOptions filter and group usage.
type UsageOptions struct {
	// By are the fields to group by: day, agent, model, run. If it is empty, there is one
	// group. The other fields are empty in a row.
	By []string
	// Agent and Run filter the usage, if set.
	Agent shoal.EntityID
	Run   shoal.RunID
	// From and To limit the time, if set; To is excluded.
	From, To *shoal.Time
}

// Usage lists what model calls used, added up in groups. Admins only.
func (s *Session) Usage(ctx context.Context, o UsageOptions) iter.Seq2[shoal.UsageRow, error] {
	q := filters(map[string]string{
		"by": strings.Join(o.By, ","), "agent": string(o.Agent), "run": string(o.Run), "from": timeOrNone(o.From), "to": timeOrNone(o.To),
	})
	return list[shoal.UsageRow](ctx, s.client, call{op: "client.Usage", path: s.path("usage"), query: q})
}

func timeOrNone(t *shoal.Time) string {
	if t == nil {
		return ""
	}
	return t.String()
}
