package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	sessionSenders = 64
	manySessions   = 16
	sessionTime    = 3 * time.Second
	// bystanderGap is the pause between two posts of the bystander.
	bystanderGap = 10 * time.Millisecond

	oneSessionRow   = "64 senders in one session"
	manySessionsRow = "64 senders in 16 sessions"
	aloneRow        = "bystander alone"
	besideRow       = "bystander beside 64 senders of another session"
)

// sessions measures posts in one and in many sessions of a server on PostgreSQL, and those of
// a session beside a busy one.
func (r *run) sessions(ctx context.Context) error {
	return r.withPostgres(ctx, func(database *process.Process, url string) error { return r.sessionsIn(ctx, database, url) })
}

// sessionsIn measures the sessions of a new server on a database.
func (r *run) sessionsIn(ctx context.Context, database *process.Process, url string) error {
	server, err := r.StartShoal(ctx, r.NewPath("sessions"), "--database", url)
	if err != nil {
		return err
	}
	defer server.Stop()
	one, err := newSessionPairs(ctx, server, "one", 1)
	if err != nil {
		return err
	}
	many, err := newSessionPairs(ctx, server, "many", manySessions)
	if err != nil {
		return err
	}
	bystander, err := newSessionPairs(ctx, server, "bystander", 1)
	if err != nil {
		return err
	}
	t := r.Report.Add(&report.Table{
		Title: "Posts in sessions, PostgreSQL",
		Note:  "Each sender waits for the response before it sends the next message. CPU is that of the server and the database. The bystander is one sender that pauses 10 ms after each post; beside a busy session it also waits for the processor, which 64 senders keep busy.",
		Shown: []string{perSecond, report.P50, report.P99, report.CPUMicros},
	})
	used := func() float64 { return process.CPU(server.PID()) + process.CPU(database.PID()) }
	for round := range r.Rounds + 1 {
		for _, row := range []struct {
			name  string
			pairs *sessionPairs
		}{{oneSessionRow, one}, {manySessionsRow, many}} {
			before, began := used(), time.Now()
			took, err := load.Post(ctx, row.pairs, sessionSenders, sessionTime, 0)
			if err != nil {
				return err
			}
			if into := t.Row(row.name); round > 0 {
				into.Add(perSecond, float64(len(took))/time.Since(began).Seconds())
				into.AddLatencies(took)
				into.AddCPU(used()-before, float64(len(took)))
			}
		}
		if err := r.bystander(ctx, t, one, bystander, round > 0); err != nil {
			return err
		}
	}
	r.Report.TargetAtMost(300, "µs", t.Row(manySessionsRow).Value(report.CPUMicros), "PostgreSQL, CPU of a post")
	r.Report.TargetAtMost(2, "× alone", t.Row(besideRow).Value(report.P99)/t.Row(aloneRow).Value(report.P99), "PostgreSQL, p99 of a bystander")
	return nil
}

// bystander measures the posts of a session alone, and beside a busy one.
func (r *run) bystander(ctx context.Context, t *report.Table, busy, quiet *sessionPairs, keep bool) error {
	for _, name := range []string{aloneRow, besideRow} {
		flood := make(chan error, 1)
		if name == besideRow {
			go func() {
				_, err := load.Post(ctx, busy, sessionSenders, sessionTime, 0)
				flood <- err
			}()
		} else {
			flood <- nil
		}
		var took []float64
		for ends := time.Now().Add(sessionTime); time.Now().Before(ends); {
			one, err := load.Post(ctx, quiet, 1, time.Hour, 1)
			if err != nil {
				return err
			}
			took = append(took, one...)
			load.Pause(ctx, bystanderGap)
		}
		if err := <-flood; err != nil {
			return err
		}
		if keep {
			t.Row(name).AddLatencies(took)
		}
	}
	return nil
}

// sessionPairs are pairs in several sessions: pair i is in session i modulo their number.
type sessionPairs struct{ in []*load.REST }

func newSessionPairs(ctx context.Context, server *process.Process, name string, sessions int) (*sessionPairs, error) {
	admin, _, err := driver.AdminClient(server)
	if err != nil {
		return nil, err
	}
	p := &sessionPairs{}
	for i := range sessions {
		id := shoal.SessionID(fmt.Sprint(name, i))
		if _, err := admin.CreateSession(ctx, shoal.NewSession{ID: id}); err != nil {
			return nil, err
		}
		w, err := load.NewWorld(ctx, admin, id, 2*sessionSenders/sessions)
		if err != nil {
			return nil, err
		}
		rest, err := load.NewREST(ctx, load.NewWire(server.URL()), w, sessionSenders/sessions)
		if err != nil {
			return nil, err
		}
		p.in = append(p.in, rest)
	}
	return p, nil
}

// Send implements [load.Pairs].
func (p *sessionPairs) Send(ctx context.Context, i int, text string, wake bool) error {
	return p.in[i%len(p.in)].Send(ctx, i/len(p.in), text, wake)
}

// Wait implements [load.Pairs].
func (p *sessionPairs) Wait(ctx context.Context, i int) ([]byte, error) {
	return p.in[i%len(p.in)].Wait(ctx, i/len(p.in))
}
