package crowd

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"sync/atomic"
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

// TimelineReader reads the new messages of the timelines repeatedly.
type TimelineReader struct {
	session       *client.Session
	clock         func() time.Duration
	rooms         []*Room
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

// Run reads until ctx ends or a read fails.
func (l *TimelineReader) Run(ctx context.Context) {
	for Pause(ctx, timelineReadInterval) {
		for _, r := range l.rooms {
			if !l.once(ctx, r.ID) {
				return
			}
		}
	}
}

func (l *TimelineReader) once(ctx context.Context, space shoal.SpaceID) bool {
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
	stored := map[shoal.SpaceID]map[string]Seen{}
	for id, timeline := range h.timeline {
		stored[id] = map[string]Seen{}
		for _, m := range timeline {
			stored[id][keyOf(m)] = m
		}
	}
	operations := map[shoal.SpaceID][]porcupine.Operation{}
	for i, p := range h.posts {
		m, ok := stored[p.Space][p.Key]
		if !ok {
			continue // check finds posts that must not be missing
		}
		back := int64(math.MaxInt64)
		if p.Acked > 0 {
			m, back = p.answers[0], int64(p.Acked)
		}
		operations[p.Space] = append(operations[p.Space], porcupine.Operation{
			ClientId: i, Input: appended{m.ID}, Call: int64(p.Sent), Output: timelineState{n: m.Seq}, Return: back,
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
