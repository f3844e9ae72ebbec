package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// player is a model with a name and a window that plays a script and records that it is
// called.
type player struct {
	agent.Model
	info  agent.ModelInfo
	calls *[]string
}

func (p player) Info() agent.ModelInfo { return p.info }

func (p player) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	*p.calls = append(*p.calls, fmt.Sprintf("%s:%d", p.info.Name, len(req.Messages)))
	return p.Model.Stream(ctx, req)
}

// players makes models a, b, … that play scripts.
func players(t *testing.T, calls *[]string, scripts ...string) []agent.Model {
	var out []agent.Model
	for i, text := range scripts {
		out = append(out, player{script.New(parse(t, text)...), agent.ModelInfo{Provider: "script", Name: string(rune('a' + i))}, calls})
	}
	return out
}

// When all models fail, the rules of retries hold for all of them together.
func TestFallbackRounds(t *testing.T) {
	again := func(text string, times int) string {
		return strings.TrimSuffix(strings.Repeat(text+"\n---\n", times), "---\n")
	}
	for name, c := range map[string]struct {
		a, b  string
		opts  agent.Options
		calls string
		took  time.Duration // at least
		end   string
	}{
		"all fail": {
			again("fail overloaded", 9), again("fail network", 9),
			agent.Options{},
			"a:1 b:1 a:1 b:1 a:1 b:1 a:1 b:1", 5 * time.Second, "failed provider_unavailable script: overloaded: the script says so; script: network: the script says so",
		},
		"the second round succeeds": {
			"fail overloaded\n---\nsay hi", again("fail network", 9), agent.Options{}, "a:1 b:1 a:1", 750 * time.Millisecond, "completed done <nil>",
		},
		"without credit a model is not called again": {
			again("fail quota", 9), "fail overloaded\n---\nfail overloaded\n---\nsay hi", agent.Options{}, "a:1 b:1 b:1 b:1", 2 * time.Second, "completed done <nil>",
		},
		"another model may recover": {
			"fail rate_limited 7s\n---\nsay hi", again("fail quota", 9), agent.Options{}, "a:1 b:1 a:1", 7 * time.Second, "completed done <nil>",
		},
		"one attempt": {
			again("fail overloaded", 9), "say hi", agent.Options{Retry: agent.Retry{Attempts: 1}}, "a:1 b:1", 0, "completed done <nil>",
		},
		"a silent model": {
			"pause 1m\nsay slow", "say hi", agent.Options{AttemptTimeout: 5 * time.Second}, "a:1 b:1", 5 * time.Second, "completed done <nil>",
		},
		"a wrong key of the second": {
			again("fail overloaded", 9), "fail auth", agent.Options{}, "a:1 b:1", 0, "failed provider_auth script: auth: the script says so",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls []string
				m := players(t, &calls, c.a, c.b)
				began := time.Now()
				events := all(t, newAgentOn(t, agent.Fallback(m[0], m[1]), c.opts), t.Context(), agent.NewConversation(), agent.Say("go"))
				checkBalance(t, events)
				end := finished(t, events)
				if got := strings.Join(calls, " "); got != c.calls {
					t.Errorf("called are %s, want %s", got, c.calls)
				}
				if got := fmt.Sprint(end.Outcome, " ", end.Reason, " ", end.Err); got != c.end {
					t.Errorf("the end is %s, want %s", got, c.end)
				}
				if took := time.Since(began); took < c.took {
					t.Errorf("took %s, want at least %s", took, c.took)
				}
			})
		})
	}
}

// A history that is too long for all models is shortened once, and all may try it again.
func TestFallbackOverflow(t *testing.T) {
	var calls []string
	m := players(t, &calls, "say first\n---\nfail context_overflow\n---\nsay short", "fail context_overflow\n---\nfail context_overflow")
	a := newAgentOn(t, agent.Fallback(m[0], m[1]), agent.Options{})
	c := agent.NewConversation()
	for range 2 {
		if end := finished(t, all(t, a, t.Context(), c, agent.Say("go"))); end.Outcome != agent.Completed {
			t.Errorf("%s: %v", end.Outcome, end.Err)
		}
	}
	if got := strings.Join(calls, " "); got != "a:1 a:3 b:3 b:1 a:1" {
		t.Errorf("called are %s", got)
	}
}

// The calls that do not count leave Retry.Attempts for those that do.
func TestAttemptsThatDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, "say hi\n---\nfail context_overflow\n---\nfail overloaded\n---\nfail overloaded\n---\nsay done", agent.Options{Retry: agent.Retry{Attempts: 3}})
		c := agent.NewConversation()
		all(t, a, t.Context(), c, agent.Say("go"))
		events := all(t, a, t.Context(), c, agent.Say("on"))
		if end := finished(t, events); end.Outcome != agent.Completed || of[agent.StepFinished](events)[0].Attempts != 4 {
			t.Errorf("%s %v after %+v", end.Outcome, end.Err, of[agent.StepFinished](events))
		}
	})
}

// Each turn begins with the first model.
func TestFallbackBeginsAnewWithEachTurn(t *testing.T) {
	var calls []string
	m := players(t, &calls, "fail overloaded\n---\nsay back", "call echo {\"a\":\"x\"}\n---\nsay done")
	a := newAgentOn(t, agent.Fallback(m[0], m[1]), agent.Options{Tools: storyTools()})
	c := agent.NewConversation()
	all(t, a, t.Context(), c, agent.Say("go"))
	all(t, a, t.Context(), c, agent.Say("on"))
	if got := strings.Join(calls, " "); got != "a:1 b:1 b:3 a:5" {
		t.Errorf("called are %s", got)
	}
}

// A Fallback is a model like any other for what calls it without an agent.
func TestFallbackAsAModel(t *testing.T) {
	said := func(m agent.Model) (string, error) {
		var out string
		for c, err := range m.Stream(t.Context(), &agent.Request{Messages: []agent.Message{agent.Say("go")}}) {
			if err != nil {
				return out, err
			}
			out += c.Text
			if c.Kind == agent.ChunkFinish {
				out += " by " + c.Model.Name
			}
		}
		return out, nil
	}
	for _, test := range []struct{ a, b, want, err string }{
		{"fail overloaded", "say hi", "hi by b", ""},
		{"say hi", "say no", "hi by a", ""},
		{"say Hel\nfail network", "say no", "Hel", "script: network: the script says so"}, // text that was passed on cannot be withdrawn
		{"fail auth", "say no", "", "script: auth: the script says so"},
		{"fail overloaded", "fail network", "", "script: network: the script says so"},
	} {
		var calls []string
		m := players(t, &calls, test.a, test.b)
		got, err := said(agent.Fallback(m[0], m[1]))
		if got != test.want || fmt.Sprint(err) != test.err && (err != nil || test.err != "") {
			t.Errorf("%q, %q: %q, %v", test.a, test.b, got, err)
		}
	}
	if info := agent.Fallback(player{info: agent.ModelInfo{Name: "x", Window: 5}}).Info(); info.Name != "x" || info.Window != 5 {
		t.Errorf("the info is %+v", info)
	}
}

func TestNewRefusesAFallback(t *testing.T) {
	var calls []string
	m := players(t, &calls, "say hi", "say hi")
	known := func(m agent.ModelInfo, u agent.Usage) float64 {
		if m.Name == "b" {
			return 0
		}
		return 1
	}
	for want, f := range map[string]func() (*agent.Agent, error){
		"Fallback: model 2 is nil": func() (*agent.Agent, error) { return agent.New(agent.Fallback(m[0], nil), agent.Options{}) },
		"Fallback: model 1 is nil": func() (*agent.Agent, error) { return agent.New(agent.Fallback(nil), agent.Options{}) },
		"MaxCost needs the price of b, wh": func() (*agent.Agent, error) {
			return agent.New(agent.Fallback(m[0], m[1]), agent.Options{MaxCost: 1, Price: known})
		},
	} {
		if _, err := f(); !errors.Is(err, agent.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
