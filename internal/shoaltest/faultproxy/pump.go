package faultproxy

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// carried is one connection with both of its ends.
type carried struct {
	proxy          *Proxy
	client, server net.Conn
	once           sync.Once
	ended          chan struct{} // closed when it is over
}

// cut ends it with a reset.
func (c *carried) cut() {
	c.once.Do(func() {
		close(c.ended)
		reset(c.client)
		reset(c.server)
	})
}

// finish ends it as whoever closed it did.
func (c *carried) finish() {
	c.once.Do(func() {
		close(c.ended)
		_ = c.client.Close() // one of them is closed already
		_ = c.server.Close()
	})
}

// maxPiece is the most that is passed on at once.
const maxPiece = 32 << 10

// pump passes one direction on until either end is gone. What it reads is judged by
// the faults that hold when it has it.
func (c *carried) pump(from, to net.Conn, mine func(*faults) Fault) {
	defer c.finish()
	buffer := make([]byte, maxPiece)
	var last *faults
	var gate Gate
	for {
		n, err := from.Read(buffer[:mine(c.proxy.faults.Load()).piece()])
		if err != nil {
			return
		}
		all := c.proxy.faults.Load()
		for ; mine(all).Silent; all = c.proxy.faults.Load() {
			if !c.wait(all.over, 0) {
				return
			}
		}
		fault := mine(all)
		if all != last {
			last, gate = all, nil
			if fault.Gate != nil {
				gate = fault.Gate()
			}
		}
		if !c.pass(buffer[:n], to, all, fault, gate) {
			return
		}
	}
}

// pass passes one piece on and reports whether the connection goes on.
func (c *carried) pass(piece []byte, to net.Conn, all *faults, fault Fault, gate Gate) bool {
	cut := false
	if gate != nil {
		var n int
		if n, cut = gate(piece); cut {
			piece = piece[:n]
		}
	}
	if fault.Delay > 0 && !c.wait(all.over, fault.Delay) {
		return false
	}
	for at := 0; at < len(piece); {
		end := min(len(piece), at+fault.piece())
		if _, err := to.Write(piece[at:end]); err != nil {
			return false
		}
		if fault.Rate > 0 && !c.wait(all.over, time.Duration(end-at)*time.Second/time.Duration(fault.Rate)) {
			return false
		}
		at = end
	}
	if cut {
		c.proxy.cuts.Add(1)
		c.cut()
	}
	return !cut
}

// piece is how much is passed on at once: with a Rate a tenth of a second's worth.
func (f Fault) piece() int {
	if f.Rate == 0 {
		return maxPiece
	}
	return min(maxPiece, max(1, f.Rate/10))
}

// wait waits for a time, or without one until over, and reports whether the
// connection still stands. It ends early when over is closed.
func (c *carried) wait(over <-chan struct{}, d time.Duration) bool {
	var passed <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-passed:
		return true
	case <-over:
		return true
	case <-c.ended:
		return false
	}
}

// After lets n bytes pass and resets the connection.
func After(n int) func() Gate {
	return func() Gate {
		left := n
		return func(piece []byte) (int, bool) {
			if len(piece) < left {
				left -= len(piece)
				return len(piece), false
			}
			return left, true
		}
	}
}

// On resets the connection behind the first occurrence of a pattern, which passes,
// wherever the pieces begin and end.
func On(pattern []byte) func() Gate {
	return func() Gate {
		var tail []byte // the end of what has passed, shorter than the pattern
		return func(piece []byte) (int, bool) {
			seen := append(tail, piece...)
			if at := bytes.Index(seen, pattern); at >= 0 {
				return at + len(pattern) - len(tail), true
			}
			tail = append([]byte(nil), seen[max(0, len(seen)-len(pattern)+1):]...)
			return len(piece), false
		}
	}
}
