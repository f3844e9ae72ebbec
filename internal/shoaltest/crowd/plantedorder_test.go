package crowd

import (
	"testing"
	"time"
)

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
		{"an unknown post is seen", func(h *history) { h.posts[2].answers, h.posts[2].Acked = nil, 0; read(h, 3, 33, 34) }, true},
		{"a read misses an acknowledged post", func(h *history) { read(h, 1, 26, 27) }, false},
		{"a read returns a post that was not sent yet", func(h *history) { read(h, 2, 16, 18) }, false},
		{"a read goes back", func(h *history) { read(h, 1, 11, 12); read(h, 0, 13, 14) }, false},
		{"a read has another message", func(h *history) { read(h, 2, 26, 27); h.timelineReads[0].sum++ }, false},
		{"two posts have the same seq", func(h *history) { h.posts[1].answers[0].Seq = 1 }, false},
		{"posts are in the wrong order", func(h *history) { h.posts[3].Sent, h.posts[3].Acked = 1, 2 }, false},
	} {
		h := soundHistory()
		c.plant(h)
		if wrong := checkOrder(*h); (len(wrong) == 0) != c.legal {
			t.Errorf("%s: got %q, want legal %v", c.planted, wrong, c.legal)
		}
	}
}
