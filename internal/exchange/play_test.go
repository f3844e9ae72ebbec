package exchange_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/shoaltest/shop"
)

// reader is a client that keeps the texts of the messages that it is shown.
type reader struct {
	exchange.View // is not called for anything else
	x             *exchange.Exchange
	texts         []string
}

func (r *reader) Message(m shoal.Message, _ shoal.RunID) {
	if text := m.Text(); text != "" && (len(r.texts) == 0 || r.texts[len(r.texts)-1] != text) {
		r.texts = append(r.texts, text)
	}
}

func (r *reader) Flush() error { return nil }
func (r *reader) Beat() error  { return nil }

func (r *reader) Over(ctx context.Context) (bool, error) {
	state, _, err := r.x.State(ctx, func(shoal.PendingAction) bool { return false })
	return state != exchange.Active, err
}

// A run that has ended before the exchange reads its state is shown whole: what is read must not be ahead of the
// events.
func TestAnExchangeShowsRunsThatEndAtOnce(t *testing.T) {
	s := shop.New(t, nil)
	x, err := exchange.Open(t.Context(), exchange.Options{Hub: s.Hub, Who: s.Ann, Session: shoal.DefaultSession, Space: shop.Space, Heartbeat: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Post(t.Context(), shoal.Draft{Parts: []shoal.Part{shoal.Text("Hi")}}, nil, ""); err != nil {
		t.Fatal(err)
	}
	job := s.Claim()
	job.Say("Hello.")
	job.Finish(shoal.RunCompleted, nil)
	if err := x.Find(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := &reader{x: x}
	if err := x.Play(t.Context(), r, r); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.texts, "|"); got != "Hello." {
		t.Errorf("the client is shown %q", got)
	}
}
