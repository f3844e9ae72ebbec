package models_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

var errEnough = errors.New("that is enough")

// Canceling a turn, or ending the iteration, ends the request to the vendor too, and
// the text so far is kept.
func TestCanceled(t *testing.T) {
	t.Parallel()
	eachWire(t, func(t *testing.T, w wire) {
		t.Run("canceled", func(t *testing.T) {
			t.Parallel()
			heard := interrupted(t, w, func(cancel context.CancelCauseFunc) (goOn bool) {
				cancel(errEnough)
				return true
			})
			if end := heard.end(); end.Outcome != agent.Canceled || end.Reason != agent.ReasonCanceled {
				t.Errorf("the turn ended as %s because of %s", end.Outcome, end.Reason)
			}
		})
		t.Run("left", func(t *testing.T) {
			t.Parallel()
			heard := interrupted(t, w, func(context.CancelCauseFunc) bool { return false })
			if len(heard.finished) > 0 {
				t.Errorf("a reader that has left received the end")
			}
		})
	})
}

// interrupted holds a turn in the middle of its text, stops it at the first
// words of it, and returns the recorder of its events.
func interrupted(t *testing.T, w wire, stop func(context.CancelCauseFunc) (goOn bool)) *recorder {
	t.Helper()
	hungUp := make(chan struct{})
	held := stallAt(0.5)
	vendor := newProxy(t, []fault{bytesFault("held", func(rw http.ResponseWriter, r *http.Request, a answered) {
		defer close(hungUp)
		held.answer(rw, r, a)
	})}, fault{})
	a, err := agent.New(w.model(vendor.URL), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := newTalk(t)
	ctx, cancel := context.WithCancelCause(bounded(t))
	defer cancel(nil)
	heard := newRecorder(t)
	c.seen = 1
	for e, err := range a.Stream(ctx, c.conv, agent.Say("text")) {
		if err != nil {
			t.Fatal(err)
		}
		heard.hear(e)
		if _, said := e.(agent.TextDelta); said && !stop(cancel) {
			break
		}
	}
	select {
	case <-hungUp:
	case <-time.After(patience):
		t.Error("the vendor still works")
	}
	stored := c.added()
	if len(stored) != 1 || !stored[0].Interrupted || !strings.HasPrefix(grey, stored[0].Text()) || stored[0].Text() == "" {
		t.Errorf("of the turn stays %+v", stored)
	}
	if len(heard.finished) > 0 {
		heard.judge(stored)
	}
	return heard
}
