package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	sendersEach  = 64 // of each server
	manySessions = 16
	postTime     = 1500 * time.Millisecond

	perSecond = "posts/s"
	oneRow    = "1 server"
)

func postsRow(servers int) string {
	if servers == 1 {
		return oneRow
	}
	return fmt.Sprintf("%d servers", servers)
}

// Posts measures posts by 64 senders of each of one, two and three servers.
func (b *Bench) Posts(ctx context.Context) error {
	for _, bus := range []string{postgresBus, natsBus} {
		if err := b.withEngines(ctx, func(e *engines) error { return e.posts(ctx, bus) }); err != nil {
			return fmt.Errorf("%s: %w", bus, err)
		}
	}
	return nil
}

// serverCounts are the sizes of the groups of servers that are compared.
var serverCounts = []int{1, 2, 3}

func (e *engines) posts(ctx context.Context, bus string) error {
	one, many := e.postsTable(bus, "one session"), e.postsTable(bus, fmt.Sprintf("%d sessions", manySessions))
	type row struct {
		*senders
		of *report.Table
	}
	var rows []row
	for _, servers := range serverCounts {
		g, err := e.start(ctx, servers, bus)
		if err != nil {
			return err
		}
		inOne, err := g.senders(ctx, 1)
		if err != nil {
			return err
		}
		inMany, err := g.senders(ctx, manySessions)
		if err != nil {
			return err
		}
		rows = append(rows, row{inOne, one}, row{inMany, many})
	}
	for round := range e.Rounds + 1 {
		for _, r := range rows {
			if err := r.round(ctx, r.of.Row(postsRow(len(r.servers))), round > 0); err != nil {
				return fmt.Errorf("%s, %s: %w", r.of.Title, postsRow(len(r.servers)), err)
			}
		}
	}
	for _, t := range []*report.Table{one, many} {
		two, three := postsRow(2), postsRow(3)
		e.Report.AtLeast(1, "× 1 server", t.Ratio(perSecond, two, oneRow), t.Title+", posts/s of 2").WithTarget(1.6)
		e.Report.AtMost(2, "× 1 server", t.Ratio(report.P99, two, oneRow), t.Title+", p99 of 2")
		e.Report.AtMost(1.25, "× 1 server", t.Ratio(report.CPUMicros, three, oneRow), t.Title+", CPU of a post on 3")
	}
	return nil
}

func (e *engines) postsTable(bus, where string) *report.Table {
	return e.Report.Add(&report.Table{
		Title: fmt.Sprintf("Posts on several servers in %s, bus %s", where, bus),
		Note: fmt.Sprintf("%d senders of each server wait for the response before they send the next message, over REST. More servers bring more senders to the same processors. ", sendersEach) +
			"CPU is that of the servers with PostgreSQL's and that of NATS, which the next columns show.",
		Ratios: []report.Ratio{
			{Metric: perSecond, Base: oneRow, Heading: "posts/s ÷ 1 server"},
			{Metric: report.P99, Base: oneRow, Heading: "p99 ÷ 1 server"},
			{Metric: report.CPUMicros, Base: oneRow, Heading: "CPU ÷ 1 server"},
		},
		Shown: []string{perSecond, report.P50, report.P99, report.CPUMicros, databaseMicros, brokerMicros, loadAverage},
	})
}

// senders are the senders of a group of servers.
type senders struct {
	*group
	in [][]*load.REST // by server and session
}

// senders creates sessions with senders of all servers.
func (g *group) senders(ctx context.Context, sessions int) (*senders, error) {
	s := &senders{group: g, in: make([][]*load.REST, len(g.servers))}
	wires := make([]load.Wire, len(g.servers))
	for n, p := range g.servers {
		wires[n] = load.NewWire(p.URL())
	}
	pairs := sendersEach * len(g.servers) / sessions // of each session
	for k := range sessions {
		id := shoal.SessionID(fmt.Sprintf("of-%d-%d", sessions, k))
		if _, err := g.admin.CreateSession(ctx, shoal.NewSession{ID: id}); err != nil {
			return nil, err
		}
		w, err := load.NewWorld(ctx, g.admin, id, 2*pairs)
		if err != nil {
			return nil, err
		}
		if err := w.Pair(ctx, pairs); err != nil {
			return nil, err
		}
		for n, wire := range wires {
			s.in[n] = append(s.in[n], load.RESTOf(wire, w, pairs))
		}
	}
	return s, nil
}

// send posts as the i-th sender.
func (s *senders) send(ctx context.Context, i int, text string) error {
	sessions := s.in[i/sendersEach]
	return sessions[i%len(sessions)].Send(ctx, i/len(sessions), text, false)
}

// round lets all senders post for a while, and adds to the row unless it is a warm-up.
func (s *senders) round(ctx context.Context, into *report.Row, counts bool) error {
	before, began, text := s.spent(), time.Now(), load.Text()
	took, err := load.Repeat(sendersEach*len(s.in), postTime, 0, func(i int) error { return s.send(ctx, i, text) })
	if err != nil || !counts {
		return err
	}
	into.Add(perSecond, float64(len(took))/time.Since(began).Seconds())
	into.AddLatencies(took)
	s.spent().addTo(into, before, len(took))
	return nil
}
