package remoterun_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

// A bad line is refused with its number, before anything is stored.
func TestParseLines(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80)
	for _, c := range []struct {
		body string
		kind shoal.Kind
		want string
	}{
		{`nonsense`, shoal.InvalidArgument, "body[1] is not a line of work in JSON"},
		{`{"n": 1, "type": "turn.started"}` + "\n\n" + `{"type": "text"}`, shoal.InvalidArgument, "body[3] must have a number n"},
		{`{"n": 1, "type": "turn.started", "extra": 1}`, shoal.InvalidArgument, `body[1] is not a line of work in JSON: json: unknown field "extra"`},
		{`{"n": 1, "type": "turn.started"} {"n": 2}`, shoal.InvalidArgument, "body[1] has more than one JSON object"},
		{"{\"n\": 1, \"type\": \"text\", \"delta\": \"\xff\"}", shoal.InvalidArgument, "body[1] is not UTF-8"},
		{`{"n": 1, "type": "tool", "args": ` + deep + `}`, shoal.InvalidArgument, "body[1] is nested deeper"},
		{`{"n": 1, "type": "text", "delta": "` + strings.Repeat("x", shoal.MaxWorkLine) + `"}`, shoal.InvalidArgument, "body[1] has "},
		{strings.Repeat("\n", shoal.MaxWorkBody+1), shoal.TooLarge, "Send fewer lines"},
		{manyLines(shoal.MaxWorkLines + 1), shoal.TooLarge, "more than 1000 lines"},
		{`{"n": 7, "type": "turn.started"}` + "\n" + `{"n": 9, "type": "turn.ended"}`, shoal.InvalidArgument, "line 9 must have the number 8"},
		{`{"n": 7, "type": "dance"}`, shoal.InvalidArgument, `line 7 has the unknown type "dance"`},
		{`{"n": 7, "type": "text", "delta": "` + strings.Repeat("x", shoal.MaxDelta+1) + `"}`, shoal.InvalidArgument, "line 7 has a delta of 65537 bytes"},
		{`{"n": 7, "type": "text", "spaceId": "a b"}`, shoal.InvalidArgument, "line 7 has a spaceId that is not an id"},
		{`{"n": 7, "type": "text", "mention": "a/b"}`, shoal.InvalidArgument, "line 7 has a mention that is not an id"},
		{`{"n": 7, "type": "tool", "tool": "t"}`, shoal.InvalidArgument, "line 7 must have a callId"},
		{`{"n": 7, "type": "tool", "tool": "t", "callId": "text/1"}`, shoal.InvalidArgument, "line 7 must have a callId"},
		{`{"n": 7, "type": "tool", "tool": "t", "callId": "c", "state": "denied"}`, shoal.InvalidArgument, `line 7 has the unknown state "denied"`},
		{`{"n": 7, "type": "tool", "tool": "t", "callId": "c", "args": [1]}`, shoal.InvalidArgument, "line 7 has args that are not a JSON object"},
		{`{"n": 7, "type": "tool", "tool": "t", "callId": "c", "output": "` + strings.Repeat("x", shoal.MaxToolOutput+1) + `"}`, shoal.InvalidArgument, "line 7 has an output of 4097 bytes"},
		{`{"n": 7, "type": "question", "callId": "c"}`, shoal.InvalidArgument, "line 7 must have the text of the question"},
		{`{"n": 7, "type": "usage", "cost": -1}`, shoal.InvalidArgument, "line 7 has a cost"},
		{`{"n": 7, "type": "usage", "tokens": {"input": -1}}`, shoal.InvalidArgument, "line 7 has tokens"},
		{`{"n": 7, "type": "failed", "code": "Bad Code", "text": "x"}`, shoal.InvalidArgument, "line 7 must have a code"},
		{`{"n": 7, "type": "failed", "code": "bad"}`, shoal.InvalidArgument, "line 7 must have a text"},
	} {
		_, err := remoterun.ParseLines([]byte(c.body))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v, want %s", c.body, err, c.want)
		}
	}
	lines, err := remoterun.ParseLines([]byte("\r\n" + manyLines(3) + "\n"))
	if err != nil || len(lines) != 3 || lines[2].N != 3 {
		t.Errorf("three lines: %+v, %v", lines, err)
	}
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"n\":%d,\"type\":\"turn.started\"}\n", i+1)
	}
	return b.String()
}

// A line that does not fit the run is refused with its number, and the run goes on as if it
// had not come.
func TestLinesThatDoNotFit(t *testing.T) {
	w := newWorld(t, 0, remote)
	w.ask("go")
	p := w.program(w.one)
	before := func(lines, want string) {
		t.Helper()
		if err := p.refuses(lines); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", lines, err, want)
		}
	}
	before(`{"type": "text", "delta": "early"}`, "line 1 must follow a line of the type turn.started")
	p.report(`{"type": "turn.started"}
		{"type": "tool", "callId": "a", "tool": "t", "args": {"x": 1}, "state": "done", "output": "1"}
		{"type": "permission", "callId": "b", "tool": "t"}`)
	before(`{"type": "turn.started"}`, "line 4 begins a turn in a turn")
	before(`{"type": "tool", "callId": "new"}`, "line 4 must name its tool")
	before(`{"type": "tool", "callId": "a", "tool": "other"}`, "line 4 uses the callId a")
	before(`{"type": "tool", "callId": "a", "args": {"x": 2}}`, "line 4 has other args")
	before(`{"type": "tool", "callId": "c", "tool": "t", "args": {"x": "<", "y": 1}}
		{"type": "permission", "callId": "c", "args": {"y": 1, "x": "\u003c"}}
		{"type": "tool", "callId": "c", "args": {"y": 1.0, "x": "<"}}`, "line 6 has other args")
	before(`{"type": "tool", "callId": "a", "state": "failed"}`, "line 4 changes the call a, which is done")
	before(`{"type": "tool", "callId": "b", "state": "running"}`, "line 4 executes the call b, whose permission nobody has given yet")
	before(`{"type": "tool", "callId": "d", "tool": "t", "state": "running"}
		{"type": "permission", "callId": "d"}`, "line 5 asks for the permission of the call d, which is at work already")
	before(`{"type": "text", "delta": "hi", "mention": "stranger"}`, `line 4 mentions "stranger"`)
	before(`{"type": "text", "delta": "hi"}
		{"type": "card", "callId": "c", "tool": "Card", "spaceId": "attic"}`, `line 5 writes into the space "attic"`)
	before(`{"type": "turn.ended"}
		{"type": "text", "delta": "late"}`, "line 5 comes after the end of the run")
	p.report(`{"type": "text", "delta": "Good."}
		{"type": "turn.ended"}`)
	if got, want := w.shown(), `completed: [done t{"x":1}1] [canceled t{}canceled] [done Good.]`; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
}
