package cluster

import (
	"context"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	wakePairs = 32
	// wakeTimes is the number of times that each waiter is woken in a round.
	wakeTimes = 20

	sameRow = "on one server"
)

func acrossRow(bus string) string { return "from one server to another, " + bus }

// Wakes measures wake-ups of waits on one server by posts on another.
func (b *Bench) Wakes(ctx context.Context) error {
	return b.withEngines(ctx, func(e *engines) error { return e.wakes(ctx) })
}

func (e *engines) wakes(ctx context.Context) error {
	t := e.Report.Add(&report.Table{
		Title: fmt.Sprintf("Wake-up across servers, %d at once", wakePairs),
		Note: "The time from the moment A sends a message until B's open wait returns it, over REST; the message is stored first, and B acknowledges with its next wait. " +
			"A and B use one server, or two that share a database. CPU is that of the servers with PostgreSQL's and that of NATS, which the next columns show.",
		Ratios: []report.Ratio{
			{Metric: report.P50, Base: sameRow, Heading: "p50 ÷ one server"},
			{Metric: report.P99, Base: sameRow, Heading: "p99 ÷ one server"},
			{Metric: report.CPUMicros, Base: sameRow, Heading: "CPU ÷ one server"},
		},
		Shown: []string{report.P50, report.P99, report.CPUMicros, databaseMicros, brokerMicros, loadAverage},
	})
	rows := []struct {
		name, bus string
		servers   int
	}{{sameRow, postgresBus, 1}, {acrossRow(postgresBus), postgresBus, 2}, {acrossRow(natsBus), natsBus, 2}}
	pairs := make([]across, len(rows))
	for i, row := range rows {
		g, err := e.start(ctx, row.servers, row.bus)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		if pairs[i], err = g.across(ctx); err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
	}
	for round := range e.Rounds + 1 {
		for i, row := range rows {
			before := pairs[i].spent()
			took, err := load.Wake(ctx, pairs[i], wakePairs, wakeTimes)
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			if into := t.Row(row.name); round > 0 { // the first is a warm-up
				into.AddLatencies(took)
				pairs[i].spent().addTo(into, before, len(took))
			}
		}
	}
	e.Report.AtMost(50e3, "µs", t.Row(acrossRow(postgresBus)).Value(report.P99), t.Title+", PostgreSQL, p99")
	e.Report.AtMost(25e3, "µs", t.Row(acrossRow(natsBus)).Value(report.P99), t.Title+", NATS, p99")
	e.Report.AtMost(1.5, "× one server", t.Ratio(report.P50, acrossRow(natsBus), sameRow), t.Title+", NATS, p50").WithTarget(1.3)
	e.Report.TargetAtMost(1.3, "× one server", t.Ratio(report.P50, acrossRow(postgresBus), sameRow), t.Title+", PostgreSQL, p50")
	return nil
}

// across are pairs whose senders use the first server of a group and whose waiters use the last.
type across struct {
	*group
	senders, waiters *load.REST
}

func (g *group) across(ctx context.Context) (across, error) {
	w, err := load.NewWorld(ctx, g.admin, shoal.DefaultSession, 2*wakePairs)
	if err != nil {
		return across{}, err
	}
	if err := w.Pair(ctx, wakePairs); err != nil {
		return across{}, err
	}
	at := func(p *process.Process) *load.REST { return load.RESTOf(load.NewWire(p.URL()), w, wakePairs) }
	return across{g, at(g.servers[0]), at(g.servers[len(g.servers)-1])}, nil
}

// Send implements [load.Pairs].
func (a across) Send(ctx context.Context, i int, text string, wake bool) error {
	return a.senders.Send(ctx, i, text, wake)
}

// Wait implements [load.Pairs].
func (a across) Wait(ctx context.Context, i int) ([]byte, error) { return a.waiters.Wait(ctx, i) }
