package e2e_test

import (
	"errors"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// reachCase is a state of an agent, and what senders of a mention read of it.
type reachCase struct {
	name string
	// arrange puts a new agent, in a space of its name, into the state.
	arrange func(t *testing.T, s *reachStage, id string)
	state   shoal.ReachState
	via     string
	text    string // a pattern
	wake    string // that of the agent itself, if it differs
	// line is the last line of the answer over MCP, and note what the command line adds; patterns,
	// empty if there is none. With --require-wakeable the command line exits with code.
	line, note string
	code       int
	quiet      bool // the message lets no hosted agent act
}

const (
	reads     = "They read it when they next wait."
	readsNext = "; it reads the message when it next waits"
)

var reachCases = []reachCase{
	{
		name: "own wait", state: shoal.ReachListening, via: "wait", text: "is listening",
		arrange: func(t *testing.T, s *reachStage, id string) { s.waits(t, id) },
	},
	{
		name: "lease", state: shoal.ReachWakeable, via: "runner", text: `will be woken \(runner ada-mbp\)`,
		arrange: func(t *testing.T, s *reachStage, id string) { s.lease(t, id, false) },
	},
	{
		name: "hosted", state: shoal.ReachWakeable, via: "hosted", text: "will be started",
		arrange: func(t *testing.T, s *reachStage, id string) { s.host(t, id, "puppet", nil, id) },
	},
	{
		name: "remote with program", state: shoal.ReachWakeable, via: "program", text: "will be started",
		arrange: func(t *testing.T, s *reachStage, id string) { s.remote(t, id); s.serves(t, id) },
	},
	{
		name: "busy lease", state: shoal.ReachBusy, via: "runner", text: `is working; it gets this next \(runner ada-mbp\)`,
		arrange: func(t *testing.T, s *reachStage, id string) { s.lease(t, id, true) },
	},
	{
		name: "called", state: shoal.ReachBusy, text: "here, but not waiting for it",
		arrange: func(t *testing.T, s *reachStage, id string) { s.calls(t, s.joins(t, id, nil)) },
	},
	{
		name: "hosted at work", state: shoal.ReachBusy, via: "hosted", text: `at work, and starts on it when its run has ended \(run_\w+\)`, wake: "is working",
		arrange: func(t *testing.T, s *reachStage, id string) {
			s.host(t, id, "puppet", args{"model": args{"provider": "openai", "name": "silent", "baseURL": s.silent.URL}, "loop": args{"onNewMessage": "enqueue"}}, id)
			s.run(t, lab+"/runs/"+string(s.mention(t, id, id).RunID), shoal.RunRunning)
		},
	},
	{
		name: "remote at work", state: shoal.ReachBusy, via: "program", text: "its program is at work, and takes it next",
		arrange: func(t *testing.T, s *reachStage, id string) {
			s.remote(t, id)
			s.space(t, shoal.SpaceID("home-"+id), "ann", shoal.EntityID(id))
			s.mention(t, "home-"+id, id)
			s.claims(t, id)
		},
	},
	{
		name: "soon without key", state: shoal.ReachBusy, text: "here, but not waiting for it; its key expires in (30|29) h", note: "its key expires in (30|29) h",
		arrange: func(t *testing.T, s *reachStage, id string) {
			at := shoal.At(time.Now().Add(30 * time.Hour))
			s.calls(t, s.joins(t, id, &at))
		},
	},
	{
		name: "without key", state: shoal.ReachAsleep, text: "last seen .* ago; its key has expired", code: 7,
		line: `Not reached: ID \(last seen .* ago; its key has expired\)\. ` + reads, note: `not reached: ID \(last seen .* ago; its key has expired\)` + readsNext,
		arrange: func(t *testing.T, s *reachStage, id string) { s.expires(t, id) },
	},
	{
		name: "lease gone", state: shoal.ReachAsleep, text: `last seen .* ago \(runner ada-mbp gone\)`, code: 7,
		line: `Not reached: ID \(last seen .* ago \(runner ada-mbp gone\)\)\. ` + reads, note: `not reached: ID \(last seen .* ago \(runner ada-mbp gone\)\)` + readsNext,
		arrange: func(t *testing.T, s *reachStage, id string) {
			key := s.lease(t, id, false)
			s.restAs(t, key, http.MethodDelete, lab+"/entities/"+id+"/wake-lease", nil, nil)
		},
	},
	{
		name: "remote without program", state: shoal.ReachAsleep, via: "program", text: "no program is connected for @ID", code: 7,
		line: `Not reached: ID \(no program is connected for @ID\)\.`, note: `not reached: ID \(no program is connected for @ID\)`,
		arrange: func(t *testing.T, s *reachStage, id string) { s.remote(t, id) },
	},
	{
		name: "hosted and not to act", state: shoal.ReachAsleep, via: "hosted", text: "not started on it", wake: "will be started", code: 7, quiet: true,
		note:    `not reached: ID \(not started on it\)`,
		arrange: func(t *testing.T, s *reachStage, id string) { s.host(t, id, "puppet", nil, id) },
	},
	{
		name: "never there", state: shoal.ReachUnknown, text: "never connected", code: 7,
		line: `Not reached: ID \(never connected\)\. ` + reads, note: `not reached: ID \(never connected\)` + readsNext,
		arrange: func(t *testing.T, s *reachStage, id string) { s.joins(t, id, nil) },
	},
}

// Who mentions an agent reads the same of it over REST, over MCP and at the command line, whatever the agent
// does, and the agent's own page and a dry test of it say so, too.
func TestReach(t *testing.T) {
	t.Parallel()
	s := newReachStage(t, t.TempDir())
	for _, c := range reachCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := strings.ReplaceAll(c.name, " ", "-")
			for _, door := range []struct {
				id   string
				send func(*testing.T, *reachStage, reachCase, string)
			}{{"over-rest", overREST201}, {"over-mcp", overMCP}, {"over-cli", overCLI}} {
				if c.quiet && door.id == "over-mcp" {
					continue // send_message has no way to say so
				}
				id := name + "-" + door.id
				s.space(t, shoal.SpaceID(id), "ann", "bob")
				c.arrange(t, s, id)
				c.checkWake(t, s, id)
				door.send(t, s, c, id)
			}
		})
	}
}

// A server that has just started, alone, does not know whether a program wakes an agent. It does not say
// that the message reaches nobody.
func TestReachAfterARestart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := newReachStage(t, data)
	doors := map[string]func(*testing.T, *reachStage, reachCase, string){"over-rest": overREST201, "over-mcp": overMCP, "over-cli": overCLI}
	for id := range doors {
		s.space(t, shoal.SpaceID(id), "ann", "bob")
		s.calls(t, s.joins(t, id, nil))
	}
	s.stop()
	s.server = serve(t, data)
	c := reachCase{
		state: shoal.ReachUnknown, text: "not known yet", code: 7,
		line: `Not known yet: ID \(the server has just started\)\. ` + reads, note: "ID: not known yet, because the server has just started" + readsNext,
	}
	for id, send := range doors {
		c.checkWake(t, s, id)
		send(t, s, c, id)
	}
}

// match reports whether a text is what a pattern of a case says of an agent.
func match(pattern, id, text string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(pattern, "ID", id) + "$").MatchString(text)
}

// check checks the reach of a posted message.
func (c reachCase) check(t *testing.T, id string, m shoal.Message) {
	t.Helper()
	if len(m.Reach) != 1 {
		t.Fatalf("%s: the reach is %+v", id, m.Reach)
	}
	r, via := m.Reach[0], ""
	if r.Via != nil {
		via = *r.Via
	}
	if r.EntityID != shoal.EntityID(id) || r.State != c.state || via != c.via || !match(c.text, id, r.Text) {
		t.Errorf("%s: the sender reads %s via %q: %q", id, r.State, via, r.Text)
	}
}

// checkWake checks what the agent's page says before the message, and a dry test.
func (c reachCase) checkWake(t *testing.T, s *reachStage, id string) {
	t.Helper()
	var e shoal.Entity
	s.rest(t, http.MethodGet, lab+"/entities/"+id, nil, &e)
	want := c.text
	if c.wake != "" {
		want = c.wake
	}
	if c.quiet { // that is a matter of the message
		c.state, c.code = shoal.ReachWakeable, 0
	}
	if e.Wake.State != c.state || !match(want, id, e.Wake.Text) {
		t.Errorf("%s: the agent is %s: %q", id, e.Wake.State, e.Wake.Text)
	}
	code := min(c.code, 1)
	lines, _ := exits(t, s.shell(t, "wake", "test", id, "--dry"), code)
	if dry := strings.Join(lines, "\n"); !strings.Contains(dry, string(c.state)) || !regexp.MustCompile(strings.ReplaceAll(want, "ID", id)+` \(not proven\)`).MatchString(dry) {
		t.Errorf("%s: a dry test says %q", id, dry)
	}
}

// overREST201 posts over REST.
func overREST201(t *testing.T, s *reachStage, c reachCase, id string) {
	t.Helper()
	var m shoal.Message
	in := args{"text": "Are you there?", "mentions": []string{id}}
	if c.quiet {
		in["triggerAgents"] = false
	}
	s.restAs(t, s.ann, http.MethodPost, lab+"/spaces/"+id+"/messages", in, &m)
	c.check(t, id, m)
}

// overMCP sends with the tool.
func overMCP(t *testing.T, s *reachStage, c reachCase, id string) {
	t.Helper()
	sender := goModern.connect(t, s.server, "bob", strings.TrimPrefix(s.bob.Get("Authorization"), "Bearer "))
	var m shoal.Message
	answer := do(t, sender, "send_message", args{"threadId": id, "content": "Are you there?", "mentions": []string{id}}, &m)
	c.check(t, id, m)
	lines := strings.Split(answer.Text, "\n")
	last := lines[len(lines)-1]
	if c.line == "" && last != "Mentions: "+id || c.line != "" && !match(c.line, id, last) {
		t.Errorf("%s: the answer over MCP ends with %q", id, last)
	}
}

// overCLI sends with the command line.
func overCLI(t *testing.T, s *reachStage, c reachCase, id string) {
	t.Helper()
	words := []string{"send", id, "Are you there?", "-m", id, "--require-wakeable", "--key", strings.TrimPrefix(s.ann.Get("Authorization"), "Bearer ")}
	if c.quiet {
		words = append(words, "--no-trigger")
	}
	lines, said := exits(t, s.shell(t, words...), c.code)
	if len(lines) == 0 || !strings.Contains(lines[len(lines)-1], "msg_") {
		t.Errorf("%s: it prints %q", id, lines)
	}
	said, _, _ = strings.Cut(said, "error: ")
	var notes []string
	for note := range strings.Lines(said) {
		if note = strings.TrimSpace(note); !strings.HasPrefix(note, "note: posting as ") {
			notes = append(notes, strings.TrimPrefix(note, "note: "))
		}
	}
	note := strings.Join(notes, "\n")
	if c.note == "" && note != "" || c.note != "" && !regexp.MustCompile(strings.ReplaceAll(c.note, "ID", id)+"$").MatchString(note) {
		t.Errorf("%s: the command line notes %q", id, note)
	}
}

// exits returns what a command printed, which must exit with code.
func exits(t *testing.T, p *process, code int) (lines []string, said string) {
	t.Helper()
	lines, err := p.end()
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Errorf("%v exits with %d, want %d; it said:\n%s", p.cmd.Args[3:], got, code, p.said())
	}
	return lines, p.said()
}
