package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	overloadSenders = 64
	overloadPeak    = 3 * time.Second
	overloadLength  = 10 * time.Second
	// overloadGate is the rate in posts per second that a server must sustain.
	overloadGate = 2000
	// After the overload, afterRate posts per second must again be answered within
	// afterMs.
	afterRate   = 100
	afterLength = 8 * time.Second
	afterMs     = 50

	peakRow   = "peak of 64 senders"
	tripleRow = "three times the required load"
	overRow   = "one and a half times the peak"
	afterRow  = "after the overload"

	goodput      = "acknowledged/s"
	keptCol      = "acknowledged ÷ achievable"
	refusedCol   = "refused/s"
	unsentCol    = "not sent/s"
	recoveredCol = "s to recover"
)

// overload measures a server under a load that exceeds its capacity.
func (r *run) overload(ctx context.Context) error {
	t := r.Report.Add(&report.Table{
		Title: "Overload",
		Note: fmt.Sprintf("First the peak: %d senders, each of which waits for its responses. Then posts at a fixed rate for %v, whether or not earlier ones have been answered: three times %s per second, then one and a half times the peak. Achievable is the peak, or the sent rate if it is lower. "+
			"Refused posts were answered with 429 or 503 immediately; posts were not sent while %s were in progress. Then %d posts/s: the server has recovered after the last post that took longer than %d ms.",
			overloadSenders, overloadLength, report.Thousands(overloadGate), report.Thousands(maxInProgress), afterRate, afterMs),
		Shown: []string{keptCol, sentCol, goodput, refusedCol, unsentCol, ackP50, ackP99, recoveredCol, mibMost},
	})
	for range min(r.Rounds, 3) {
		if err := r.overloadRound(ctx, t); err != nil {
			return err
		}
	}
	r.Report.AtLeast(0.8, "× achievable", t.Row(tripleRow).Value(keptCol), "Overload, "+tripleRow+", acknowledged")
	r.Report.TargetAtLeast(0.8, "× achievable", t.Row(overRow).Value(keptCol), "Overload, "+overRow+", acknowledged")
	r.Report.AtMost(5, "s", t.Row(afterRow).Value(recoveredCol), "Overload, recovery")
	return nil
}

func (r *run) overloadRound(ctx context.Context, t *report.Table) error {
	p, err := r.startNewShoal(ctx)
	if err != nil {
		return err
	}
	defer p.Stop()
	s := &restSide{server: p}
	if err := s.Prepare(ctx, overloadSenders); err != nil {
		return err
	}
	if _, err := load.Post(ctx, s, overloadSenders, time.Second, 0); err != nil {
		return err
	}
	began := time.Now()
	took, err := load.Post(ctx, s, overloadSenders, overloadPeak, 0)
	if err != nil {
		return err
	}
	peak := float64(len(took)) / time.Since(began).Seconds()
	into := t.Row(peakRow)
	into.Add(goodput, peak)
	into.Add(ackP50, load.Percentile(took, 50))
	into.Add(ackP99, load.Percentile(took, 99))

	send := func(ctx context.Context, n int) error { return s.Send(ctx, n%overloadSenders, load.Text(), false) }
	for _, step := range []struct {
		row  string
		rate int
	}{{tripleRow, 3 * overloadGate}, {overRow, int(1.5 * peak)}} {
		if err := overloaded(ctx, t.Row(step.row), step.rate, peak, send); err != nil {
			return err
		}
	}
	most, err := process.Resident(p.PID(), "VmHWM")
	if err != nil {
		return err
	}
	t.Row(overRow).Add(mibMost, most/(1<<20))
	return afterwards(ctx, t.Row(afterRow), send)
}

// overloaded sends posts at a rate that may exceed the peak.
func overloaded(ctx context.Context, into *report.Row, rate int, peak float64, send func(context.Context, int) error) error {
	found, err := flow{rate: rate, length: overloadLength, send: send}.runWithoutFailure(ctx)
	if err != nil {
		return err
	}
	// Posts that are answered after the end of the overload do not count for its
	// throughput.
	inTime := 0
	for _, at := range found.at {
		if at <= overloadLength {
			inTime++
		}
	}
	seconds := overloadLength.Seconds()
	into.Add(sentCol, float64(rate))
	into.Add(goodput, float64(inTime)/seconds)
	into.Add(keptCol, float64(inTime)/seconds/min(float64(rate), peak))
	into.Add(refusedCol, float64(found.refused)/seconds)
	into.Add(unsentCol, float64(found.unsent)/seconds)
	into.Add(ackP50, load.Percentile(found.took, 50))
	into.Add(ackP99, load.Percentile(found.took, 99))
	return nil
}

// afterwards measures the time until a server has recovered.
func afterwards(ctx context.Context, into *report.Row, send func(context.Context, int) error) error {
	found, err := flow{rate: afterRate, length: afterLength, send: send}.runWithoutFailure(ctx)
	if err != nil {
		return err
	}
	recovered := 0.0
	for i, took := range found.took {
		if took > afterMs*1e3 {
			recovered = max(recovered, found.at[i].Seconds())
		}
	}
	if found.refused > 0 && recovered == 0 {
		recovered = afterLength.Seconds() // the time of a refusal is not recorded
	}
	into.Add(sentCol, afterRate)
	into.Add(goodput, float64(len(found.took))/found.lasted.Seconds())
	into.Add(refusedCol, float64(found.refused)/afterLength.Seconds())
	into.Add(ackP50, load.Percentile(found.took, 50))
	into.Add(ackP99, load.Percentile(found.took, 99))
	into.Add(recoveredCol, recovered)
	return nil
}
