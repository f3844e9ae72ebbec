package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/peer"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

const (
	waitBatch = 250
	waitsCol  = "waits"
)

// waitsInMemory counts the waits over MCP that Shoal and the plain SDK hold within
// crowdMiB of memory.
func (r *run) waitsInMemory(ctx context.Context, data string, w *load.World) error {
	t := r.Report.Add(&report.Table{
		Title: fmt.Sprintf("Waits over MCP in %d MiB", crowdMiB),
		Note: fmt.Sprintf("MCP clients, each with an MCP session and a connection of its own, open waits in batches of %d until the server's resident set exceeds that size, or %s are waiting. "+
			"Then some of them are woken; of Shoal, if all are waiting, each one once.", waitBatch, report.Thousands(crowdWaiters)),
		Ratios: []report.Ratio{{Metric: waitsCol, Base: peer.SDKRow, Heading: "waits ÷ SDK"}}, Shown: []string{waitsCol, mibResident, report.CPUMicros, wokenCol, missedCol, twiceCol},
	})
	for _, in := range r.idlers(data, w) {
		if (in.name != peer.SDKRow && in.name != mcpRow) || !r.Wants(in.name) {
			continue
		}
		if err := in.openUntilFull(ctx, r.Run, t.Row(in.name)); err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
	}
	r.Report.AtLeast(1, "× SDK", t.Ratio(waitsCol, mcpRow, peer.SDKRow), t.Title)
	r.Report.AtLeast(crowdWaiters, waitsCol, t.Row(mcpRow).Value(waitsCol), t.Title)
	r.Report.AtMost(0, "agents", t.Row(mcpRow).Value(missedCol), t.Title+", not woken")
	r.Report.AtMost(0, "agents", t.Row(mcpRow).Value(twiceCol), t.Title+", woken twice")
	return nil
}

// openUntilFull opens waits until the server uses more than crowdMiB of memory.
func (in idler) openUntilFull(ctx context.Context, r *driver.Run, into *report.Row) error {
	p, err := in.start(ctx, r)
	if err != nil {
		return err
	}
	defer p.Stop()
	conns := make([]net.Conn, 0, crowdWaiters)
	defer func() {
		for _, c := range conns {
			_ = c.Close() // not used any more
		}
	}()
	used, grown := process.CPU(p.PID()), 0.0
	for len(conns) < crowdWaiters && grown <= crowdMiB<<20 && ctx.Err() == nil {
		first := len(conns)
		for range waitBatch {
			c, err := net.Dial("tcp", p.Addr)
			if err != nil {
				return err
			}
			conns = append(conns, c)
		}
		if err := in.openBatch(p, conns, first); err != nil {
			return err
		}
		if grown, err = process.Resident(p.PID(), "VmRSS"); err != nil {
			return err
		}
	}
	into.Add(waitsCol, float64(len(conns)))
	into.Add(mibResident, grown/(1<<20))
	into.CPU, into.Operations = process.CPU(p.PID())-used, float64(len(conns))
	if in.wakeAll != nil && len(conns) == crowdWaiters {
		if err := in.wakeAll(ctx, p); err != nil {
			return err
		}
		countWoken(ctx, conns, into)
		return context.Cause(ctx)
	}
	for _, i := range rand.Perm(len(conns))[:idleWoken] {
		if err := in.verifyWait(ctx, p, conns[i], i); err != nil {
			return fmt.Errorf("waiter %d: %w", i, err)
		}
	}
	return context.Cause(ctx)
}

// countWoken reads the answer of each wait, and whatever else comes. A wait that has been
// answered gets nothing more.
func countWoken(ctx context.Context, conns []net.Conn, into *report.Row) {
	var woken, twice atomic.Int64
	var reading sync.WaitGroup
	until := time.Now().Add(crowdLate)
	for k := range 8 {
		reading.Go(func() {
			for i := k; i < len(conns); i += 8 {
				_ = conns[i].SetReadDeadline(until) // an error is that of the read
				in := bufio.NewReaderSize(conns[i], 1<<10)
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					continue
				}
				answer, err := io.ReadAll(res.Body)
				_ = res.Body.Close() // it was read completely
				if err == nil && bytes.Contains(answer, []byte(`"timedOut":false`)) {
					woken.Add(1)
				}
				if in.Buffered() > 0 {
					twice.Add(1)
				}
			}
		})
	}
	reading.Wait()
	if !load.Pause(ctx, crowdAgain) {
		return
	}
	for _, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond)) // as above
		if n, _ := c.Read(make([]byte, 1)); n > 0 {
			twice.Add(1)
		}
	}
	into.Add(wokenCol, float64(woken.Load()))
	into.Add(missedCol, float64(int64(len(conns))-woken.Load()))
	into.Add(twiceCol, float64(twice.Load()))
}

// openBatch opens the waits of the connections from index first on.
func (in idler) openBatch(p *process.Process, conns []net.Conn, first int) error {
	var opening sync.WaitGroup
	failed := make(chan error, len(conns)-first)
	for k := range 8 {
		opening.Go(func() {
			for i := first + k; i < len(conns); i += 8 {
				if err := in.open(p, conns[i], bufio.NewReaderSize(conns[i], 1<<10), i); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	opening.Wait()
	close(failed)
	return <-failed
}
