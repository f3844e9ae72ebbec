package crowd

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

// Writer posts into its spaces, one message at a time.
type Writer struct {
	Speaker
	id     shoal.EntityID
	spaces []*Room
	dice   *rand.Rand
	clock  func() time.Duration

	busy chan<- struct{} // receives a value at every first response; capacity 1

	Posts   []*Post
	open    []*Post       // posts whose outcome is unknown
	answers *atomic.Int64 // of all clients
	replays int
	cut     int // attempts without a response
	wrong   []string
}

// Room is a space and the entities that writers mention there.
type Room struct {
	ID      shoal.SpaceID
	waiters []shoal.EntityID
}

// ThinkTime is the pause between two calls of a client.
const ThinkTime = 3 * time.Millisecond

// Run first determines the outcome of unknown posts, then repeats some old posts, and then
// posts new messages, until the server is gone.
func (w *Writer) Run(ctx context.Context) {
	if !w.resolve(ctx) || !w.replay(ctx) {
		return
	}
	for Pause(ctx, ThinkTime) {
		p := w.compose()
		w.Posts = append(w.Posts, p)
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
func (w *Writer) resolve(ctx context.Context) bool {
	for len(w.open) > 0 {
		if !w.try(ctx, w.open[0]) {
			return false
		}
		w.open = w.open[1:]
	}
	return true
}

// replay repeats a few posts with a response, of this life or an earlier one.
func (w *Writer) replay(ctx context.Context) bool {
	for range 2 {
		if len(w.Posts) == 0 {
			return true
		}
		if p := w.Posts[w.dice.IntN(len(w.Posts))]; len(p.answers) > 0 {
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
func (w *Writer) try(ctx context.Context, p *Post) bool {
	for {
		m, err := w.Post(ctx, p)
		switch {
		case err == nil:
			if p.Acked == 0 {
				p.Acked = w.clock()
				select {
				case w.busy <- struct{}{}:
				default:
				}
			}
			p.answers = append(p.answers, See(m))
			w.answers.Add(1)
			return true
		case errors.Is(err, ErrGone):
			w.cut++
			return false
		case !errors.Is(err, ErrUnknown):
			w.wrong = append(w.wrong, fmt.Sprintf("%s: %s: %v", w.id, p.Key, err))
			return false
		case !Pause(ctx, ThinkTime):
			return false
		}
	}
}

// unusualTexts are texts that an incorrect encoder would change.
var unusualTexts = []string{"plain", "<b>&amp;</b>", `"quoted" \ back`, "line\nbreak\ttab", "naïve 東京 🐟", "\u2028\u200b", "{\"json\": [1, 2]}", strings.Repeat("long ", 60)}

// compose returns the next message.
func (w *Writer) compose() *Post {
	in := w.spaces[w.dice.IntN(len(w.spaces))]
	p := &Post{Key: fmt.Sprintf("%s-%d", w.id, len(w.Posts)), sender: w.id, Space: in.ID, Mentions: []shoal.EntityID{}}
	p.Text = fmt.Sprintf("%s %s %x", p.Key, unusualTexts[w.dice.IntN(len(unusualTexts))], w.dice.Uint64())
	for _, id := range in.waiters {
		if w.dice.IntN(3) == 0 {
			p.Mentions = append(p.Mentions, id)
		}
	}
	p.Sent = w.clock()
	return p
}

// Pause waits for d, and returns false if ctx ends before.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
