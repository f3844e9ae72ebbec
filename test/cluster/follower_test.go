package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
)

// follower follows a space on one server, and keeps what it sees.
type follower struct {
	node *node

	mu     sync.Mutex
	texts  crowd.Texts
	events map[shoal.EventType]int
	deltas map[place]time.Time // when each arrived
	last   time.Time           // when the last delta arrived
	wrong  []string
}

// place is the place of a delta: a part, and an offset in its text.
type place struct {
	part   shoal.PartID
	offset int
}

// follow starts to follow a space on a server, until the test ends, and returns when it has
// the snapshot.
func (n *node) follow(t *testing.T, key string, space shoal.SpaceID) *follower {
	t.Helper()
	f := &follower{node: n, texts: crowd.Texts{}, events: map[shoal.EventType]int{}, deltas: map[place]time.Time{}}
	n.events(t, key, space, f.take)
	until(t, "a stream begins on "+n.name, patience, func() bool { return f.saw(shoal.EventSnapshot) > 0 })
	return f
}

// events passes what happens in a space to take, as a server reports it, until the test ends.
func (n *node) events(t *testing.T, key string, space shoal.SpaceID, take func(shoal.Event, error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	session := n.session(t, key)
	running.Go(func() {
		for ev, err := range session.Follow(ctx, client.FollowOptions{Space: space}) {
			take(ev, err)
		}
	})
}

func (f *follower) take(ev shoal.Event, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.events[ev.Type]++
		_, err = f.texts.See(ev)
	}
	if err != nil && !errors.Is(err, client.ErrUnreachable) {
		f.wrong = append(f.wrong, fmt.Sprintf("a stream on %s: %v", f.node.name, err))
	}
	if ev.Type != shoal.EventTextDelta {
		return
	}
	var d struct {
		PartID shoal.PartID
		Offset int
	}
	if err := json.Unmarshal(ev.Data, &d); err != nil {
		f.wrong = append(f.wrong, err.Error())
	}
	f.last = time.Now()
	f.deltas[place{d.PartID, d.Offset}] = f.last
}

// saw returns the number of events of a type so far.
func (f *follower) saw(kind shoal.EventType) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events[kind]
}

// has reports whether a text that the follower sees begins with some words.
func (f *follower) has(words string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, text := range f.texts {
		if strings.HasPrefix(text, words) {
			return true
		}
	}
	return false
}

// lastDelta returns when the last delta arrived.
func (f *follower) lastDelta() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// agrees compares the texts of the follower with stored messages.
func (f *follower) agrees(t *testing.T, messages []shoal.Message) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, wrong := range f.wrong {
		t.Error(wrong)
	}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Type == shoal.TextPart && m.RunID != nil && f.texts[p.ID] != p.Text {
				t.Errorf("%s: a follower on %s has %q of the part %q", m.ID, f.node.name, f.texts[p.ID], p.Text)
			}
		}
	}
}

// later returns how much later than another follower this one got the deltas that both got,
// sorted.
func (f *follower) later(than *follower) (by []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	than.mu.Lock()
	defer than.mu.Unlock()
	for at, first := range than.deltas {
		if second, both := f.deltas[at]; both {
			by = append(by, second.Sub(first))
		}
	}
	slices.Sort(by)
	return by
}
