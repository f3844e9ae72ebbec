package agent_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

var update = flag.Bool("update", false, "write testdata/stories anew")

// The stories in testdata/stories say what the loop does, as text: commands, a
// line of four dashes, and what was seen. Blocks are separated by blank lines.
//
//	option NAME VALUE   sets an option of the agent
//	model … lines       (indented) the script of the model, as script.Parse reads it
//	say TEXT            takes a turn with that input
//	go                  goes on without an input
//	answer ID WORDS     answers a request: yes, no, always, never, or the text of the answer
//	history             shows the stored messages
func TestStories(t *testing.T) {
	playStories(t, "testdata/stories/*.txt", 10, *update, func(t *testing.T, _, text string) (got string) {
		synctest.Test(t, func(t *testing.T) {
			got = playStory(t, text)
			<-time.After(time.Hour) // for goroutines that outlive the turn
		})
		return got
	})
}

// story is a test case in a file: the agent's options, the model's answers, and the
// conversation.
type story struct {
	t      *testing.T
	opts   agent.Options
	script []script.Answer
	conv   *agent.Conversation
	out    strings.Builder
}

// playStory runs a story and returns it with its outcome.
func playStory(t *testing.T, text string) string {
	s := &story{t: t, conv: agent.NewConversation(), opts: agent.Options{Tools: storyTools(), DetailedErrors: true}}
	return playBlocks(t, text, func(commands string) string {
		s.out.Reset()
		s.block(commands)
		return s.out.String()
	})
}

func (s *story) block(commands string) {
	var model []string
	flush := func() {
		if model == nil {
			return
		}
		answers, err := script.Parse(strings.Join(model, "\n"))
		if err != nil {
			s.t.Fatal(err)
		}
		s.script, model = answers, nil
	}
	for line := range strings.Lines(commands) {
		line = strings.TrimRight(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			model = append(model, line)
		case word == "model":
			model = []string{}
		case word == "option":
			s.option(rest)
		case word == "say":
			flush()
			s.turn(agent.Say(rest))
		case word == "go":
			flush()
			s.turn()
		case word == "answer":
			s.answer(rest)
		case word == "history":
			s.history()
		default:
			s.t.Fatalf("unknown command %q", line)
		}
	}
	flush()
}

func (s *story) option(text string) {
	name, value, _ := strings.Cut(text, " ")
	n, _ := strconv.Atoi(value)
	d, _ := time.ParseDuration(value)
	o := &s.opts
	switch name {
	case "maxSteps":
		o.MaxSteps = n
	case "maxErrors":
		o.MaxErrors = n
	case "maxIdenticalCalls":
		o.MaxIdenticalCalls = n
	case "maxParallelTools":
		o.MaxParallelTools = n
	case "maxArgumentBytes":
		o.MaxArgumentBytes = n
	case "maxResultBytes":
		o.MaxResultBytes = n
	case "maxAnswerBytes":
		o.MaxAnswerBytes = n
	case "continuation":
		o.Continuation = n
	case "turnTimeout":
		o.TurnTimeout = d
	case "toolTimeout":
		o.ToolTimeout = d
	case "stallTimeout":
		o.StallTimeout = d
	case "stopOnUnknownTool":
		o.StopOnUnknownTool = true
	case "shortErrors":
		o.DetailedErrors = false
	case "noClosingAnswer":
		o.NoClosingAnswer = true
	case "fullAccess":
		o.FullAccess = true
	case "maxTokens":
		o.MaxTokens = int64(n)
	case "answerer":
		o.Answer = func(_ context.Context, p agent.Pending) (agent.Answer, bool) {
			return agent.Answer{Approved: value == "yes", Text: value}, value != "silent"
		}
	case "output":
		o.Output = &agent.Structured{Mode: agent.OutputMode(value), NoPartials: true, Types: []agent.OutputSchema{
			agent.OutputOf[struct {
				City string `json:"city"`
			}]("place", ""),
		}}
	default:
		s.t.Fatalf("unknown option %q", name)
	}
}

// storyTools are the tools of the stories; each does what it is named.
func storyTools() []agent.Tool {
	type in struct {
		A string `json:"a,omitempty"`
	}
	tool := func(name string, f func(context.Context, string) (string, error)) agent.Tool {
		return agent.Func(name, "", func(ctx context.Context, v in) (string, error) { return f(ctx, v.A) })
	}
	careful := func(t agent.Tool) agent.Tool {
		return agent.Configure(t, func(s *agent.ToolSpec) { s.RequiresPermission = true })
	}
	echo := func(_ context.Context, a string) (string, error) { return "echo " + a, nil }
	return []agent.Tool{
		tool("echo", echo),
		careful(tool("pay", echo)),
		tool("fail", func(context.Context, string) (string, error) { return "", errors.New("broken") }),
		tool("panic", func(context.Context, string) (string, error) { panic("oops") }),
		tool("slow", func(ctx context.Context, a string) (string, error) {
			d, _ := time.ParseDuration(a)
			select {
			case <-time.After(d):
				return "slept " + a, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}),
		tool("busy", func(ctx context.Context, a string) (string, error) {
			agent.Progress(ctx, "half of it", 50)
			agent.Progress(ctx, "nearly", -1)
			return "done", nil
		}),
		tool("stuck", func(context.Context, string) (string, error) {
			<-time.After(time.Minute) // ignores its context
			return "late", nil
		}),
		agent.External(agent.ToolSpec{Name: "client", Description: "is executed outside"}),
		careful(agent.External(agent.ToolSpec{Name: "careful_client"})),
		agent.AskUser(),
	}
}

func (s *story) turn(input ...agent.Message) {
	opts := s.opts
	a, err := agent.New(script.New(s.script...), opts)
	if err != nil {
		s.t.Fatal(err)
	}
	for e, err := range a.Stream(s.t.Context(), s.conv, input...) {
		if err != nil {
			fmt.Fprintln(&s.out, "error:", s.named(err.Error()))
			return
		}
		if line := show(e); line != "" {
			fmt.Fprintf(&s.out, "%s\n", s.named(line))
		}
	}
}

// named replaces ids that are made up by their places.
func (s *story) named(line string) string {
	for _, prefix := range []string{"trn_", "cnv_"} {
		for {
			at := strings.Index(line, prefix)
			if at < 0 || len(line) < at+26 {
				break
			}
			line = line[:at] + "T" + line[at+26:]
		}
	}
	return line
}

func (s *story) answer(text string) {
	id, words, _ := strings.Cut(text, " ")
	a := agent.Answer{PendingID: id, Text: words}
	switch first, reason, _ := strings.Cut(words, " "); first {
	case "yes", "always":
		a = agent.Answer{PendingID: id, Approved: true}
		if first == "always" {
			a.Rule = agent.AlwaysAllow
		}
	case "no", "never":
		a = agent.Answer{PendingID: id, Reason: reason}
		if first == "never" {
			a.Rule = agent.AlwaysDeny
		}
	}
	pending, err := s.conv.Pending(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range pending { // ids are made up; a story says CALL.KIND
		if id == string(p.Kind) || id == p.Call.ID+"."+string(p.Kind) {
			a.PendingID = p.ID
		}
	}
	if err := s.conv.Answer(s.t.Context(), a); err != nil {
		fmt.Fprintln(&s.out, "error:", s.named(err.Error()))
	}
}

func (s *story) history() {
	messages, err := s.conv.Messages(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range messages {
		fmt.Fprintf(&s.out, "%s", m.Role)
		if m.Interrupted {
			s.out.WriteString(" (interrupted)")
		}
		s.out.WriteString("\n")
		for _, p := range m.Parts {
			switch p.Type {
			case agent.CallPart:
				fmt.Fprintf(&s.out, "  call %s %s %s\n", s.named(p.Call.ID), p.Call.Name, p.Call.Arguments)
			case agent.ResultPart:
				fmt.Fprintf(&s.out, "  result %s %s: %s\n", s.named(p.Result.CallID), p.Result.Status, p.Result.Text)
			default:
				fmt.Fprintf(&s.out, "  %s %q\n", p.Type, p.Text)
			}
		}
	}
}
