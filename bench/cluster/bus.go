package cluster

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal/bench/report"
)

// busRows are one server without a bus, with one and nothing to carry, and with one whose
// frames another server receives.
var busRows = []struct {
	name, bus string
	servers   int
}{
	{memoryRow, "memory", 1},
	{aloneRow, "auto", 1},
	{besidePostgresRow, postgresBus, 2},
	{besideNATSRow, natsBus, 2},
}

const (
	memoryRow         = "one server, bus in memory"
	aloneRow          = "one server, bus auto (PostgreSQL)"
	besidePostgresRow = "beside an idle server, PostgreSQL"
	besideNATSRow     = "beside an idle server, NATS"
)

// Bus measures what the bus adds to the posts of one server.
func (b *Bench) Bus(ctx context.Context) error {
	return b.withEngines(ctx, func(e *engines) error { return e.bus(ctx) })
}

func (e *engines) bus(ctx context.Context) error {
	t := e.Report.Add(&report.Table{
		Title: fmt.Sprintf("Posts on one server by its bus, %d senders in %d sessions", sendersEach, manySessions),
		Note: "Each sender waits for the response before it sends the next message, over REST. In the last two rows the bus carries the notifications to a second server, on which nobody waits or follows. " +
			"CPU is that of the servers with PostgreSQL's and that of NATS, which the next columns show.",
		Ratios: []report.Ratio{
			{Metric: perSecond, Base: memoryRow, Heading: "posts/s ÷ memory"},
			{Metric: report.CPUMicros, Base: memoryRow, Heading: "CPU ÷ memory"},
			{Metric: databaseMicros, Base: memoryRow, Heading: "database ÷ memory"},
		},
		Shown: []string{perSecond, report.P50, report.P99, report.CPUMicros, databaseMicros, brokerMicros, loadAverage},
	})
	rows := make([]*senders, len(busRows))
	for i, row := range busRows {
		g, err := e.start(ctx, row.servers, row.bus)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		all, err := g.senders(ctx, manySessions)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		all.in = all.in[:1]
		rows[i] = all
	}
	for round := range e.Rounds + 1 {
		for i, row := range busRows {
			if err := rows[i].round(ctx, t.Row(row.name), round > 0); err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
		}
	}
	e.Report.AtMost(300, "µs", t.Row(aloneRow).Value(report.CPUMicros), t.Title+", CPU of a post with the database's").WithTarget(200)
	e.Report.TargetAtMost(1.03, "× memory", t.Ratio(report.CPUMicros, aloneRow, memoryRow), t.Title+", CPU of a server alone")
	return nil
}
