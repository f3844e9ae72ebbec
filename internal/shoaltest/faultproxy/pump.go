package faultproxy

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// carried is one connection with both of its ends.
type carried struct {
	proxy          *Proxy
	client, server net.Conn
	once           sync.Once
	ended          chan struct{} // closed when the connection has ended
}

// cut ends the connection with a reset.
func (c *carried) cut() {
	c.once.Do(func() {
		close(c.ended)
		reset(c.client)
		reset(c.server)
	})
}

// finish closes both ends normally.
func (c *carried) finish() {
	c.once.Do(func() {
		close(c.ended)
		_ = c.client.Close() // one of them is closed already
		_ = c.server.Close()
	})
}

// maxPiece is the maximum number of bytes of a piece.
const maxPiece = 32 << 10

// pump forwards one direction until either end is closed. The faults that are current after
// a read apply to the piece.
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

// pass passes one piece on and reports whether the connection continues.
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

// piece returns the size of a piece: with a Rate, the bytes of a tenth of a second.
func (f Fault) piece() int {
	if f.Rate == 0 {
		return maxPiece
	}
	return min(maxPiece, max(1, f.Rate/10))
}

// wait waits for d, or, if that is zero, until over is closed, and reports whether the
// connection is still open. It returns early when over is closed.
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

// On resets the connection after the first occurrence of a pattern, which passes, even if
// the pattern spans several pieces.
func On(pattern []byte) func() Gate {
	return func() Gate {
		var tail []byte // the last passed bytes, shorter than the pattern
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

// Once resets one connection before a piece with a text, of which nothing passes. All others pass.
func Once(text string) func() Gate {
	var cut atomic.Bool
	return func() Gate {
		return func(piece []byte) (int, bool) {
			return 0, bytes.Contains(piece, []byte(text)) && cut.CompareAndSwap(false, true)
		}
	}
}
