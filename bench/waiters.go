package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/load"
)

// waiterCrowd is a number of agents that wait repeatedly.
type waiterCrowd struct {
	addr    string
	world   *load.World
	running sync.WaitGroup
	ending  atomic.Bool
	renewed atomic.Int64
	woken   []atomic.Int32

	mu     sync.Mutex
	conns  []net.Conn
	took   []float64 // µs from sending a message to waking its waiter
	failed error     // of all waiters
}

// open starts all waits, and returns when they have settled.
func (c *waiterCrowd) open(ctx context.Context) error {
	for i := range crowdWaiters {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
		c.running.Go(func() { c.wait(conn, i) })
	}
	load.Pause(ctx, idleSettle)
	return c.failure()
}

func (c *waiterCrowd) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// wait waits repeatedly until the connection is closed.
func (c *waiterCrowd) wait(conn net.Conn, i int) {
	var seen load.Readers
	in := bufio.NewReaderSize(conn, 1<<10)
	// The first wait has a random length, so that the waits do not end all at once.
	length, ack := time.Second+rand.N(crowdWait), ""
	for {
		answer, err := c.waitOnce(conn, in, i, load.Waiting{Kind: shoal.WaitMentions, TimeoutMs: int(length.Milliseconds()), Ack: ack})
		if err != nil {
			if !c.ending.Load() {
				c.mu.Lock()
				c.failed = errors.Join(c.failed, fmt.Errorf("waiter %d: %w", i, err))
				c.mu.Unlock()
			}
			return
		}
		length, ack = crowdWait, load.CursorIn(answer)
		if ack == "" {
			c.renewed.Add(1)
			continue
		}
		seen.Forget()
		seen.Read(bytes.NewReader(answer))
		c.woken[i].Add(int32(seen.Seen()))
		c.mu.Lock()
		c.took = append(c.took, seen.Took()...)
		c.mu.Unlock()
	}
}

func (c *waiterCrowd) waitOnce(conn net.Conn, in *bufio.Reader, i int, wait load.Waiting) ([]byte, error) {
	body, err := json.Marshal(wait)
	if err != nil {
		return nil, err
	}
	if err := request(conn, http.MethodPost, c.world.WaitPath(i), load.Header(c.world.Keys[i]), body); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // read completely
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s", res.Status, answer)
	}
	return answer, err
}

// idle measures the cost of the waits while no messages arrive.
func (c *waiterCrowd) idle(ctx context.Context, into *report.Row, p *process.Process) error {
	before, renewed, began := process.CPU(p.PID()), c.renewed.Load(), time.Now()
	if !load.Pause(ctx, crowdIdle) {
		return context.Cause(ctx)
	}
	took := time.Since(began).Seconds()
	into.Add(cpuPercent, 100*(process.CPU(p.PID())-before)/took)
	into.Add(renewals, float64(c.renewed.Load()-renewed)/took)
	now, err := process.Resident(p.PID(), "VmRSS")
	into.Add(mibResident, now/(1<<20))
	return errors.Join(err, c.failure())
}

// count waits until all waiters have been woken, at most crowdLate, and adds the numbers
// of those woken, missed, and woken twice.
func (c *waiterCrowd) count(ctx context.Context, into *report.Row) {
	by := func(of func(n int32) bool) (n float64) {
		for i := range c.woken {
			if of(c.woken[i].Load()) {
				n++
			}
		}
		return n
	}
	missed := func(n int32) bool { return n == 0 }
	for began := time.Now(); by(missed) > 0 && time.Since(began) < crowdLate && load.Pause(ctx, 20*time.Millisecond); {
	}
	load.Pause(ctx, crowdAgain)
	into.Add(wokenCol, by(func(n int32) bool { return n > 0 }))
	into.Add(missedCol, by(missed))
	into.Add(twiceCol, by(func(n int32) bool { return n > 1 }))
	c.mu.Lock()
	defer c.mu.Unlock()
	into.AddLatencies(c.took)
}

// close ends all waits and returns the errors that they had before.
func (c *waiterCrowd) close() error {
	c.ending.Store(true)
	c.mu.Lock()
	for _, conn := range c.conns {
		_ = conn.Close() // ends the wait
	}
	c.mu.Unlock()
	c.running.Wait()
	return c.failure()
}
