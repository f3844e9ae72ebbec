package crowd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

// Check reads the new messages of the timelines, and compares the timelines with what
// all clients have received. It reports whether there are no findings so far.
func (w *Crowd) Check(t *testing.T, final bool) bool {
	t.Helper()
	for _, r := range w.Rooms {
		var err error
		if w.Timeline[r.ID], err = w.Read(t.Context(), r.ID, w.Timeline[r.ID]); err != nil {
			w.Found = append(w.Found, fmt.Sprintf("lost: the timeline of %s cannot be read: %v", r.ID, err))
			return false
		}
	}
	h, wrong := w.history(final)
	w.Found = append(append(w.Found, wrong...), check(h)...)
	if final && len(w.Found) == 0 {
		w.Found = append(w.Found, checkOrder(h)...)
	}
	return len(w.Found) == 0
}

// history collects what all clients sent and received, and the responses that they could
// not interpret.
func (w *Crowd) history(final bool) (h history, wrong []string) {
	h = history{timeline: w.Timeline, final: final, uncounted: w.Uncounted, timelineReads: w.TimelineReader.timelineReads}
	wrong = append(wrong, w.TimelineReader.wrong...)
	for _, x := range w.Writers {
		h.posts = append(h.posts, x.Posts...)
		wrong = append(wrong, x.wrong...)
	}
	for _, x := range w.Waiters {
		h.inboxes = append(h.inboxes, x.Inbox)
		wrong = append(wrong, x.wrong...)
	}
	for _, x := range w.Readers {
		seen, unexpected := x.so()
		h.streams = append(h.streams, seen)
		wrong = append(wrong, unexpected...)
	}
	if w.Work != nil {
		wrong = append(wrong, w.Work.unexpected()...)
	}
	return h, wrong
}

// Read appends to a timeline the messages after its end.
func (w *Crowd) Read(ctx context.Context, space shoal.SpaceID, timeline []Seen) ([]Seen, error) {
	for {
		next := client.MessagesOptions{After: int64(len(timeline)), Limit: shoal.MaxPage}
		if next.After == 0 {
			next.Before = shoal.MaxPage + 1
		}
		page, err := w.Admin.Messages(ctx, space, next)
		if err != nil {
			return timeline, err
		}
		for _, m := range page {
			timeline = append(timeline, See(m))
		}
		if len(page) < shoal.MaxPage {
			return timeline, nil
		}
	}
}

// CheckReread reads all timelines from the start, and checks that no message has changed
// since it was read after an earlier restart.
func (w *Crowd) CheckReread(ctx context.Context) {
	for _, r := range w.Rooms {
		again, err := w.Read(ctx, r.ID, nil)
		if err != nil || !slices.EqualFunc(again, w.Timeline[r.ID], func(a, b Seen) bool { return a.Bytes == b.Bytes }) {
			w.Found = append(w.Found, fmt.Sprintf("changed: the timeline of %s differs from that after earlier restarts (%v)", r.ID, err))
		}
	}
}

// Settle waits until writers know the outcome of every post, inboxes are empty, readers
// have received everything, and runs have ended.
func (w *Crowd) Settle(t *testing.T, life int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), w.settle)
	defer cancel()
	for _, x := range w.Writers {
		if !x.resolve(ctx) {
			w.Found = append(w.Found, fmt.Sprintf("unresolved: %s cannot determine the outcome of its posts: %q", x.id, x.wrong))
		}
	}
	for _, x := range w.Waiters {
		if err := x.drain(ctx, life); err != nil {
			w.Found = append(w.Found, fmt.Sprintf("not delivered: %s: %v", x.owner, err))
		}
	}
	ends := map[shoal.SpaceID]int64{}
	for _, r := range w.Rooms {
		all, err := w.Read(ctx, r.ID, w.Timeline[r.ID])
		if err != nil {
			w.Found = append(w.Found, fmt.Sprintf("lost: %v", err))
		}
		ends[r.ID] = int64(len(all))
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, x := range w.Readers {
		if !x.Lasting {
			running.Go(func() { x.Run(ctx) })
		}
	}
	for _, x := range w.Readers {
		for !x.has(ends) && ctx.Err() == nil {
			select {
			case <-x.changed:
			case <-ctx.Done():
			}
		}
	}
	if w.Work != nil {
		w.Work.Settle(ctx)
	}
}

// CheckSearch checks that search finds some messages of each room, once each.
func (w *Crowd) CheckSearch(ctx context.Context) {
	for _, r := range w.Rooms {
		timeline := w.Timeline[r.ID]
		for i := 0; i < len(timeline); i += 1 + len(timeline)/8 {
			words, hits := strings.Fields(timeline[i].Text()), 0
			key := words[len(words)-1] // a number that is unique to the message
			for hit, err := range w.Admin.Search(ctx, key, client.SearchOptions{Space: r.ID}) {
				if err != nil {
					w.Found = append(w.Found, fmt.Sprintf("search: %v", err))
					return
				}
				if hit.Message.ID == timeline[i].ID {
					hits++
				}
			}
			if hits != 1 {
				w.Found = append(w.Found, fmt.Sprintf("search: %q finds %s %d times", key, timeline[i].ID, hits))
			}
		}
	}
}
