// Package clienttest checks a client in another language with a real server: its streams are cut,
// its reports are cut, and its calls are refused. The client is a driver, a program that takes a
// task, the address of the server, a key and more as its arguments, and says what it sees in lines
// of JSON; said lists what they hold.
//
//	clienttest.Run(t, "node", program.TypeScript(t, "driver.ts"))
package clienttest

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// said is a line of a driver.
type said struct {
	Wrong, Failed, Ended, After string
	Reader, Read, Written       int
	Texts                       []string
	Served                      bool
	Steered, Called             string
	Asked, Answer, From, Space  string
	Refused                     map[string][]any
}

// driver is the client in a process of its own.
type driver struct {
	*program.Lines
	t *testing.T
}

// drive starts a task of a driver. It ends with the test.
func drive(t *testing.T, command []string, task ...string) *driver {
	t.Helper()
	return &driver{program.StartLines(t, command[0], append(slices.Clone(command[1:]), task...)...), t}
}

// next returns the next line that accept accepts.
func (d *driver) next(accept func(said) bool) said {
	d.t.Helper()
	end := time.After(patience)
	for {
		select {
		case text, ok := <-d.Out:
			if !ok {
				d.t.Fatal("the client has ended")
			}
			var line said
			if err := json.Unmarshal(text, &line); err != nil {
				line.Wrong = err.Error()
			}
			if line.Wrong != "" {
				d.t.Error(line.Wrong)
			}
			if accept(line) {
				return line
			}
		case <-end:
			d.t.Fatalf("the client has not said it within %s", patience)
		}
	}
}

// Hosted is a server with the remote agent clerk in the space welcome.
func Hosted(t *testing.T) (s *apptest.Server, key string) {
	t.Helper()
	return hostedAs(t, `"agent": {}, "remote": {}`)
}

// hostedAs is Hosted with another configuration of the agent.
func hostedAs(t *testing.T, config string) (s *apptest.Server, key string) {
	t.Helper()
	s = apptest.Start(t)
	if _, err := s.Operator.PutAgent(t.Context(), "clerk", client.ConfigJSON, []byte(`{"version": "1.0", `+config+`}`)); err != nil {
		t.Fatal(err)
	}
	return s, s.Agent("clerk")
}

// Ask mentions clerk and returns its run.
func Ask(t *testing.T, s *apptest.Server, text string) shoal.RunID {
	t.Helper()
	m, err := s.Operator.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"clerk"}})
	if err != nil || len(m.Runs) != 1 {
		t.Fatalf("%v, %v", m.Runs, err)
	}
	return m.Runs[0].RunID
}

// ended returns a run once it has ended, and answers what it asks meanwhile.
func ended(t *testing.T, s *apptest.Server, id shoal.RunID, answer func(shoal.PendingAction) shoal.PendingAnswer) shoal.Run {
	t.Helper()
	for _, err := range s.Operator.Follow(t.Context(), client.FollowOptions{Run: id}) {
		if err != nil {
			t.Fatal(err)
		}
		for a, err := range s.Operator.PendingActions(t.Context(), client.PendingOptions{Run: id}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Operator.AnswerPending(t.Context(), a.ID, answer(a)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := s.Operator.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status.Ended() {
			return r
		}
	}
	t.Fatal("the run has not ended")
	return shoal.Run{}
}

// message returns the message of a run.
func message(t *testing.T, s *apptest.Server, id shoal.RunID) shoal.Message {
	t.Helper()
	all, err := s.Operator.Messages(t.Context(), app.Welcome, client.MessagesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.RunID != nil && *m.RunID == id {
			return m
		}
	}
	t.Fatalf("run %s has no message", id)
	return shoal.Message{}
}

// harm makes a proxy reset each connection after some bytes of its responses, at most n.
func harm(p *faultproxy.Proxy, n int) {
	p.Harm(faultproxy.Fault{}, faultproxy.Fault{Gate: func() faultproxy.Gate { return faultproxy.After(1 + rand.IntN(n))() }})
}

// Run checks the client that a driver uses. command starts the driver.
func Run(t *testing.T, command ...string) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, []string)
	}{
		{"the text under cuts", textUnderCuts},
		{"an agent", servedAgent},
		{"an agent under cuts", servedUnderCuts},
		{"an agent that is canceled", servedAndCanceled},
		{"an agent that stops", servedAndGivenBack},
		{"an agent that fails", servedAndFailed},
		{"a card that members answer", servedCard},
		{"a message during a run", servedAndSteered},
		{"calls that are refused", refusals},
		{"an inbox, and a message with its answer", inboxAndSend},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, command)
		})
	}
}

func followRun(id shoal.RunID) client.FollowOptions { return client.FollowOptions{Run: id} }

func pendingOf(id shoal.RunID) client.PendingOptions { return client.PendingOptions{Run: id} }
