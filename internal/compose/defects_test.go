package compose_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/compose"
)

// These tests cover the defects of earlier systems (checklist D) that a composer can have.
// D30, composite messages that were documented and missing, is covered by the stories.

func testTools() []compose.Tool {
	return []compose.Tool{{Name: "send", Send: true}, {Name: "card", Display: true}, {Name: "gift", Display: true, Targeted: true}}
}

// write lets the model write one call in pieces of size bytes and answers AskSpace with
// membership, unless that is 0.
func write(c *compose.Composer, call agent.ToolCall, size int, membership compose.Membership) []compose.Effect {
	var all []compose.Effect
	take := func(effects []compose.Effect) {
		for i := 0; i < len(effects); i++ { // answers cause more effects
			if ask, ok := effects[i].(compose.AskSpace); ok && membership != 0 {
				effects = append(effects, c.SetMembership(ask.Space, ask.Target, membership)...)
			}
		}
		all = append(all, effects...)
	}
	take(c.Apply(agent.ToolCallStarted{MessageID: "m", CallID: call.ID, Name: call.Name}))
	for piece := range slices.Chunk([]byte(call.Arguments), size) {
		take(c.Apply(agent.ToolArgsDelta{CallID: call.ID, Text: string(piece)}))
	}
	take(c.Apply(agent.ToolCallEnded{Call: call}))
	return all
}

// count returns how many effects are of type T.
func count[T compose.Effect](effects []compose.Effect) (n int) {
	for _, e := range effects {
		if _, ok := e.(T); ok {
			n++
		}
	}
	return n
}

// D14: the complete argument string was parsed and sent again for each delta. A delta must
// cost the same at the end as at the beginning, and send only its own bytes.
func TestD14DeltaCostIsConstant(t *testing.T) {
	for _, tool := range []string{"send", "card"} {
		c := compose.New(compose.Options{Run: "r", Tools: testTools(), MaxPart: 10 << 20})
		head := `{"spaceId":"shop","text":"`
		if tool == "card" {
			head = `{"targetSpaceId":"shop","text":"`
		}
		c.Apply(agent.ToolCallStarted{MessageID: "m", CallID: "c", Name: tool})
		c.Apply(agent.ToolArgsDelta{CallID: "c", Text: head})
		c.SetMembership("shop", "", compose.Member)
		c.Apply(agent.ToolArgsDelta{CallID: "c", Text: "first"})
		sent := 0
		cost := func() float64 {
			return testing.AllocsPerRun(10_000, func() {
				for _, e := range c.Apply(agent.ToolArgsDelta{CallID: "c", Text: "four"}) {
					sent += len(e.(compose.AppendPart).Delta)
				}
			})
		}
		first := cost()
		for range 5 {
			cost()
		}
		if last := cost(); last != first || last > 3 {
			t.Errorf("%s: got %.1f allocations per delta at first and %.1f later, want the same", tool, first, last)
		}
		if want := 7 * 10_001 * len("four"); sent != want {
			t.Errorf("%s: got %d bytes sent, want %d", tool, sent, want)
		}
	}
}

// D15: a tool error was treated as a waiting client tool.
func TestD15FailedToolDoesNotWait(t *testing.T) {
	c := compose.New(compose.Options{Run: "r", Tools: testTools()})
	write(c, agent.ToolCall{ID: "c", Name: "card", Arguments: `{"targetSpaceId":"shop"}`}, 100, compose.Member)
	effects := c.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Status: agent.ResultFailed, Text: "broken"}})
	if got := effects[0].(compose.FinishTool); got.Status != shoal.PartError || got.Error != "broken" || got.Result != nil {
		t.Errorf("got the part %+v, want an error", got)
	}
}

// D16: text went to any space before the membership was checked, and display tools never
// checked it.
func TestD16NothingIsShownBeforeMembership(t *testing.T) {
	for _, call := range []agent.ToolCall{
		{ID: "c", Name: "send", Arguments: `{"spaceId":"shop","text":"Hello you","mention":"bob"}`},
		{ID: "c", Name: "card", Arguments: `{"targetSpaceId":"shop","name":"MacBook","mention":"bob"}`},
		{ID: "c", Name: "gift", Arguments: `{"targetEntityId":"ann","targetSpaceId":"shop","name":"MacBook"}`},
	} {
		for size := 1; size <= len(call.Arguments); size++ {
			c := compose.New(compose.Options{Run: "r", Tools: testTools()})
			effects := write(c, call, size, 0)
			if len(effects) != 1 || count[compose.AskSpace](effects) != 1 {
				t.Fatalf("%s in pieces of %d: got %v before the answer, want no effects", call.Name, size, effects)
			}
			for _, membership := range []compose.Membership{compose.NotMember, compose.SpaceClosed, compose.NoTarget} {
				c := compose.New(compose.Options{Run: "r", Tools: testTools()})
				if effects := write(c, call, size, membership); len(effects) != 1 {
					t.Fatalf("%s in pieces of %d: got %v without membership, want nothing shown", call.Name, size, effects)
				}
				if r, ok := c.Route("c"); !ok || r.Refusal == "" || r.Place != nil {
					t.Fatalf("%s: got the route %+v", call.Name, r)
				}
			}
		}
	}
}

// D17: with the text first, it went to a truncated space id.
func TestD17TextWaitsForTheWholeSpace(t *testing.T) {
	call := agent.ToolCall{ID: "c", Name: "send", Arguments: `{"text":"Hello \u00e9 \ud83d\ude00","spaceId":"shop-floor.\u0032"}`}
	for size := 1; size <= len(call.Arguments); size++ {
		c := compose.New(compose.Options{Run: "r", Tools: testTools()})
		text := ""
		for _, e := range write(c, call, size, compose.Member) {
			switch e := e.(type) {
			case compose.AskSpace:
				if e.Space != "shop-floor.2" {
					t.Fatalf("pieces of %d: got a question for %q", size, e.Space)
				}
			case compose.AppendPart:
				text += e.Delta
			}
		}
		if text != "Hello é 😀" {
			t.Fatalf("pieces of %d: got the text %q", size, text)
		}
	}
}

// The buffer of a call is limited: content that exceeds the limit of a part is refused.
func TestD17BufferIsBounded(t *testing.T) {
	c := compose.New(compose.Options{Run: "r", Tools: testTools()})
	long := `{"text":"` + strings.Repeat("x", shoal.MaxContent+1) + `","spaceId":"shop"}`
	if effects := write(c, agent.ToolCall{ID: "c", Name: "send", Arguments: long}, 1000, compose.Member); len(effects) != 0 {
		t.Errorf("%d effects", len(effects))
	}
	if r, _ := c.Route("c"); r.Refusal != compose.RefusedTooLarge {
		t.Errorf("the route is %+v", r)
	}
}

// D19: after a resume earlier steps were missing, so that sends were repeated.
func TestD19ResumedRunShowsNothingTwice(t *testing.T) {
	opts := compose.Options{Run: "r", Tools: testTools()}
	c := compose.New(opts)
	call := agent.ToolCall{ID: "c", Name: "send", Arguments: `{"spaceId":"shop","text":"Hello"}`}
	result := agent.ToolResult{CallID: "c", Name: "send", Status: agent.ResultOK}
	write(c, call, 5, compose.Member)
	var stored []compose.Message
	for _, e := range c.Apply(agent.ToolFinished{Result: result}) {
		if save, ok := e.(compose.SaveMessage); ok {
			stored = append(stored, save.Message)
		}
	}
	steps := []agent.Step{{Assistant: agent.Message{ID: "m", Parts: []agent.Part{{Type: agent.CallPart, Call: &call}}}, Results: []agent.ToolResult{result}}}
	for _, done := range []bool{false, true} {
		steps[0].Done = done
		c, effects := compose.Restore(opts, stored, steps)
		effects = append(effects, c.Apply(agent.ToolFinished{Result: result})...)
		if n := count[compose.OpenPart](effects) + count[compose.AppendPart](effects) + count[compose.AskSpace](effects); n != 0 {
			t.Errorf("done %v: %v", done, effects)
		}
		end := c.End(agent.Completed)
		if got := end[0].(compose.CloseMessage).Message; len(got.Parts) != 1 || got.Parts[0].Text != "Hello" {
			t.Errorf("the message is %+v", got)
		}
	}
}

// D20: two results for one call were possible.
func TestD20FirstResultStays(t *testing.T) {
	c := compose.New(compose.Options{Run: "r", Tools: testTools()})
	write(c, agent.ToolCall{ID: "c", Name: "card", Arguments: `{"targetSpaceId":"shop"}`}, 100, compose.Member)
	c.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Status: agent.ResultOK, Text: `{"n":1}`}})
	if effects := c.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Status: agent.ResultOK, Text: `{"n":2}`}}); len(effects) != 0 {
		t.Errorf("got %v for a second result, want no effects", effects)
	}
	if effects := c.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: "unknown", Status: agent.ResultOK}}); len(effects) != 0 {
		t.Errorf("got %v for the result of an unknown call, want no effects", effects)
	}
}

// D21: an approval in another space was refused, because the trigger's space was checked.
func TestD21RequestBelongsToItsSpace(t *testing.T) {
	c := compose.New(compose.Options{Run: "r", Trigger: "shop", Tools: testTools()})
	call := agent.ToolCall{ID: "c", Name: "card", Arguments: `{"targetSpaceId":"finance"}`}
	write(c, call, 100, compose.Member)
	effects := c.Apply(agent.RequestOpened{Pending: agent.Pending{ID: "p", Kind: agent.ClientCall, Call: call}})
	at := slices.IndexFunc(effects, func(e compose.Effect) bool { _, ok := e.(compose.ShowPending); return ok })
	if shown := effects[at].(compose.ShowPending); shown.Space != "finance" || shown.Place == nil || shown.Place.Call != "c" {
		t.Errorf("shown at %+v", shown)
	}
}

// D22: a canceled run was completed later.
func TestD22EndedRunStaysEnded(t *testing.T) {
	c := compose.New(compose.Options{Run: "r", Tools: testTools()})
	write(c, agent.ToolCall{ID: "c", Name: "send", Arguments: `{"spaceId":"shop","text":"Hello","mention":"bob"}`}, 100, compose.Member)
	end := c.End(agent.Canceled)
	if got := end[len(end)-1].(compose.CloseMessage).Message; got.Status != shoal.MessageCanceled || got.Mention != "" {
		t.Errorf("closed as %+v", got)
	}
	late := slices.Concat(
		c.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Status: agent.ResultOK}}), c.Accept("c"),
		c.Apply(agent.TurnFinished{Outcome: agent.Completed}), c.End(agent.Completed), c.SetMembership("shop", "", compose.SpaceClosed))
	if len(late) != 0 {
		t.Errorf("got %v after the end, want no effects", late)
	}
}

// Tools, their schemas and the store see no routing fields (checklist 117, 119), and
// otherwise the model's arguments without white space.
func TestStrip(t *testing.T) {
	card, gift := compose.Tool{Display: true}, compose.Tool{Display: true, Targeted: true}
	for _, test := range []struct {
		tool     compose.Tool
		in, want string
	}{
		{card, `{"targetSpaceId":"shop","name":"x","mention":"bob"}`, `{"name":"x"}`},
		{card, `{ "a" : [ 1, 2 ] , "targetSpaceId" : null }`, `{"a":[1,2]}`},
		{card, `{"mention":{"deep":[1]},"a":{"mention":"stays"},"b":1.50}`, `{"a":{"mention":"stays"},"b":1.50}`},
		{card, `{"m\u0065ntion":"x","\u0061":"\u00e9"}`, `{"\u0061":"\u00e9"}`},
		{card, `{"targetEntityId":"ann"}`, `{"targetEntityId":"ann"}`},
		{gift, `{"targetEntityId":"ann","a":1}`, `{"a":1}`},
		{card, ``, `{}`},
		{compose.Tool{}, `{"targetSpaceId":"shop"}`, `{"targetSpaceId":"shop"}`},
		{compose.Tool{Display: true, HideInput: true}, `{"targetSpaceId":"shop","a":1}`, `{"a":1}`},
		{compose.Tool{Send: true, Display: true}, `{"spaceId":"shop","mention":"bob"}`, `{"spaceId":"shop","mention":"bob"}`},
	} {
		got, err := compose.Strip(test.tool, test.in)
		if err != nil || got != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.in, got, err, test.want)
		}
		s, grown := compose.NewStripper(test.tool), ""
		for i := range len(test.in) {
			grown += s.Feed(test.in[i : i+1])
		}
		if grown != got && test.in != "" {
			t.Errorf("%s: byte by byte: got %s, want %s", test.in, grown, got)
		}
	}
	if _, err := compose.Strip(card, `{"a":`); shoal.KindOf(err) != shoal.InvalidJSON {
		t.Errorf("broken arguments: %v", err)
	}
}

// A private part is visible to one member.
func TestVisibleTo(t *testing.T) {
	private, public := compose.Part{Target: "ann"}, compose.Part{}
	if !private.VisibleTo("ann") || private.VisibleTo("bob") || private.VisibleTo("") || !public.VisibleTo("bob") {
		t.Error("VisibleTo returns the wrong members")
	}
}

// The stored form of a message survives storage.
func TestMessageSurvivesStorage(t *testing.T) {
	m := compose.Message{
		ID: "m", Space: "s", Status: shoal.MessageStreaming, Mention: "bob", Sealed: true, SealedBy: "c", Starts: true, Opened: 3,
		Parts: []compose.Part{
			{ID: "p", Type: shoal.TextPart, Status: shoal.PartDone, Call: "c", Text: "x", Accepted: true},
			{ID: "q", Type: shoal.ToolPart, Status: shoal.PartInputStreaming, Call: "d", Tool: "t", Input: `{"a`, Target: "ann", Rendering: json.RawMessage(`{}`)},
		},
	}
	raw := mustJSON(m)
	var got compose.Message
	if err := json.Unmarshal([]byte(raw), &got); err != nil || mustJSON(got) != raw {
		t.Errorf("%v: stored %s, got %s", err, raw, mustJSON(got))
	}
}

// Content that is nested deeper than the limit of message readers is never shown as it is:
// one such value would make the whole timeline unreadable. A result becomes a string.
// Arguments get no part, and the agent refuses them itself.
func TestTooDeepContentIsNotShown(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for n, asItIs := range map[int]bool{100: true, 102: false, 9_999: false} {
		c := compose.New(compose.Options{Run: "r", Tools: testTools()})
		call := agent.ToolCall{ID: "c", Name: "card", Arguments: `{"targetSpaceId":"shop","name":"x"}`}
		write(c, call, 64, compose.Member)
		for _, e := range c.Apply(agent.ToolFinished{Result: agent.ToolResult{CallID: "c", Name: "card", Status: agent.ResultOK, Text: deep(n)}}) {
			if done, ok := e.(compose.FinishTool); ok && (done.Result[0] == '[') != asItIs {
				t.Errorf("a result %d levels deep is shown as %.20s…", n, done.Result)
			}
		}
		c = compose.New(compose.Options{Run: "r", Tools: testTools()})
		call.Arguments = `{"targetSpaceId":"shop","name":` + deep(n) + `}`
		if shown := count[compose.InputAvailable](write(c, call, 64, compose.Member)) == 1; shown != asItIs {
			t.Errorf("arguments %d levels deep are shown: %v", n, shown)
		}
	}
}
