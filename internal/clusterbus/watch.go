package clusterbus

import (
	"context"
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
)

const (
	// silence is how long a server may not be heard until the bus counts as down.
	silence = 3 * time.Second
	// healEvery is how often all subscribers are notified while the bus is down, and
	// healPause the shortest time between two such notifications.
	healEvery = 2 * time.Second
	healPause = 250 * time.Millisecond
	// nodesEvery is how often a server records that it is alive.
	nodesEvery = 2 * time.Second
)

// watch notifies all subscribers whenever frames may have been missed.
func (b *Bus) watch(ctx context.Context) {
	tick := time.NewTicker(healPause)
	defer tick.Stop()
	var healed time.Time
	missed, down := false, true
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.heal:
			missed = true
		case <-tick.C:
		}
		now := time.Now()
		problem := b.problem(now)
		b.setProblem(problem, now)
		missed = missed || down && problem == ""
		down = problem != ""
		if missed && now.Sub(healed) >= healPause || down && now.Sub(healed) >= healEvery {
			missed, healed = false, now
			b.notifyAll(ctx)
		}
	}
}

// problem returns why the bus is down, or "".
func (b *Bus) problem(now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.up {
		return "it is not connected"
	}
	if !b.peers.heardSince(b.self, now.Add(-silence)) {
		return "this server does not hear itself on it"
	}
	for _, n := range b.nodes {
		if !b.peers.heardSince(senderOf(n.ID), now.Add(-silence)) {
			return fmt.Sprintf("this server does not hear the server %s on it", n.Name)
		}
	}
	return ""
}

// setProblem records why the bus is down, and logs when that changes.
func (b *Bus) setProblem(problem string, now time.Time) {
	b.mu.Lock()
	before, since := b.why, b.since
	if problem != before {
		b.why, b.since = problem, now
	}
	b.mu.Unlock()
	switch problem {
	case before:
	case "":
		b.o.Log.Info("the bus between the servers is up", "was_down", now.Sub(since).Round(time.Millisecond))
	default:
		b.o.Log.Warn("the bus between the servers is down; what happens on other servers is seen here up to four seconds late", "problem", problem)
	}
}

// notifyAll notifies all subscribers of this server, as if something of each of their topics
// had changed. It reads the last places of sessions, so that waits which know of all messages
// need not read.
func (b *Bus) notifyAll(ctx context.Context) {
	topics := b.Topics()
	if len(topics) == 0 {
		return
	}
	b.metrics.healed.Add(1)
	sessions := map[shoal.SessionID]bool{}
	for _, t := range topics {
		if s, ok := core.PlacedSession(t); ok {
			sessions[s] = true
		}
	}
	list := make([]shoal.SessionID, 0, len(sessions))
	for s := range sessions {
		list = append(list, s)
	}
	places, err := b.cluster.LastPlaces(ctx, list)
	if err != nil && ctx.Err() == nil {
		b.o.Log.Warn("the last places of sessions cannot be read; all waits read their inboxes", "error", err)
	}
	for _, t := range topics {
		n := core.Notification{Topic: t, Missed: true, Remote: true}
		if s, ok := core.PlacedSession(t); ok {
			n.Place = places[s]
		}
		b.Bus.Publish(n)
	}
}

// beatLoop records in the database that this server is alive, until ctx ends.
func (b *Bus) beatLoop(ctx context.Context) {
	tick := time.NewTicker(nodesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := b.beat(ctx); err != nil && ctx.Err() == nil {
			b.o.Log.Warn("this server could not record that it is alive", "error", err)
		}
	}
}

// beat records that this server is alive, and reads which others are.
func (b *Bus) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, nodesEvery)
	defer cancel()
	self := b.node
	self.Bus = b.State().Problem
	nodes, err := b.cluster.Beat(ctx, self)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.nodes = nodes
	heard := b.peers.others(time.Now().Add(-peerForgotten))
	b.mu.Unlock()
	b.hasPeers.Store(heard > 0 || len(nodes) > 1)
	return nil
}
