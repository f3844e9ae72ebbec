package anthropic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

const (
	start    = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"usage":{"input_tokens":20,"cache_creation_input_tokens":300,"cache_read_input_tokens":4000,"output_tokens":1}}}`
	ping     = `{"type":"ping"}`
	openText = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	stop     = `{"type":"message_stop"}`
)

func say(text string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, text)
}

func shut(index int) string {
	return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index)
}

func end(reason string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":15}}`, reason)
}

var short = events(start, openText, ping, say("Moin"), say(", Kiel"), shut(0), end("end_turn"), stop)

func TestStreamYieldsTheAnswer(t *testing.T) {
	const usage = "usage in=4320 cached=4000 written=300 out=1 thoughts=0\n"
	const usageEnd = "usage in=4320 cached=4000 written=300 out=15 thoughts=0\n"
	for _, c := range []struct{ name, transcript, want string }{
		{"text", short, usage + "text \"Moin\"\ntext \", Kiel\"\n" + usageEnd + "finish stop\n"},
		{"lines that end in CR LF", strings.ReplaceAll(short, "\n", "\r\n"), usage + "text \"Moin\"\ntext \", Kiel\"\n" + usageEnd + "finish stop\n"},
		{"comments and unknown events", ": hello\n\n" + events(`{"type":"later"}`) + short, usage + "text \"Moin\"\ntext \", Kiel\"\n" + usageEnd + "finish stop\n"},
		{"thoughts, redacted and hidden ones", events(
			start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Rain?"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}`,
			shut(0),
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwK"}}`, shut(1),
			`{"type":"content_block_start","index":2,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"signature_delta","signature":"Hid"}}`,
			shut(2),
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":40,"output_tokens_details":{"thinking_tokens":30}}}`,
			stop,
		), usage + `thought "Rain?"
opaque {"provider":"anthropic","blocks":[{"signature":"EqQB","bytes":5}]}
opaque {"provider":"anthropic","blocks":[{"signature":"EqQB","bytes":5},{"redacted":"EmwK"}]}
opaque {"provider":"anthropic","blocks":[{"signature":"EqQB","bytes":5},{"redacted":"EmwK"},{"signature":"Hid"}]}
usage in=4320 cached=4000 written=300 out=40 thoughts=30
finish stop
`},
		{"parallel calls, one without arguments", events(
			start, openText, say("Looking."), shut(0),
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\": \"Ki"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"el\", \"id\": 9007199254740993}"}}`,
			shut(1),
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`,
			shut(2), end("tool_use"), stop,
		), usage + `text "Looking."
call 1 toolu_1 weather
arguments 1 {"city": "Ki
arguments 1 el", "id": 9007199254740993}
call 1 ends
call 2 toolu_2 now
arguments 2 {}
call 2 ends
` + usageEnd + "finish tool_calls\n"},
		{"cut at the limit", events(start, openText, say("Mo"), shut(0), end("max_tokens"), stop), usage + "text \"Mo\"\n" + usageEnd + "finish length\n"},
		{"window full", events(start, openText, say("Mo"), shut(0), end("model_context_window_exceeded"), stop), usage + "text \"Mo\"\n" + usageEnd + "finish length\n"},
		{"refusal", events(start, end("refusal"), stop), usage + usageEnd + "finish content_filter\n"},
		{"stop word", events(start, openText, say("Mo"), shut(0), end("stop_sequence"), stop), usage + "text \"Mo\"\n" + usageEnd + "finish stop\n"},
		{"paused", events(start, openText, say("Mo"), shut(0), end("pause_turn"), stop), usage + "text \"Mo\"\n" + usageEnd + "finish paused\n"},
		{"a turn without a word that is billed", events(start, end("end_turn"), stop), usage + usageEnd + "finish stop\n"},
		{"a turn without a word", events(`{"type":"message_start","message":{"usage":{"input_tokens":3}}}`, stop), "usage in=3 cached=0 written=0 out=0 thoughts=0\nfinish other\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := wiretest.Transcribe(t, newVendor(t, wiretest.Plays(c.transcript)).model(t), wiretest.Hello())
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
		})
	}
}

// A stream that was cut is never taken for a short answer, wherever the cut is
// and however the connection ends.
func TestCutStreamNeverFinishes(t *testing.T) {
	whole := events(start, openText, say("Mo"), shut(0),
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`,
		shut(1), end("tool_use"), stop)
	for _, abort := range []bool{false, true} {
		cut := 0
		v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
			wiretest.Plays(whole[:cut])(w, r)
			if abort {
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				panic(http.ErrAbortHandler)
			}
		})
		m := v.model(t)
		for cut = range len(whole) {
			got, err := wiretest.Transcribe(t, m, wiretest.Hello())
			if strings.Contains(got, "finish") || err == nil {
				t.Fatalf("abort %v: cut at %d of %d (%q): error %v after\n%s", abort, cut, len(whole), whole[max(0, cut-20):cut], err, got)
			}
			failure := wiretest.ModelError(t, err)
			want := agent.ClassNetwork
			if first := strings.Index(whole, "\n\n") + 2; cut < first && !abort {
				want = agent.ClassMalformed // nothing has come: an empty answer
			}
			if failure.Class != want {
				t.Fatalf("abort %v: cut at %d of %d: class %q, want %q: %v", abort, cut, len(whole), failure.Class, want, err)
			}
		}
	}
}

func TestBrokenStreams(t *testing.T) {
	for _, c := range []struct {
		name, transcript string
		want             agent.ErrorClass
		code             string
	}{
		{"nothing", "", agent.ClassMalformed, ""},
		{"a page", "<html>Welcome</html>", agent.ClassMalformed, ""},
		{"JSON instead of a stream", `{"ok":true}`, agent.ClassMalformed, ""},
		{"an event that is not JSON", events(start) + "event: content_block_delta\ndata: {\"type\":\n\n", agent.ClassMalformed, ""},
		{"a wrong type", events(start, `{"type":"content_block_delta","index":"zero","delta":{"type":"text_delta","text":"x"}}`), agent.ClassMalformed, ""},
		{"a delta of nothing", events(start, say("x")), agent.ClassMalformed, ""},
		{"overloaded on the way", events(start, openText, say("Mo"), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), agent.ClassOverloaded, "overloaded_error"},
		{"limited on the way", events(start, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`), agent.ClassRateLimited, "rate_limit_error"},
		{"failed on the way", events(start, `{"type":"error","error":{"type":"api_error","message":"oops"}}`), agent.ClassOverloaded, "api_error"},
		{"an error that is not JSON", events(start) + "event: error\ndata: oops\n\n", agent.ClassOverloaded, ""},
		{"an error of an unknown type", events(start, `{"type":"error","error":{"type":"new_error","message":"?"}}`), agent.ClassOverloaded, "new_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := wiretest.Transcribe(t, newVendor(t, wiretest.Plays(c.transcript)).model(t), wiretest.Hello())
			failure := wiretest.ModelError(t, err)
			if failure.Class != c.want || failure.Code != c.code || failure.Provider != "anthropic" {
				t.Errorf("error %#v, want class %q, code %q", failure, c.want, c.code)
			}
			if strings.Contains(got, "finish") {
				t.Errorf("chunks hold a finish:\n%s", got)
			}
		})
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	answer, gone := wiretest.Hangs(t, events(start, openText, say("Mo")))
	wiretest.EndsWithItsContext(t, newVendor(t, answer).model(t), gone)
}

func TestBreakClosesTheConnection(t *testing.T) {
	answer, gone := wiretest.Hangs(t, events(start, openText, say("Mo")))
	wiretest.LeavesWithItsRange(t, newVendor(t, answer).model(t), gone)
}
