package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
)

// writer posts into its spaces, one message at a time.
type writer struct {
	speaker
	id     shoal.EntityID
	spaces []*room
	dice   *rand.Rand
	clock  func() time.Duration

	busy chan<- struct{} // receives a value at every first response; capacity 1

	posts   []*post
	open    []*post       // posts whose outcome is unknown
	answers *atomic.Int64 // of all clients
	replays int
	cut     int // attempts without a response
	wrong   []string
}

// room is a space and the entities that writers mention there.
type room struct {
	id      shoal.SpaceID
	waiters []shoal.EntityID
}

const thinkTime = 3 * time.Millisecond

// run first determines the outcome of unknown posts, then repeats some old posts, and then
// posts new messages, until the server is gone.
func (w *writer) run(ctx context.Context) {
	if !w.resolve(ctx) || !w.replay(ctx) {
		return
	}
	for pause(ctx, thinkTime) {
		p := w.compose()
		w.posts = append(w.posts, p)
		if w.try(ctx, p) {
			continue
		}
		if w.dice.IntN(8) == 0 {
			p.abandoned = true
		} else {
			w.open = append(w.open, p)
		}
		return
	}
}

// resolve retries the posts without a response.
func (w *writer) resolve(ctx context.Context) bool {
	for len(w.open) > 0 {
		if !w.try(ctx, w.open[0]) {
			return false
		}
		w.open = w.open[1:]
	}
	return true
}

// replay repeats a few posts with a response, of this life or an earlier one.
func (w *writer) replay(ctx context.Context) bool {
	for range 2 {
		if len(w.posts) == 0 {
			return true
		}
		if p := w.posts[w.dice.IntN(len(w.posts))]; len(p.answers) > 0 {
			w.replays++
			if !w.try(ctx, p) {
				return false
			}
		}
	}
	return true
}

// try attempts to post p and reports whether it got a response. It retries if the server
// runs but fails.
func (w *writer) try(ctx context.Context, p *post) bool {
	for {
		m, err := w.post(ctx, p)
		switch {
		case err == nil:
			if p.acked == 0 {
				p.acked = w.clock()
				select {
				case w.busy <- struct{}{}:
				default:
				}
			}
			p.answers = append(p.answers, see(m))
			w.answers.Add(1)
			return true
		case errors.Is(err, errGone):
			w.cut++
			return false
		case !errors.Is(err, errUnknown):
			w.wrong = append(w.wrong, fmt.Sprintf("%s: %s: %v", w.id, p.key, err))
			return false
		case !pause(ctx, thinkTime):
			return false
		}
	}
}

// unusualTexts are texts that an incorrect encoder would change.
var unusualTexts = []string{"plain", "<b>&amp;</b>", `"quoted" \ back`, "line\nbreak\ttab", "naïve 東京 🐟", "\u2028\u200b", "{\"json\": [1, 2]}", strings.Repeat("long ", 60)}

// compose returns the next message.
func (w *writer) compose() *post {
	in := w.spaces[w.dice.IntN(len(w.spaces))]
	p := &post{key: fmt.Sprintf("%s-%d", w.id, len(w.posts)), sender: w.id, space: in.id, mentions: []shoal.EntityID{}}
	p.text = fmt.Sprintf("%s %s %x", p.key, unusualTexts[w.dice.IntN(len(unusualTexts))], w.dice.Uint64())
	for _, id := range in.waiters {
		if w.dice.IntN(3) == 0 {
			p.mentions = append(p.mentions, id)
		}
	}
	p.sent = w.clock()
	return p
}

// pause waits for d, and returns false if ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
