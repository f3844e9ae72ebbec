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
)

func postsRow(servers, sessions int) string {
	name := "1 server"
	if servers > 1 {
		name = fmt.Sprintf("%d servers", servers)
	}
	if sessions == 1 {
		return name + ", one session"
	}
	return fmt.Sprintf("%s, %d sessions", name, sessions)
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
	t := e.Report.Add(&report.Table{
		Title: fmt.Sprintf("Posts on several servers, bus %s, %d senders each", bus, sendersEach),
		Note: "Each sender waits for the response before it sends the next message, over REST, which mentions nobody. The messages of all servers are in one session, or in 16. " +
			"CPU is that of the servers, of PostgreSQL and of NATS. More servers bring more senders to the same processors.",
		Ratios: []report.Ratio{
			{Metric: perSecond, Base: postsRow(1, 1), Heading: "posts/s ÷ 1 server, one session"},
			{Metric: perSecond, Base: postsRow(1, manySessions), Heading: "posts/s ÷ 1 server, 16 sessions"},
			{Metric: report.CPUMicros, Base: postsRow(1, 1), Heading: "CPU ÷ 1 server, one session"},
			{Metric: report.CPUMicros, Base: postsRow(1, manySessions), Heading: "CPU ÷ 1 server, 16 sessions"},
		},
		Shown: []string{perSecond, report.P50, report.P99, report.CPUMicros, databaseMicros, brokerMicros, loadAverage},
	})
	var rows []*senders
	for _, servers := range serverCounts {
		g, err := e.start(ctx, servers, bus)
		if err != nil {
			return err
		}
		for _, sessions := range []int{1, manySessions} {
			s, err := g.senders(ctx, sessions)
			if err != nil {
				return err
			}
			rows = append(rows, s)
		}
	}
	for round := range e.Rounds + 1 {
		for _, s := range rows {
			name := postsRow(len(s.servers), len(s.in[0]))
			if err := s.round(ctx, t.Row(name), round > 0); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for _, sessions := range []int{1, manySessions} {
		one, two, three := postsRow(1, sessions), postsRow(2, sessions), postsRow(3, sessions)
		e.Report.AtLeast(1, "× 1 server", t.Ratio(perSecond, two, one), t.Title+", "+two).WithTarget(1.6)
		e.Report.AtMost(2, "× 1 server", t.Ratio(report.P99, two, one), t.Title+", "+two+", p99")
		e.Report.AtMost(1.25, "× 1 server", t.Ratio(report.CPUMicros, three, one), t.Title+", "+three+", CPU of a post")
	}
	return nil
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
