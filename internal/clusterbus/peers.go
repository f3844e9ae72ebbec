package clusterbus

import (
	"time"
)

// peers is what a server knows of the frames of the others and of its own. It does not read
// the time and has no lock.
type peers struct {
	self     sender
	heard    map[sender]*peer
	selfSeen time.Time // when the last own frame came back
}

// peer is another server that was heard.
type peer struct {
	number uint64 // of its last frame
	at     time.Time
}

// peerForgotten is how long a silent server is remembered. One that is heard again after that
// is a new one.
const peerForgotten = time.Minute

// maxPeers limits the servers that are remembered.
const maxPeers = 1024

func newPeers(self sender) *peers { return &peers{self: self, heard: map[sender]*peer{}} }

// receive records a frame. fresh reports that its items are new: it comes from another server
// and was not received before. gap reports that frames before it were missed.
func (p *peers) receive(f frame, now time.Time) (fresh, gap bool) {
	if f.from == p.self {
		p.selfSeen = now
		return false, false
	}
	x := p.heard[f.from]
	switch {
	case x == nil:
		p.forget(now)
		p.heard[f.from] = &peer{f.number, now}
		return true, f.number > 1
	case f.number <= x.number:
		x.at = now // repeated, or late: what it announces was made up for
		return false, false
	}
	gap = f.number > x.number+1
	x.number, x.at = f.number, now
	return true, gap
}

// knows reports whether a frame of a server was received before.
func (p *peers) knows(id sender) bool { return id == p.self || p.heard[id] != nil }

// forget removes the servers that were silent for too long, and any one if there are too many.
func (p *peers) forget(now time.Time) {
	for id, x := range p.heard {
		if now.Sub(x.at) > peerForgotten || len(p.heard) >= maxPeers {
			delete(p.heard, id)
		}
	}
}

// heardSince reports whether a server was heard after a time.
func (p *peers) heardSince(id sender, after time.Time) bool {
	if id == p.self {
		return p.selfSeen.After(after)
	}
	x := p.heard[id]
	return x != nil && x.at.After(after)
}

// others returns how many other servers were heard after a time.
func (p *peers) others(after time.Time) (n int) {
	for _, x := range p.heard {
		if x.at.After(after) {
			n++
		}
	}
	return n
}
