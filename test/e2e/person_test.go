package e2e_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// shell starts the command line on the server's machine, where it needs no key.
func (s *server) shell(t *testing.T, words ...string) *process {
	t.Helper()
	cmd := exec.Command(shoalBinary.Path(), append([]string{"--url", s.url, "--data", s.data}, words...)...) // ended by start
	cmd.Env = cleanEnviron()
	return start(t, cmd)
}

// printed runs a command to its end and returns the lines that it printed.
func printed(t *testing.T, p *process) []string {
	t.Helper()
	lines, err := p.end()
	if err != nil {
		t.Fatalf("%v: %v; it said:\n%s", p.cmd.Args, err, p.said())
	}
	return lines
}

// A person at a terminal and an agent on somebody else's SDK speak with each
// other in the space that every server has.
func TestPersonAndAgentConverse(t *testing.T) {
	for _, with := range []client{ts1HTTP, ts2Modern} {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, t.TempDir())
			scout := with.connect(t, s, "scout", printed(t, s.shell(t, "keys", "create", "--entity", "scout", "--join", "welcome", "-q"))[0])
			tail := s.shell(t, "tail", "welcome")

			// The agent waits; the person speaks, and waits for what it says.
			asked := scout.begin(t, "wait_for_mentions", args{"timeoutMs": 60000})
			s.untilWaiting(t, shoal.DefaultSession, "scout")
			send := s.shell(t, "send", "welcome", "Hello scout, who are you?", "-m", "scout", "--wait")
			var got shoal.WaitResult
			succeeded(t, asked, &got)
			question := got.Items[0].Messages[0].Message
			if question.Text() != "Hello scout, who are you?" || question.EntityID != shoal.Operator || question.SpaceID != "welcome" {
				t.Errorf("the agent hears %+v", question)
			}
			do(t, scout, "send_message", args{"threadId": "welcome", "content": "I am scout\x1b[2J.", "mentions": []string{"operator"}}, nil)
			if lines := printed(t, send); len(lines) != 1 || lines[0] != "I am scout." {
				t.Errorf("send --wait prints %q, want the answer without what would clear the screen", lines)
			}

			// The answer mentions the operator, so it lies in its inbox as well.
			lines := printed(t, s.shell(t, "wait", "--json"))
			if err := json.Unmarshal([]byte(strings.Join(lines, "")), &got); err != nil {
				t.Fatalf("wait --json: %v in %q", err, lines)
			}
			if m := got.Items[0].Messages[0]; m.EntityID != "scout" || m.Text() != "I am scout\x1b[2J." || m.Reason != shoal.ReasonMention {
				t.Errorf("wait --json prints %+v", m)
			}
			_, err := s.shell(t, "wait", "--timeout", "0").end()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 124 {
				t.Errorf("a wait for what was acknowledged ends with %v, want exit code 124", err)
			}

			// The greeting of the first start was unread all the time.
			if lines := printed(t, s.shell(t, "wait", "--messages", "--timeout", "0")); len(lines) != 1 || !strings.Contains(lines[0], "\twelcome\t1\tshop-agent\t") {
				t.Errorf("wait --messages prints %q, want the greeting", lines)
			}

			// The agent also wakes a waiting person.
			wait := s.shell(t, "wait", "--messages", "--timeout", "30s")
			s.untilWaiting(t, shoal.DefaultSession, shoal.Operator)
			do(t, scout, "send_message", args{"threadId": "welcome", "content": "Anything else?"}, nil)
			const place = "\twelcome\t4\tscout\t\tAnything else?"
			if lines := printed(t, wait); len(lines) != 1 || !strings.HasSuffix(lines[0], place) {
				t.Errorf("wait prints %q, want %q", lines, place)
			}
			for _, want := range []string{
				`"How do I connect my own agent?"]`, "\twelcome\t2\toperator\tscout\tHello scout, who are you?", "\twelcome\t3\tscout\toperator\tI am scout.", place,
			} {
				if line := tail.line(); !strings.HasSuffix(line, want) {
					t.Errorf("tail prints %q, want …%q", line, want)
				}
			}
			var space shoal.Space
			s.rest(t, http.MethodGet, "/v1/sessions/default/spaces/welcome", nil, &space)
			if space.LastSeq != 4 {
				t.Errorf("the space has %d messages, want 4", space.LastSeq)
			}
		})
	}
}
