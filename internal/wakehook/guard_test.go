package wakehook

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// ended is a context in which nothing waits.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// reads makes the model of a hook get a mention in a turn.
func reads(t *testing.T, h *hook, s *apptest.Server, out *bytes.Buffer, text string) shoal.Message {
	t.Helper()
	m := mention(t, s, text)
	if woken, err := h.handle(t.Context(), event{Name: "UserPromptSubmit", Prompt: "something else"}); err != nil || !woken {
		t.Fatalf("%v, %v: %s", woken, err, out)
	}
	if err := h.remember(event{Name: "UserPromptSubmit", Prompt: out.String()}); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	return m
}

// stops ends the turn, and returns what the model is asked, empty if nothing.
func stops(t *testing.T, h *hook, out *bytes.Buffer) string {
	t.Helper()
	woken := h.guard(t.Context())
	if woken != (out.Len() > 0) {
		t.Errorf("woken: %v, printed: %s", woken, out)
	}
	defer out.Reset()
	return out.String()
}

// A turn that ends without an answer to its mention has the model asked for one, once. A post in the
// space and a reaction are answers.
func TestTheModelIsAskedOnceForAnAnswer(t *testing.T) {
	s := apptest.Start(t)
	var out bytes.Buffer
	h := hookOf(t, s, s.Agent("scout"), &out)
	me := h.server.Session(shoal.DefaultSession)
	if got := stops(t, h, &out); got != "" {
		t.Errorf("a turn without a mention: %s", got)
	}

	m := reads(t, h, s, &out, "Hello")
	mention(t, s, "Hello again") // it is not in this turn
	got := stops(t, h, &out)
	if !strings.Contains(got, `Answer with mcp__shoal__send_message: threadId "welcome", replyTo "`+string(m.ID)+`", mentions ["operator"]`) || strings.Contains(got, "Hello") {
		t.Errorf("a turn without an answer: %s", got)
	}
	if got := stops(t, h, &out); got != "" {
		t.Errorf("it is asked a second time: %s", got)
	}

	for name, answer := range map[string]func(shoal.Message) error{
		"a message": func(shoal.Message) error {
			_, err := me.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("Yes")}})
			return err
		},
		"a reaction": func(m shoal.Message) error {
			_, err := me.React(t.Context(), m.ID, "👍")
			return err
		},
		"a mention that is deleted": func(m shoal.Message) error { return s.Operator.DeleteMessage(t.Context(), m.ID) },
	} {
		m := reads(t, h, s, &out, name)
		if err := answer(m); err != nil {
			t.Fatal(err)
		}
		if got := stops(t, h, &out); got != "" {
			t.Errorf("after %s: %s", name, got)
		}
	}

	// Another conversation knows nothing of it.
	reads(t, h, s, &out, "Hello")
	if woken, _ := h.handle(ended(), event{Name: "SessionStart"}); woken {
		t.Errorf("it has printed %s", &out)
	}
	if got := stops(t, h, &out); got != "" {
		t.Errorf("after another session has begun: %s", got)
	}
}

// If the server cannot be reached when a turn ends, the end of the next one is checked.
func TestAnUnreachableServerLosesNoAnswer(t *testing.T) {
	s := apptest.Start(t)
	var out bytes.Buffer
	h := hookOf(t, s, s.Agent("scout"), &out)
	reads(t, h, s, &out, "Hello")
	if h.guard(ended()) || out.Len() > 0 {
		t.Errorf("without the server, it has printed %s", &out)
	}
	if got := stops(t, h, &out); !strings.Contains(got, "you have not answered operator in thread welcome") {
		t.Errorf("when the server is back: %s", got)
	}
}
