package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	hostedRuns    = 200
	hostedRate    = 30 // deltas/s of each
	hostedReaders = 5  // of each run's space
	hostedPosts   = 50
	hostedWindow  = 6 * time.Second
	hostedRounds  = 2

	ackP50, ackP99 = "ack p50 µs", "ack p99 µs"

	quietRow  = "Shoal REST, no runs"
	hostedRow = "Shoal REST, 200 runs streaming"
)

func hostedSpace(i int) shoal.SpaceID { return shoal.SpaceID(fmt.Sprintf("run-%d", i)) }

// hosted measures runs that stream into spaces while other clients post: the cost and the
// latency of a delta from the model to each reader, and the effect on the posts.
func (r *run) hosted(ctx context.Context) error {
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("%d runs streaming %d deltas/s each to %d readers each, with %d posts/s", hostedRuns, hostedRate, hostedReaders, hostedPosts),
		Note: "Each run's model, simulated by a process of its own with OpenAI's chat completions format, writes the text of sendSpaceMessage; each delta carries the time at which it was sent. " +
			"The posts go to another space, one after the other. CPU is the server's for one delivered delta, including the posts.",
		Ratios: []report.Ratio{{Metric: ackP99, Base: quietRow, Heading: "ack p99 ÷ no runs"}},
		Shown:  []string{deliveries, report.CPUMicros, report.P50, report.P99, ackP50, ackP99},
	})
	for range min(r.Rounds, hostedRounds) {
		if err := r.hostedRound(ctx, t); err != nil {
			return err
		}
	}
	streaming := t.Row(hostedRow)
	r.Report.AtLeast(0.98*hostedRuns*hostedRate*hostedReaders, deliveries, streaming.Value(deliveries), t.Title+", delivered")
	r.Report.AtMost(50e3, "µs", streaming.Value(ackP99), t.Title+", p99 of a post's acknowledgement")
	r.Report.AtMost(50e3, "µs", streaming.Value(report.P99), t.Title+", p99 from the model to a reader")
	return nil
}

// hostedRound runs a round with servers of its own.
func (r *run) hostedRound(ctx context.Context, t *report.Table) error {
	model, err := process.Start(ctx, r.Self, "model", "-addr", "ADDR")
	if err != nil {
		return err
	}
	defer model.Stop()
	p, err := r.startNewShoal(ctx)
	if err != nil {
		return err
	}
	defer p.Stop()
	s := &restSide{server: p}
	if err := s.Prepare(ctx, 1); err != nil {
		return err
	}
	f := &fan{Side: s, Readers: new(load.Readers)}
	if f.connect, err = s.readerConnector(ctx, hostedRuns*hostedReaders, func(i int) shoal.SpaceID { return hostedSpace(i / hostedReaders) }); err != nil {
		return err
	}
	defer f.Close()
	if err := s.createHostedAgents(ctx, model.URL(), hostedRuns, hostedRate); err != nil {
		return err
	}
	if err := s.postAtPace(ctx, t.Row(quietRow), hostedWindow/2); err != nil {
		return err
	}
	for i := range hostedRuns * hostedReaders {
		if err := f.follow(i); err != nil {
			return err
		}
	}
	if err := s.trigger(ctx, hostedRuns); err != nil {
		return err
	}
	load.Pause(ctx, 2*time.Second) // until all of them stream
	f.Forget()
	row, before, began := t.Row(hostedRow), process.CPU(p.PID()), time.Now()
	if err := s.postAtPace(ctx, row, hostedWindow); err != nil {
		return err
	}
	took, used := time.Since(began), process.CPU(p.PID())-before
	each := f.Took()
	row.Add(deliveries, float64(len(each))/took.Seconds())
	row.AddLatencies(each)
	row.AddCPU(used, float64(len(each)))
	return ctx.Err()
}

// createHostedAgents creates one hosted agent for each run, in a space with a0. The
// agents' model writes at the given rate in deltas per second.
func (s *restSide) createHostedAgents(ctx context.Context, model string, runs, rate int) error {
	_, admin, err := driver.AdminClient(s.Process())
	if err != nil {
		return err
	}
	header := load.Header(admin)
	for i := range runs {
		id := shoal.EntityID(fmt.Sprintf("hosted-%d", i))
		config, err := json.Marshal(map[string]any{
			"version": "1.0", "agent": map[string]any{"id": id, "system": "You write."},
			"model": map[string]any{
				"provider": "openai", "name": "played", "api": "chat",
				"baseURL": fmt.Sprintf("%s/v1/paced/%d/%s", model, rate, hostedSpace(i)),
			},
		})
		if err != nil {
			return err
		}
		if _, _, err := s.Do(ctx, http.MethodPut, sessionPath+"/agents/"+string(id), header, config); err != nil {
			return err
		}
		if _, err := s.Session.CreateSpace(ctx, shoal.NewSpace{ID: hostedSpace(i), Name: "Run", Members: []shoal.EntityID{load.AgentID(0), id}, AdminAgentID: &id}); err != nil {
			return err
		}
	}
	return nil
}

// trigger starts a run of every hosted agent: a0 mentions it.
func (s *restSide) trigger(ctx context.Context, runs int) error {
	var group sync.WaitGroup
	failed := make(chan error, runs)
	for i := range runs {
		group.Go(func() {
			agent := shoal.EntityID(fmt.Sprintf("hosted-%d", i))
			err := s.PostTo(ctx, 0, hostedSpace(i), "Go on.", []shoal.EntityID{agent})
			if err != nil {
				failed <- err
			}
		})
	}
	group.Wait()
	close(failed)
	return <-failed
}

// postAtPace sends hostedPosts messages per second for the given length, one after the
// other, and adds the latencies of their acknowledgements to the row.
func (s *restSide) postAtPace(ctx context.Context, into *report.Row, length time.Duration) error {
	var took []float64
	for began, sent := time.Now(), 0; time.Since(began) < length; sent++ {
		if !load.Pause(ctx, time.Until(began.Add(time.Duration(sent)*time.Second/hostedPosts))) {
			return context.Cause(ctx)
		}
		at := time.Now()
		if err := s.Send(ctx, 0, load.Text(), false); err != nil {
			return err
		}
		took = append(took, float64(time.Since(at))/1e3)
	}
	into.Add(ackP50, load.Percentile(took, 50))
	into.Add(ackP99, load.Percentile(took, 99))
	return nil
}
