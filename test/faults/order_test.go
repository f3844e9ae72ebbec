package faults

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// A space is a list: posts append to it, reads return it. Porcupine searches for one
// order of all posts and reads of a space that is consistent with the times of each call
// and with every response.

// timelineRead is a successful read of a whole timeline: the number of messages and a
// checksum of their ids.
type timelineRead struct {
	space        shoal.SpaceID
	called, back time.Duration
	n            int64
	sum          uint64
}

// timelineReader reads the new messages of the timelines repeatedly.
type timelineReader struct {
	session       *client.Session
	clock         func() time.Duration
	rooms         []*room
	known         map[shoal.SpaceID]timelineState
	answers       *atomic.Int64 // of everybody
	timelineReads []timelineRead
	wrong         []string
}

// timelineState is the number of messages of a space and a checksum of their ids.
type timelineState struct {
	n   int64
	sum uint64
}

var sumSeed = maphash.MakeSeed()

func (l timelineState) append(id shoal.MessageID) timelineState {
	return timelineState{l.n + 1, l.sum*31 + maphash.String(sumSeed, string(id))}
}

// timelineReadInterval is short enough for many reads, and long enough not to be the load.
const timelineReadInterval = 15 * time.Millisecond

func (l *timelineReader) run(ctx context.Context) {
	for pause(ctx, timelineReadInterval) {
		for _, r := range l.rooms {
			if !l.once(ctx, r.id) {
				return
			}
		}
	}
}

func (l *timelineReader) once(ctx context.Context, space shoal.SpaceID) bool {
	called, at := l.clock(), l.known[space]
	page := client.MessagesOptions{After: at.n, Limit: shoal.MaxPage}
	if at.n == 0 {
		page.Before = shoal.MaxPage + 1
	}
	got, err := l.session.Messages(ctx, space, page)
	if err != nil {
		return false // no response
	}
	for _, m := range got {
		if m.Seq != at.n+1 {
			l.wrong = append(l.wrong, fmt.Sprintf("gap: a read of %s after %d has seq %d", space, at.n, m.Seq))
			return false
		}
		at = at.append(m.ID)
	}
	l.known[space] = at
	l.answers.Add(1)
	if len(got) < shoal.MaxPage { // the end of the timeline
		l.timelineReads = append(l.timelineReads, timelineRead{space, called, l.clock(), at.n, at.sum})
	}
	return true
}

// orderLimit is the time limit for one space.
const orderLimit = 2 * time.Minute

// appended is the input of a post, or of a read, whose id is empty.
type appended struct{ id shoal.MessageID }

var space = porcupine.Model{
	Init: func() any { return timelineState{} },
	Step: func(state, input, output any) (bool, any) {
		is, in, out := state.(timelineState), input.(appended), output.(timelineState)
		if in.id == "" {
			return is == out, is
		}
		next := is.append(in.id)
		return next.n == out.n, next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v → %v", input, output) },
}

// checkOrder checks that each space behaved as one list all the time. A stored post
// without a response took effect at some time after it was sent.
func checkOrder(h history) (wrong []string) {
	stored := map[shoal.SpaceID]map[string]seen{}
	for id, timeline := range h.timeline {
		stored[id] = map[string]seen{}
		for _, m := range timeline {
			stored[id][keyOf(m)] = m
		}
	}
	operations := map[shoal.SpaceID][]porcupine.Operation{}
	for i, p := range h.posts {
		m, ok := stored[p.space][p.key]
		if !ok {
			continue // check finds posts that must not be missing
		}
		back := int64(math.MaxInt64)
		if p.acked > 0 {
			m, back = p.answers[0], int64(p.acked)
		}
		operations[p.space] = append(operations[p.space], porcupine.Operation{
			ClientId: i, Input: appended{m.ID}, Call: int64(p.sent), Output: timelineState{n: m.Seq}, Return: back,
		})
	}
	for i, l := range h.timelineReads {
		operations[l.space] = append(operations[l.space], porcupine.Operation{
			ClientId: i, Input: appended{}, Call: int64(l.called), Output: timelineState{l.n, l.sum}, Return: int64(l.back),
		})
	}
	for id, all := range operations {
		switch porcupine.CheckOperationsTimeout(space, all, orderLimit) {
		case porcupine.Illegal:
			wrong = append(wrong, fmt.Sprintf("order: no order of the %d posts and reads of %s explains their responses", len(all), id))
		case porcupine.Unknown:
			wrong = append(wrong, fmt.Sprintf("order: found no order of %d posts and reads of %s within %v", len(all), id, orderLimit))
		}
	}
	return wrong
}

// sumOf returns the state that a read of the first n messages of the space "den" returns.
func sumOf(h *history, n int) (at timelineState) {
	for _, m := range h.timeline["den"][:n] {
		at = at.append(m.ID)
	}
	return at
}

func TestCheckOrderFindsPlantedFaults(t *testing.T) {
	read := func(h *history, n int, called, back time.Duration) {
		at := sumOf(h, n)
		h.timelineReads = append(h.timelineReads, timelineRead{"den", called, back, at.n, at.sum})
	}
	for _, c := range []struct {
		planted string
		plant   func(h *history)
		legal   bool
	}{
		{"nothing", func(*history) {}, true},
		{"a read between two posts", func(h *history) { read(h, 1, 16, 18) }, true},
		{"a read while a post is in progress", func(h *history) { read(h, 0, 11, 12); read(h, 1, 13, 14) }, true},
		{"an unknown post is seen", func(h *history) { h.posts[2].answers, h.posts[2].acked = nil, 0; read(h, 3, 33, 34) }, true},
		{"a read misses an acknowledged post", func(h *history) { read(h, 1, 26, 27) }, false},
		{"a read returns a post that was not sent yet", func(h *history) { read(h, 2, 16, 18) }, false},
		{"a read goes back", func(h *history) { read(h, 1, 11, 12); read(h, 0, 13, 14) }, false},
		{"a read has another message", func(h *history) { read(h, 2, 26, 27); h.timelineReads[0].sum++ }, false},
		{"two posts have the same seq", func(h *history) { h.posts[1].answers[0].Seq = 1 }, false},
		{"posts are in the wrong order", func(h *history) { h.posts[3].sent, h.posts[3].acked = 1, 2 }, false},
	} {
		h := soundHistory()
		c.plant(h)
		if wrong := checkOrder(*h); (len(wrong) == 0) != c.legal {
			t.Errorf("%s: got %q, want legal %v", c.planted, wrong, c.legal)
		}
	}
}
