package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal/internal/load"
)

const (
	overloadSenders = 64
	overloadPeak    = 3 * time.Second
	overloadLength  = 10 * time.Second
	// overloadGate is the burst that a server must bear; three times as much is an
	// overload, or more where the server can do that.
	overloadGate = 2000
	// After it, so many posts a second must be answered soon again.
	afterRate   = 100
	afterLength = 8 * time.Second
	afterMs     = 50

	peakRow  = "as many as 64 senders can"
	overRow  = "more than that"
	afterRow = "afterwards"

	goodput      = "acknowledged/s"
	refusedCol   = "refused/s"
	unsentCol    = "not sent/s"
	recoveredCol = "s until well"
)

// overload measures what a server does when much more comes than it can do.
func (r *run) overload(ctx context.Context) error {
	t := r.report.add(&table{
		title: "Overload",
		note: fmt.Sprintf("First the peak: %d senders, each waiting for its answers. Then posts at a fixed rate for %v, whether earlier ones have been answered or not: three times %s a second, or one and a half times the peak if that is more. "+
			"Refused are those that were answered 429 or 503 at once, not sent those for which %s were under way already. Then %d posts/s: the server is well again behind the last that took longer than %d ms.",
			overloadSenders, overloadLength, thousands(overloadGate), thousands(borneAtOnce), afterRate, afterMs),
		ratios: []ratio{{goodput, peakRow, "acknowledged ÷ peak"}},
		shown:  []string{sentCol, goodput, refusedCol, unsentCol, ackP50, ackP99, recoveredCol, mibMost},
	})
	for range min(r.rounds, 3) {
		if err := r.overloadRound(ctx, t); err != nil {
			return err
		}
	}
	r.report.atLeast(0.8, "× peak", t.ratio(goodput, overRow, peakRow), "Overload, acknowledged")
	r.report.atMost(5, "s", t.row(afterRow).value(recoveredCol), "Overload, until well again")
	return nil
}

func (r *run) overloadRound(ctx context.Context, t *table) error {
	p, err := r.beginNewShoal(ctx)
	if err != nil {
		return err
	}
	defer p.stop()
	s := &restSide{server: p}
	if err := s.open(ctx, overloadSenders); err != nil {
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
	into := t.row(peakRow)
	into.add(goodput, peak)
	into.add(ackP50, load.Percentile(took, 50))
	into.add(ackP99, load.Percentile(took, 99))

	send := func(ctx context.Context, n int) error { return s.Send(ctx, n%overloadSenders, load.Text(), false) }
	rate := max(3*overloadGate, int(1.5*peak))
	found, err := flow{rate: rate, length: overloadLength, send: send}.run(ctx)
	if err == nil {
		err = found.failed
	}
	if err != nil {
		return err
	}
	// What is answered after the end of the overload is no part of what was got
	// through in it.
	inTime := 0
	for _, at := range found.at {
		if at <= overloadLength {
			inTime++
		}
	}
	seconds := overloadLength.Seconds()
	into = t.row(overRow)
	into.add(sentCol, float64(rate))
	// Where less was asked for than the peak, as much as was asked for is all.
	into.add(goodput, min(float64(inTime)/seconds, peak))
	into.add(refusedCol, float64(found.refused)/seconds)
	into.add(unsentCol, float64(found.unsent)/seconds)
	into.add(ackP50, load.Percentile(found.took, 50))
	into.add(ackP99, load.Percentile(found.took, 99))
	most, err := resident(p.pid(), "VmHWM")
	if err != nil {
		return err
	}
	into.add(mibMost, most/(1<<20))
	return afterwards(ctx, t.row(afterRow), send)
}

// afterwards measures how soon a server is well again.
func afterwards(ctx context.Context, into *row, send func(context.Context, int) error) error {
	found, err := flow{rate: afterRate, length: afterLength, send: send}.run(ctx)
	if err == nil {
		err = found.failed
	}
	if err != nil {
		return err
	}
	well := 0.0
	for i, took := range found.took {
		if took > afterMs*1e3 {
			well = max(well, found.at[i].Seconds())
		}
	}
	if found.refused > 0 && well == 0 {
		well = afterLength.Seconds() // when they were refused is not known
	}
	into.add(sentCol, afterRate)
	into.add(goodput, float64(len(found.took))/found.lasted.Seconds())
	into.add(refusedCol, float64(found.refused)/afterLength.Seconds())
	into.add(ackP50, load.Percentile(found.took, 50))
	into.add(ackP99, load.Percentile(found.took, 99))
	into.add(recoveredCol, well)
	return nil
}
