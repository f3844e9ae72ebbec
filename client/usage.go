package client

import (
	"context"
	"iter"
	"strings"

	"github.com/shoal-dev/shoal"
)

// UsageOptions choose and group what was used.
type UsageOptions struct {
	// By are the names to group by, of day, agent, model and run. Empty, all is
	// one group. What is not grouped by is empty in a row.
	By []string
	// Agent and Run narrow the sum, if set.
	Agent shoal.EntityID
	Run   shoal.RunID
	// From and To bound the time, if set; To is excluded.
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
