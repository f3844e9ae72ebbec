package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/jsonrpc"
	"github.com/shoal-dev/shoal/internal/harness/process"
)

// An agent that asks again about a call that was approved is answered at once if it shows nothing new,
// and for the rest of the turn only.
func TestAsksTwice(t *testing.T) {
	const whole = `{"command":"make","directories":["/else"]}`
	for _, c := range []struct {
		name, second string
		verdict      harness.Verdict
		anew         bool // the second request comes in the next turn
		asks         bool
	}{
		{name: "a part of what was approved", second: `{"command":"make"}`, verdict: harness.Verdict{Approved: true}},
		{name: "something else", second: `{"command":"make all"}`, verdict: harness.Verdict{Approved: true}, asks: true},
		{name: "more than was approved", second: `{"command":"make","env":"CI"}`, verdict: harness.Verdict{Approved: true}, asks: true},
		{name: "after a denial", second: `{"command":"make"}`, asks: true},
		{name: "in the next turn", second: `{"command":"make"}`, verdict: harness.Verdict{Approved: true}, anew: true, asks: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			s := &session{
				Conversation: &process.Conversation{Turns: harness.NewTurns()}, id: "s",
				asked: map[string]request{}, approved: map[string]json.RawMessage{},
			}
			s.peer = jsonrpc.New(&out, "2.0", s.receive)
			turn := func(what func()) (permissions int) {
				if err := s.Turns.Begin(); err != nil {
					t.Fatal(err)
				}
				what()
				s.ended(json.RawMessage(`{"stopReason":"end_turn"}`), nil)
				for e, err := range s.Turns.Range(t.Context(), func() {}, func() {}) {
					if err != nil {
						t.Fatal(err)
					}
					if _, asks := e.(harness.Permission); asks {
						permissions++
					}
				}
				return permissions
			}
			ask := func(id int, args string) {
				text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","rawInput":%s},`+
					`"options":[{"optionId":"always","kind":"allow_always"},{"optionId":"once","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}`, id, args)
				_ = s.peer.Read(strings.NewReader(text + "\n")) // it ends with the text
			}
			asked := turn(func() {
				ask(1, whole)
				if err := s.Answer(t.Context(), "c", c.verdict); err != nil {
					t.Fatal(err)
				}
				if !c.anew {
					ask(2, c.second)
				}
			})
			if c.anew {
				asked += turn(func() { ask(2, c.second) })
			}
			if want := map[bool]int{false: 1, true: 2}[c.asks]; asked != want {
				t.Errorf("%d requests, want %d", asked, want)
			}
			if denied := strings.Contains(out.String(), `"no"`); denied == c.verdict.Approved {
				t.Errorf("an answer %+v is sent as\n%s", c.verdict, &out)
			}
			if answered := strings.Contains(out.String(), `"id":2,`) && strings.Count(out.String(), `"once"`) == 2; answered == c.asks {
				t.Errorf("the agent was sent\n%s", &out)
			}
		})
	}
}
