package exchange_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/hub/runs"
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

// In a shared space, what a client says does not answer the question of another person's run, and a client that
// disconnects does not cancel it.
func TestRunsOfOthersAreLeftAlone(t *testing.T) {
	s := shop.New(t, nil)
	s.NewKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bob", Kind: shoal.Human})
	if _, err := s.Hub.Spaces.Join(t.Context(), s.Admin, shoal.DefaultSession, shop.Space, "bob"); err != nil {
		t.Fatal(err)
	}
	bob := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "bob", KeyID: "test"}
	hello := shoal.Draft{Parts: []shoal.Part{shoal.Text("Hi")}}
	if _, err := s.Hub.Messages.Post(t.Context(), bob, shoal.DefaultSession, shop.Space, hello, ""); err != nil {
		t.Fatal(err)
	}
	job := s.Claim()
	job.Ask("Which city?")
	open := func(caller shoal.Principal) *exchange.Exchange {
		x, err := exchange.Open(t.Context(), exchange.Options{Hub: s.Hub, Who: caller, Session: shoal.DefaultSession, Space: shop.Space, Heartbeat: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(x.Close)
		return x
	}
	of := open(s.Ann)
	if answered, err := of.AnswerQuestion(t.Context(), "", hello); answered || err != nil {
		t.Errorf("what ann says answers the question that bob was asked: %v, %v", answered, err)
	}
	if answered, err := open(bob).AnswerQuestion(t.Context(), "", hello); !answered || err != nil {
		t.Errorf("what bob says answers his question: %v, %v", answered, err)
	}
	posted, err := s.Hub.Messages.Post(t.Context(), bob, shoal.DefaultSession, shop.Space, hello, "")
	if err != nil || len(posted.Runs) != 1 {
		t.Fatalf("bob's message starts %+v, %v", posted.Runs, err)
	}
	queued := posted.Runs[0].RunID
	if err := errors.Join(of.Want(t.Context(), queued), of.CancelRunning(t.Context())); err != nil {
		t.Fatal(err)
	}
	if run, err := s.Hub.Runs.Get(t.Context(), s.Admin, shoal.DefaultSession, queued); err != nil || run.Status != shoal.RunQueued {
		t.Errorf("after ann has disconnected bob's run is %s, %v", run.Status, err)
	}
	mine := open(bob)
	if err := errors.Join(mine.Want(t.Context(), queued), mine.CancelRunning(t.Context())); err != nil {
		t.Fatal(err)
	}
	if run, err := s.Hub.Runs.Get(t.Context(), s.Admin, shoal.DefaultSession, queued); err != nil || run.Status != shoal.RunCanceled {
		t.Errorf("after bob has disconnected his run is %s, %v", run.Status, err)
	}
}

// ending is a client that lets the run end once it is shown.
type ending struct {
	reader
	end func()
}

func (e *ending) Flush() error {
	if e.end != nil {
		e.end()
		e.end = nil
	}
	return nil
}

// An exchange ends with a run that a message of another space has started, though the events of that run are in the
// other space.
func TestRunsOfOtherSpacesEnd(t *testing.T) {
	s := shop.New(t, nil)
	s.NewKey(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bob", Kind: shoal.Human})
	if _, err := s.Hub.Spaces.Create(t.Context(), s.Admin, shoal.DefaultSession, shoal.NewSpace{ID: "aside", Name: "Aside", Members: []shoal.EntityID{"bob", "bot"}}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Hub.Messages.Post(t.Context(), s.Ann, shoal.DefaultSession, shop.Space, shoal.Draft{Parts: []shoal.Part{shoal.Text("Hi")}}, ""); err != nil {
		t.Fatal(err)
	}
	job := s.Claim()
	job.Write(func(c *runs.RunChange) error {
		if err := c.Start(); err != nil {
			return err
		}
		m, err := c.OpenMessage(shoal.Message{SpaceID: "aside"}, nil)
		if err != nil {
			return err
		}
		text := shoal.Text("Hello.")
		text.ID = "prt_1"
		m.Parts, m.Status = []shoal.Part{text}, shoal.MessageCompleted
		return c.CloseMessage(m, nil)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bob := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "bob", KeyID: "test"}
	x, err := exchange.Open(ctx, exchange.Options{Hub: s.Hub, Who: bob, Session: shoal.DefaultSession, Space: "aside", Heartbeat: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := errors.Join(x.Want(ctx, job.Lease.Run), x.Find(ctx)); err != nil {
		t.Fatal(err)
	}
	e := &ending{reader: reader{x: x}, end: func() { job.Finish(shoal.RunCompleted, nil) }}
	if err := x.Play(ctx, e, e); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.texts, "|"); got != "Hello." {
		t.Errorf("the client is shown %q", got)
	}
}
