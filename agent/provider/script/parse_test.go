package script_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func TestParse(t *testing.T) {
	got, err := script.Parse(`
# a comment
think Hm.
say   Let me look.
call  weather#c1 {"city":"Kiel"}
call  clock
usage 10 2 8
---
pause 5ms
say   Rain.
finish length
---
fail overloaded 2s
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []script.Answer{
		{
			Reasoning: "Hm.", Text: "Let me look.", Usage: agent.Usage{InputTokens: 10, OutputTokens: 2, CachedTokens: 8},
			Calls: []agent.ToolCall{{ID: "c1", Name: "weather", Arguments: `{"city":"Kiel"}`}, {Name: "clock"}},
		},
		{Text: "Rain.", Delay: 5 * time.Millisecond, Finish: agent.FinishLength},
		{Err: &agent.ModelError{Class: agent.ClassOverloaded, Provider: "script", Detail: "the script says so", RetryAfter: 2 * time.Second}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParseNamesTheWrongLine(t *testing.T) {
	for text, want := range map[string]string{
		"say hi\nsing la":   `line 2 begins with "sing"; think, say, call, pause, usage, finish, fail, hears, when and else are known`,
		"call":              "line 1 call needs the name of a tool",
		"pause long":        `line 1 time: invalid duration "long"`,
		"usage 1":           "line 1 usage needs two or three numbers: input, output, cached",
		"usage 1 x":         `line 1 invalid number of tokens "x"`,
		"fail":              "line 1 fail needs a class, such as overloaded",
		"fail overloaded x": `line 1 invalid duration "x": use one such as 2s`,
		"say a\nelse":       `line 2 else is never reached`,
		"hears":             `line 1 hears needs at least one word`,
		"when f":            `line 1 when needs a call and what its result is`,
	} {
		_, err := script.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func TestScriptModelInfo(t *testing.T) {
	if got := script.New().Info(); got.Provider != "script" || got.Name != "script" {
		t.Errorf("a script calls itself %+v", got)
	}
}

func TestScriptEnds(t *testing.T) {
	m := script.New(script.Answer{Text: "once"})
	for _, err := range m.Stream(t.Context(), &agent.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range m.Stream(t.Context(), &agent.Request{}) {
		if err == nil || !strings.Contains(err.Error(), "the script has 1 answers, and this is call 2") {
			t.Errorf("after its end a script says %v", err)
		}
	}
}

// Whatever the pieces are, joined they are what was written.
func TestChunksAreWholeCharacters(t *testing.T) {
	text, arguments := "Grüße an alle, 世界! ", `{"text":"Grüße an alle, 世界! 👋👋👋"}`
	m := script.New(script.Answer{Text: text, Calls: []agent.ToolCall{{Name: "say", Arguments: arguments}}})
	var said, called strings.Builder
	for c, err := range m.Stream(t.Context(), &agent.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !validUTF8(c.Text) {
			t.Errorf("%q is cut in the middle of a character", c.Text)
		}
		switch c.Kind {
		case agent.ChunkText:
			said.WriteString(c.Text)
		case agent.ChunkCallDelta:
			called.WriteString(c.Text)
		}
	}
	if said.String() != text || called.String() != arguments {
		t.Errorf("joined: %q and %q", said.String(), called.String())
	}
}

func validUTF8(s string) bool { return strings.ToValidUTF8(s, "") == s }
