package screen

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/chat"
	"github.com/shoal-dev/shoal/internal/chat/feed"
)

const (
	// lookAgain is the interval in which the unread counts are read again.
	lookAgain = 30 * time.Second
	// tryAgain is the time before a failed message is sent again.
	tryAgain = 2 * time.Second
	// olderPage is the number of older messages in one request.
	olderPage = 50
)

// The results of calls.
type (
	happened struct {
		batch feed.Batch
		err   error
	}
	listed struct {
		pending []shoal.PendingAction
		err     error
	}
	met     struct{ people []shoal.Entity }
	counted struct{ spaces []shoal.Space }
	fetched struct {
		messages []shoal.Message
		err      error
	}
	ticked struct{}
	retry  struct{ key string }
	posted struct {
		key     string
		message shoal.Message
		err     error
	}
	settled struct {
		id     shoal.PendingID
		action shoal.PendingAction
		err    error
	}
)

// call returns a command that runs do. Its result is dropped when the screen has ended.
func (m *model) call(do func(ctx context.Context) tea.Msg) tea.Cmd {
	if m.session == nil {
		return nil
	}
	return func() tea.Msg {
		if !m.under.begin() {
			return nil
		}
		defer m.under.all.Done()
		return do(m.life)
	}
}

// underway counts the calls that have not returned yet.
type underway struct {
	mu   sync.Mutex
	over bool
	all  sync.WaitGroup
}

// begin reports whether another call may start; after true the caller must call all.Done.
func (u *underway) begin() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.over {
		u.all.Add(1)
	}
	return !u.over
}

// finish permits no further calls and waits for the running ones.
func (u *underway) finish() {
	u.mu.Lock()
	u.over = true
	u.mu.Unlock()
	u.all.Wait()
}

func (m *model) next() tea.Cmd {
	return m.call(func(ctx context.Context) tea.Msg {
		batch, err := m.events.Next(ctx)
		return happened{batch, err}
	})
}

func (m *model) people() tea.Cmd {
	return m.call(func(ctx context.Context) tea.Msg {
		return met{all(m.session.Entities(ctx))} // on an error, states arrive with their changes
	})
}

func (m *model) tick() tea.Cmd {
	return m.call(func(ctx context.Context) tea.Msg {
		wait(ctx, lookAgain)
		return ticked{}
	})
}

func (m *model) counts() tea.Cmd {
	return m.call(func(ctx context.Context) tea.Msg {
		return counted{all(m.session.Spaces(ctx))} // on an error, the next tick counts again
	})
}

// wait waits for d or the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// all collects a list up to its end or an error.
func all[T any](list func(func(T, error) bool)) (out []T) {
	for v, err := range list {
		if err != nil {
			return out
		}
		out = append(out, v)
	}
	return out
}

func (m *model) listPending() tea.Cmd {
	return m.call(func(ctx context.Context) tea.Msg {
		var in listed
		for p, err := range m.session.PendingActions(ctx, client.PendingOptions{}) {
			if err != nil {
				wait(ctx, tryAgain)
				return listed{err: err}
			}
			in.pending = append(in.pending, p)
		}
		return in
	})
}

func (m *model) fetch(space shoal.SpaceID, o client.MessagesOptions) tea.Cmd {
	return m.call(func(ctx context.Context) tea.Msg {
		got, err := m.session.Messages(ctx, space, o)
		if err != nil {
			wait(ctx, tryAgain)
		}
		return fetched{got, err}
	})
}

// read marks the visible messages of the current space as read.
func (m *model) read() tea.Cmd {
	if m.away || !m.timeline.follow || !m.state.Live || m.space == "" {
		return nil
	}
	space, seq := m.space, m.state.Read(m.space)
	if seq == 0 {
		return nil
	}
	return m.call(func(ctx context.Context) tea.Msg {
		_ = m.session.MarkRead(ctx, space, seq) // on an error, the messages are counted as unread again
		return nil
	})
}

// send adds a message to the outbox.
func (m *model) send(text string, mentions []shoal.EntityID) tea.Cmd {
	m.keys++
	m.out.Add(chat.Outgoing{Key: m.prefix + "-" + strconv.Itoa(m.keys), Space: m.space, Text: text, Mentions: mentions})
	m.timeline.follow = true
	return m.post()
}

// post sends the next message of the outbox, if the connection is open.
func (m *model) post() tea.Cmd {
	if !m.state.Live {
		return nil
	}
	o, ok := m.out.Next()
	if !ok {
		return nil
	}
	return m.call(func(ctx context.Context) tea.Msg {
		got, err := m.session.Post(ctx, o.Space, o.Draft(), client.IdempotencyKey(o.Key))
		return posted{o.Key, got, err}
	})
}

// notNow reports whether a message may succeed later.
func notNow(err error) bool {
	for _, kind := range []shoal.Kind{client.ErrUnreachable, shoal.Busy, shoal.RateLimited} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (m *model) postedNow(in posted) tea.Cmd {
	switch {
	case in.err == nil:
		m.out.Posted(in.key)
		m.state.Put(in.message)
		for _, id := range in.message.SkippedAgents {
			m.note = fmt.Sprintf("%s is already running and will not act on this message", id)
		}
		return tea.Batch(m.post(), m.read())
	case notNow(in.err):
		return m.call(func(ctx context.Context) tea.Msg {
			wait(ctx, tryAgain)
			return retry{in.key}
		})
	}
	m.out.Refused(in.key, sentence(in.err))
	return m.post()
}

// sentence returns the text of an error for people.
func sentence(err error) string {
	var e *shoal.Error
	if errors.As(err, &e) && e.Msg != "" {
		return e.Msg
	}
	return err.Error()
}
