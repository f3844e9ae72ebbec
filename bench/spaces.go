package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	// spacesAgents is the number of agents that wait, each with as many waits as it may have.
	spacesAgents = 100
	openP50      = "p50 to open"
)

// spaceCounts are the numbers of spaces of the agents whose waits are compared.
var spaceCounts = []int{1, 100, 1000}

func spacesRow(n int) string {
	if n == 1 {
		return "agents in 1 space"
	}
	return "agents in " + report.Thousands(n) + " spaces"
}

// spaces compares the waits of agents in different numbers of spaces.
func (r *run) spaces(ctx context.Context) error {
	waits := spacesAgents * shoal.MaxOpenWaits
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("Open waits over REST, %d, by the spaces of the agents", waits),
		Note: fmt.Sprintf("%d agents are in the same spaces, and each has %d waits open. Memory is the growth of the server's proportional set size from before they are opened until two seconds after, CPU the cost of opening one. "+
			"Opening is also measured with waits of no length, one after the other. Each server has only the spaces of its row.", spacesAgents, shoal.MaxOpenWaits),
		Ratios: []report.Ratio{
			{Metric: kibEach, Base: spacesRow(1), Heading: "memory ÷ 1 space"},
			{Metric: openP50, Base: spacesRow(1), Heading: "to open ÷ 1 space"},
			{Metric: report.CPUMicros, Base: spacesRow(1), Heading: "CPU ÷ 1 space"},
		},
		Shown: []string{kibEach, openP50, report.CPUMicros},
	})
	for _, n := range spaceCounts {
		if err := r.waitsIn(ctx, n, t.Row(spacesRow(n))); err != nil {
			return fmt.Errorf("%s: %w", spacesRow(n), err)
		}
	}
	r.Report.AtMost(2, "× 1 space", t.Ratio(kibEach, spacesRow(1000), spacesRow(1)), "An open wait in 1,000 spaces, memory")
	r.Report.AtMost(2, "× 1 space", t.Ratio(openP50, spacesRow(1000), spacesRow(1)), "An open wait in 1,000 spaces, p50 to open")
	return nil
}

// waitsIn measures the waits of agents in a number of spaces, in some rounds.
func (r *run) waitsIn(ctx context.Context, spaces int, into *report.Row) error {
	data := r.NewPath("spaces")
	p, err := r.StartShoal(ctx, data)
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, p, spacesAgents)
	for n := 0; n < spaces && err == nil; n++ {
		err = w.Room(ctx, load.SpaceID(n), 0, spacesAgents)
	}
	p.Stop()
	if err != nil {
		return err
	}
	for range min(r.Rounds, idleRounds) {
		p, err := r.StartShoal(ctx, data)
		if err != nil {
			return err
		}
		err = errors.Join(openWaits(ctx, p, w, into), openTime(ctx, p, w, into))
		p.Stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// openTime measures waits that return at once.
func openTime(ctx context.Context, p *process.Process, w *load.World, into *report.Row) error {
	wire := load.NewWire(p.URL())
	defer wire.Close()
	body, err := json.Marshal(load.Waiting{Kind: shoal.WaitMessages})
	if err != nil {
		return err
	}
	took, err := load.Repeat(1, time.Second, 0, func(int) error {
		_, _, err := wire.Do(ctx, http.MethodPost, w.WaitPath(0), load.Header(w.Keys[0]), body)
		return err
	})
	if err == nil {
		into.Add(openP50, load.Percentile(took, 50))
	}
	return err
}

// openWaits opens all waits and measures what they cost.
func openWaits(ctx context.Context, p *process.Process, w *load.World, into *report.Row) error {
	if !load.Pause(ctx, idleSettle/2) {
		return context.Cause(ctx)
	}
	before, err := process.Memory(p.PID())
	if err != nil {
		return err
	}
	used := process.CPU(p.PID())
	body, err := json.Marshal(load.Waiting{Kind: shoal.WaitMessages, TimeoutMs: load.WaitMs})
	if err != nil {
		return err
	}
	conns := make([]net.Conn, 0, spacesAgents*shoal.MaxOpenWaits)
	defer func() {
		for _, c := range conns {
			_ = c.Close() // not used any more
		}
	}()
	for i := range cap(conns) {
		c, err := net.Dial("tcp", p.Addr)
		if err != nil {
			return err
		}
		conns = append(conns, c)
		agent := i % spacesAgents
		if err := request(c, http.MethodPost, w.WaitPath(agent), load.Header(w.Keys[agent]), body); err != nil {
			return err
		}
	}
	if !load.Pause(ctx, idleSettle) {
		return context.Cause(ctx)
	}
	into.AddCPU(process.CPU(p.PID())-used, float64(len(conns)))
	after, err := process.Memory(p.PID())
	if err != nil {
		return err
	}
	into.Add(kibEach, (after-before)/1024/float64(len(conns)))
	return wokenAll(ctx, p, w, conns)
}

// wokenAll posts one message, which ends all waits, and checks that each of them has it. So they
// were all open.
func wokenAll(ctx context.Context, p *process.Process, w *load.World, conns []net.Conn) error {
	rest := load.RESTOf(load.NewWire(p.URL()), w, 0)
	defer rest.Close()
	if err := rest.PostTo(ctx, 0, load.SpaceID(0), load.Text(), []shoal.EntityID{}); err != nil {
		return err
	}
	for i, c := range conns {
		if i%spacesAgents == 0 {
			continue // the sender
		}
		if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			return err
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return fmt.Errorf("waiter %d: %w", i, err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			return fmt.Errorf("waiter %d: %s, %w", i, res.Status, err)
		}
	}
	return nil
}
