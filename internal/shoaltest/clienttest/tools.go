package clienttest

import (
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// Tools checks that a client executes client tools: its task "tools" answers the calls of the tool
// Trip, whose place is Oslo, with {"day": "Friday"} and says each in a line {"called": …}; with
// "fail" as an argument it throws "no calendar" instead, with "wait" it waits until the call is aborted
// and says {"ended": "aborted"}, and with "mine" it leaves out the runs of others.
func Tools(t *testing.T, command ...string) {
	t.Helper()
	t.Run("a client tool", func(t *testing.T) {
		t.Parallel()
		toolExecuted(t, command, false)
	})
	t.Run("a client tool that fails", func(t *testing.T) {
		t.Parallel()
		toolExecuted(t, command, true)
	})
	t.Run("a client tool of a run that is canceled", func(t *testing.T) {
		t.Parallel()
		toolAborted(t, command)
	})
}

// A call that waited before the program started is executed, once, and so is one that follows; what
// a handler throws is the error of the call. A member that may not answer executes neither.
func toolExecuted(t *testing.T, command []string, fails bool) {
	s, key := tripServer(t)
	args := func(key string) []string {
		if fails {
			return []string{"tools", s.URL, key, "fail"}
		}
		return []string{"tools", s.URL, key}
	}
	reader := s.Agent("reader")
	stranger := drive(t, command, args(s.Agent("stranger"))...)
	drive(t, command, "serve", s.URL, key, "clerk")
	waiting := Ask(t, s, "Show me a card")
	reached(t, s, waiting, shoal.RunStatus.Suspended)
	program := drive(t, command, args(reader)...)
	want := "done Trip{\"to\":\"Oslo\"}{\"day\":\"Friday\"}\ndone On Friday."
	status := shoal.RunCompleted
	if fails {
		want, status = "error Trip{\"to\":\"Oslo\"}", shoal.RunFailed
	}
	for _, run := range []shoal.RunID{waiting, Ask(t, s, "Show me a card")} {
		if got := program.next(func(l said) bool { return l.Called != "" }); got.Called != "Oslo" {
			t.Errorf("called with %q", got.Called)
		}
		got := reached(t, s, run, shoal.RunStatus.Ended)
		if shown := parts(message(t, s, run)); got.Status != status || shown != want {
			t.Errorf("the run is %s, shown is\n%s\nwant\n%s", got.Status, shown, want)
		}
	}
	select {
	case line := <-stranger.Out:
		t.Errorf("a member that may not answer said %s", line)
	default:
	}
}

// A handler learns that its run was canceled, and its result is dropped. A program that executes its
// own calls alone leaves out those of others.
func toolAborted(t *testing.T, command []string) {
	s, key := tripServer(t)
	reader := s.Agent("reader")
	drive(t, command, "serve", s.URL, key, "clerk")
	others := drive(t, command, "tools", s.URL, reader, "mine")
	program := drive(t, command, "tools", s.URL, reader, "wait")
	run := Ask(t, s, "Show me a card")
	program.next(func(l said) bool { return l.Called == "Oslo" })
	if _, err := s.Operator.CancelRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	program.next(func(l said) bool { return l.Ended == "aborted" })
	if got := reached(t, s, run, shoal.RunStatus.Ended); got.Status != shoal.RunCanceled {
		t.Errorf("the run is %s", got.Status)
	}
	select {
	case line := <-others.Out:
		t.Errorf("a program that executes its own calls alone said %s", line)
	default:
	}
}

// tripServer is a server whose agent has the tool Trip, which reader answers.
func tripServer(t *testing.T) (s *apptest.Server, key string) {
	t.Helper()
	return hostedAs(t, `"agent": {}, "remote": {}, "tools": [{"name": "Trip", "displayTool": true, "answer": {"by": ["reader"]}, "outputSchema": {"type": "object", "required": ["day"]}}]`)
}

// reached returns a run once it has a status, and answers nothing.
func reached(t *testing.T, s *apptest.Server, id shoal.RunID, is func(shoal.RunStatus) bool) shoal.Run {
	t.Helper()
	for _, err := range s.Operator.Follow(t.Context(), followRun(id)) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Operator.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if is(r.Status) {
			return r
		}
	}
	t.Fatal("the stream of the run has ended")
	return shoal.Run{}
}
