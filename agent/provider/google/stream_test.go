package google_test

import (
	"bytes"
	"log"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

const (
	moin   = `{"candidates":[{"content":{"parts":[{"text":"Moin"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":20,"totalTokenCount":20},"modelVersion":"gemini-test"}`
	finish = `{"candidates":[{"content":{"parts":[{"text":", Kiel"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":20,"cachedContentTokenCount":12,"candidatesTokenCount":5,"thoughtsTokenCount":7,"toolUsePromptTokenCount":3,"totalTokenCount":35}}`
)

var short = events(moin, finish)

func ends(reason string) string {
	return `{"candidates":[{"finishReason":"` + reason + `","finishMessage":"because"}]}`
}

// madeID is an id that this side made.
var madeID = regexp.MustCompile(`call_[A-Z2-7]{26}`)

func TestStreamYieldsTheAnswer(t *testing.T) {
	const whole = `text "Moin"
usage in=20 cached=0 written=0 out=0 thoughts=0
text ", Kiel"
usage in=23 cached=12 written=0 out=12 thoughts=7
finish stop
`
	first := "text \"Moin\"\nusage in=20 cached=0 written=0 out=0 thoughts=0\n"
	for _, c := range []struct{ name, transcript, want string }{
		{"text", short, whole},
		{"plain line ends", strings.ReplaceAll(short, "\r\n", "\n"), whole},
		{"comments and other fields", ": ping\r\n\r\nevent: x\r\nid: 3\r\nretry: 5\r\n" + short + ": bye\n\n", whole},
		{"data in several lines", strings.ReplaceAll(short, `,"role"`, ",\r\ndata: \"role\""), whole},
		{"thoughts, signed and not", events(
			`{"candidates":[{"content":{"parts":[{"text":"Rain?","thought":true}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"Yes","thought":true,"thoughtSignature":"QUJD"}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"Moin"}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"REVG"}]},"finishReason":"STOP"}]}`,
		), `thought "Rain?"
thought "Yes"
opaque {"provider":"gcp.gemini","signature":"QUJD"}
text "Moin"
opaque {"provider":"gcp.gemini","signature":"REVG"}
finish stop
`},
		{"a signature without a text", events(
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"},"thoughtSignature":"QUJD"},{"text":"","thoughtSignature":"REVG"}]},"finishReason":"STOP"}]}`,
		), `call 0 MADE f
arguments 0 {}
opaque {"provider":"gcp.gemini","signature":"QUJD"}
call 0 ends
finish tool_calls
`},
		{"parallel calls", events(
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"weather","args":{"city":"Kiel","id":9007199254740993,"f":1.0}},"thoughtSignature":"QUJD"},{"functionCall":{"id":"fc-2","name":"now"}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"now","args":{}}}]},"finishReason":"STOP"}]}`,
		), `call 0 MADE weather
arguments 0 {"city":"Kiel","id":9007199254740993,"f":1.0}
opaque {"provider":"gcp.gemini","signature":"QUJD"}
call 0 ends
call 1 fc-2 now
arguments 1 {}
opaque {"provider":"gcp.gemini","id":"fc-2"}
call 1 ends
call 2 MADE now
arguments 2 {}
call 2 ends
finish tool_calls
`},
		{"cut at the limit", events(moin, ends("MAX_TOKENS")), first + "finish length\n"},
		{"safety", events(moin, ends("SAFETY")), first + "finish content_filter\n"},
		{"recitation", events(moin, ends("RECITATION")), first + "finish content_filter\n"},
		{"prohibited", events(ends("PROHIBITED_CONTENT")), "finish content_filter\n"},
		{"other", events(moin, ends("LANGUAGE")), first + "finish other\n"},
		{"unspecified, then stop", events(moin, ends("FINISH_REASON_UNSPECIFIED"), ends("STOP")), first + "finish stop\n"},
		{"a reason in every event", events(`{"candidates":[{"content":{"parts":[{"text":"Mo"}]},"finishReason":"STOP"}]}`, `{"candidates":[{"content":{"parts":[{"text":"in"}]},"finishReason":"STOP"}]}`), "text \"Mo\"\ntext \"in\"\nfinish stop\n"},
		{"a turn without a word that is billed", events(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":2}}`), "usage in=0 cached=0 written=0 out=2 thoughts=0\nfinish stop\n"},
		{"a turn without a word", events(ends("STOP")), "finish stop\n"},
		{"thoughts without an answer", events(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"thoughtsTokenCount":9}}`), "usage in=0 cached=0 written=0 out=9 thoughts=9\nfinish stop\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVendor(t, wiretest.Plays(c.transcript))
			got, err := wiretest.Transcribe(t, v.model(t), wiretest.Hello())
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, madeID.ReplaceAllString(got, "MADE")); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
			if n := len(v.Requests); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
		})
	}
}

// A stream that was cut is never taken for a short answer, wherever the cut is
// and however the connection ends; it is not asked for again, and nothing is
// written to the standard logger.
func TestCutStreamNeverFinishes(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(log.Default().Writer())
	whole := events(`{"candidates":[{"content":{"parts":[{"text":"Mo"}]},"continuationToken":"QUJD"}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}}]}`,
		ends("STOP"))
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
		for cut = range len(whole) - 1 { // without its last byte it is whole
			got, err := wiretest.Transcribe(t, m, wiretest.Hello())
			if strings.Contains(got, "finish") || err == nil {
				t.Fatalf("abort %v: cut at %d of %d (%q): error %v after\n%s", abort, cut, len(whole), whole[max(0, cut-20):cut], err, got)
			}
			failure := wiretest.ModelError(t, err)
			want := agent.ClassNetwork
			if first := strings.Index(whole, "\r\n\r\n") + 3; cut < first && !abort {
				want = agent.ClassMalformed // nothing has come: an empty answer
			}
			if failure.Class != want {
				t.Fatalf("abort %v: cut at %d of %d: class %q, want %q: %v", abort, cut, len(whole), failure.Class, want, err)
			}
		}
		if n := len(v.Requests); n > len(whole) {
			t.Errorf("%d requests for %d streams", n, len(whole))
		}
	}
	if strings.Contains(logged.String(), "rror") && !strings.Contains(logged.String(), "http: panic") {
		t.Errorf("the standard logger got %s", &logged)
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
		{"an event that is not JSON", events(moin, `{"candidates":`), agent.ClassMalformed, ""},
		{"a wrong type", events(moin, `{"candidates":[{"content":{"parts":[{"text":5}]}}]}`), agent.ClassMalformed, ""},
		{"a list", events(`[]`), agent.ClassMalformed, ""},
		{"no reason to finish", events(moin), agent.ClassNetwork, ""},
		{"a piece after the reason", short + "data: {\"cand", agent.ClassNetwork, ""},
		{"an error after a comment", ": wait\r\n\r\n" + said(503, "UNAVAILABLE", "overloaded"), agent.ClassOverloaded, "UNAVAILABLE"},
		{"an invalid call", events(ends("MALFORMED_FUNCTION_CALL")), agent.ClassMalformed, "MALFORMED_FUNCTION_CALL"},
		{"a signature is missing", events(ends("MISSING_THOUGHT_SIGNATURE")), agent.ClassInvalid, "MISSING_THOUGHT_SIGNATURE"},
		{"the prompt is blocked", events(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","blockReasonMessage":"no"}}`), agent.ClassFiltered, "PROHIBITED_CONTENT"},
		{"overloaded on the way", events(moin, said(503, "UNAVAILABLE", "overloaded")), agent.ClassOverloaded, "UNAVAILABLE"},
		{"limited on the way", events(said(429, "RESOURCE_EXHAUSTED", "slow")), agent.ClassRateLimited, "RESOURCE_EXHAUSTED"},
		{"an error instead of a stream", said(503, "UNAVAILABLE", "overloaded"), agent.ClassOverloaded, "UNAVAILABLE"},
		{"an error on the way, in lines", events(moin) + strings.ReplaceAll(said(503, "UNAVAILABLE", "overloaded"), ",", ",\r\n  "), agent.ClassOverloaded, "UNAVAILABLE"},
		{"an error in lines", strings.ReplaceAll("["+said(503, "UNAVAILABLE", "overloaded")+"]", ",", ",\r\n  "), agent.ClassOverloaded, "UNAVAILABLE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := wiretest.Transcribe(t, newVendor(t, wiretest.Plays(c.transcript)).model(t), wiretest.Hello())
			failure := wiretest.ModelError(t, err)
			if failure.Class != c.want || failure.Code != c.code || failure.Provider != "gcp.gemini" {
				t.Errorf("error %#v, want class %q, code %q", failure, c.want, c.code)
			}
			if strings.Contains(got, "finish") {
				t.Errorf("chunks hold a finish:\n%s", got)
			}
		})
	}
}

func TestLineThatIsTooLong(t *testing.T) {
	v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
		wiretest.Plays("data: ")(w, r)
		for range 40 {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return // the client has gone, as it should
			}
		}
	})
	_, err := wiretest.Transcribe(t, v.model(t), wiretest.Hello())
	if failure := wiretest.ModelError(t, err); failure.Class != agent.ClassMalformed {
		t.Errorf("error %#v, want malformed", failure)
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	answer, gone := wiretest.Hangs(t, events(moin))
	wiretest.EndsWithItsContext(t, newVendor(t, answer).model(t), gone)
}

func TestBreakClosesTheConnection(t *testing.T) {
	answer, gone := wiretest.Hangs(t, events(moin))
	wiretest.LeavesWithItsRange(t, newVendor(t, answer).model(t), gone)
}
