package aisdkapi

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

func viewOf(had held) *projection {
	return newProjection(had, func(shoal.RunID) shoal.EntityID { return "bot" })
}

// at is where a part of the message m is.
func at(id string) shoal.PartHead {
	return shoal.PartHead{MessageID: "m", PartID: shoal.PartID(id)}
}

func delta(p *projection, id string, offset int, text string) {
	p.Delta(shoal.EventTextDelta, shoal.DeltaData{PartHead: at(id), Offset: offset, Delta: text}, "run")
}

func invoke(p *projection, id, args string) {
	p.BeginCall(shoal.ToolInputData{PartHead: at(id), ToolCallID: id, ToolName: "pay"}, "run")
	if args != "" {
		p.EndInput(shoal.ToolInputData{PartHead: at(id), ToolCallID: id, ToolName: "pay", Args: json.RawMessage(args)}, "run")
	}
}

// output ends the call c.
func output(p *projection, status shoal.PartStatus, result, failure string) {
	d := shoal.ToolOutputData{PartHead: at("c"), ToolCallID: "c", ToolName: "pay", Status: status, Result: json.RawMessage(result)}
	if failure != "" {
		d.Error = &failure
	}
	p.Output(d, "run")
}

// action is an action about a call, which a message shows if part is set.
func action(kind shoal.PendingKind, id, part string) shoal.PendingAction {
	w := shoal.PendingAction{ID: "pnd_1", Kind: kind, RunID: "run", ToolCallID: id, ToolName: "pay", Args: json.RawMessage(`{"n":1}`)}
	if part != "" {
		h := at(part)
		w.MessageID, w.PartID = &h.MessageID, &h.PartID
	}
	return w
}

// has is what a client has that was shown these parts before.
func has(parts ...uiPart) held {
	in := &request{Messages: []uiMessage{{Role: roleAssistant, Parts: parts}}}
	return in.holds(true)
}

// textOf is the text a as a client has it.
func textOf(text string) uiPart {
	return uiPart{Type: "text", Text: &text, Provider: &origin{from{PartID: "a"}}}
}

// What a client has after a course of events.
func TestProjection(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		had  held
		play func(p *projection)
		want string
	}{
		"pieces that overlap": {newHeld(), func(p *projection) {
			delta(p, "a", 0, "Hel")
			delta(p, "a", 2, "llo")
			p.EndText(shoal.TextData{PartHead: at("a"), Text: "Hello"})
		}, "text Hello done"},
		"a text that is cut back, and one after it": {newHeld(), func(p *projection) {
			delta(p, "a", 0, "Hello")
			delta(p, "b", 0, "You")
			p.Reset(shoal.PartResetData{PartHead: at("a"), Offset: 2}, false)
			delta(p, "a", 2, "y")
		}, "text Hey streaming|text You streaming"},
		"a text that is removed": {newHeld(), func(p *projection) {
			delta(p, "a", 0, "Hello")
			delta(p, "b", 0, "Bye")
			p.Reset(shoal.PartResetData{PartHead: at("a")}, true)
		}, "text Bye streaming"},
		"a text that the client has": {has(textOf("Hel")), func(p *projection) {
			p.Message(shoal.Message{ID: "m", Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Hello", Status: shoal.PartDone}}}, "run")
		}, "text lo done"},
		"a whole text that the client has": {has(textOf("Hello")), func(p *projection) {
			p.Message(shoal.Message{ID: "m", Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Hello", Status: shoal.PartDone}}}, "run")
		}, ""},
		"another text than the client has": {has(textOf("Good")), func(p *projection) {
			p.Message(shoal.Message{ID: "m", Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Hello", Status: shoal.PartDone}}}, "run")
		}, "text Hello done"},
		"a text that is cut back below what the client has": {has(textOf("Hello")), func(p *projection) {
			delta(p, "a", 5, " you")
			p.Reset(shoal.PartResetData{PartHead: at("a"), Offset: 2}, false)
			delta(p, "a", 2, "y")
		}, "text Hey streaming"},
		"a stored text that is older than the pieces": {newHeld(), func(p *projection) {
			delta(p, "a", 0, "Hello")
			p.Message(shoal.Message{ID: "m", Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Hel", Status: shoal.PartStreaming}}}, "run")
		}, "text Hello streaming"},
		"what is for another member": {newHeld(), func(p *projection) {
			p.Message(shoal.Message{ID: "m", Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Hush", Private: true}}}, "run")
		}, ""},
		"what belongs to an earlier answer": {newHeld(), func(p *projection) {
			p.hidden["m"] = true
			p.Message(shoal.Message{ID: "m", Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Old", Status: shoal.PartDone}, {ID: "d", Type: shoal.DataPart, Name: "x"}}}, "run")
			delta(p, "a", 0, "Old")
			p.EndText(shoal.TextData{PartHead: at("a"), Text: "Old"})
			invoke(p, "c", `{}`)
			output(p, shoal.PartDone, `1`, "")
		}, ""},
		"reasoning": {newHeld(), func(p *projection) {
			p.Delta(shoal.EventReasoningStart, shoal.DeltaData{PartHead: at("r")}, "run")
			p.Delta(shoal.EventReasoningDelta, shoal.DeltaData{PartHead: at("r"), Delta: "Hm."}, "run")
			p.Delta(shoal.EventReasoningEnd, shoal.DeltaData{PartHead: at("r")}, "run")
		}, "reasoning Hm. done"},
		"a call":                    {newHeld(), func(p *projection) { invoke(p, "c", `{"n":1}`); output(p, shoal.PartDone, `{"ok":1}`, "") }, `call {"n":1} output {"ok":1}`},
		"a call without a result":   {newHeld(), func(p *projection) { invoke(p, "c", `{}`); output(p, shoal.PartDone, ``, "") }, `call {} output null`},
		"a call that fails":         {newHeld(), func(p *projection) { invoke(p, "c", `{}`); output(p, shoal.PartError, ``, "no net") }, `call {} error no net`},
		"a call that is canceled":   {newHeld(), func(p *projection) { invoke(p, "c", ``); output(p, shoal.PartCanceled, ``, "") }, `call {} error The call was not executed: canceled.`},
		"a denial that is not ours": {newHeld(), func(p *projection) { invoke(p, "c", `{}`); output(p, shoal.PartDenied, ``, "Denied by bob.") }, `call {} error Denied by bob.`},
		"an approval": {newHeld(), func(p *projection) {
			invoke(p, "c", `{"n":1}`)
			p.offer(action(shoal.PendingPermission, "c", "c"))
			p.offer(action(shoal.PendingPermission, "c", "c"))
		}, `call {"n":1} approval-requested`},
		"an approval that somebody else gives": {newHeld(), func(p *projection) {
			invoke(p, "c", `{"n":1}`)
			p.offer(action(shoal.PendingPermission, "c", "c"))
			output(p, shoal.PartDone, `1`, "")
		}, `call {"n":1} output 1`},
		"a denial of what was asked": {newHeld(), func(p *projection) {
			invoke(p, "c", `{"n":1}`)
			p.offer(action(shoal.PendingPermission, "c", "c"))
			output(p, shoal.PartDenied, ``, "No.")
		}, `call {"n":1} output-denied`},
		"an approval of what no message shows": {newHeld(), func(p *projection) {
			w := action(shoal.PendingPermission, "c", "")
			p.offer(w)
			w.Status, w.Votes = shoal.PendingAnswered, []shoal.PendingVote{{Approved: &yes, Result: json.RawMessage(`{"approved":true}`)}}
			p.Settled(w)
		}, `call {"n":1} output {"approved":true}`},
		"an action that expires": {newHeld(), func(p *projection) {
			w := action(shoal.PendingClientTool, "c", "")
			p.offer(w)
			w.Status = shoal.PendingExpired
			p.Settled(w)
		}, `call {"n":1} error Nobody has answered: expired.`},
		"an action that the client does not know": {newHeld(), func(p *projection) {
			w := action(shoal.PendingClientTool, "c", "")
			w.Status = shoal.PendingExpired
			p.Settled(w)
		}, ``},
		"more steps": {newHeld(), func(p *projection) {
			w := action(shoal.PendingPermission, "", "")
			w.ToolName = ""
			p.offer(w)
		}, `call {"n":1} approval-requested`},
		"a call of the client": {newHeld(), func(p *projection) {
			invoke(p, "c", `{"n":1}`)
			p.offer(action(shoal.PendingClientTool, "c", "c"))
		}, `call {"n":1} asked`},
		"a call that is withdrawn around one that is asked": {newHeld(), func(p *projection) {
			invoke(p, "b", `{"b":1}`)
			p.offer(action(shoal.PendingClientTool, "c", ""))
			invoke(p, "d", `{"d":1}`)
			p.Reset(shoal.PartResetData{PartHead: at("b")}, true)
		}, `call {"n":1} asked|call {"d":1} input-available`},
		"a call that the client was asked for before": {has(uiPart{Type: "tool-pay", ToolCallID: "run/c", State: inputComplete, ProviderExecuted: new(bool), Input: json.RawMessage(`{"n":1}`)}), func(p *projection) {
			p.offer(action(shoal.PendingClientTool, "c", ""))
		}, ``},
		"files and data, once": {newHeld(), func(p *projection) {
			m := shoal.Message{ID: "m", Parts: []shoal.Part{{ID: "f", Type: shoal.FilePart, URL: "https://x/y"}, {ID: "d", Type: shoal.DataPart, Name: "x", Data: json.RawMessage(`1`)}}}
			p.Message(m, "run")
			p.Message(m, "run")
			delta(p, "a", 0, "Hello")
			p.Reset(shoal.PartResetData{PartHead: at("a")}, true)
		}, "file https://x/y|data-x 1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, r := viewOf(c.had), newReducer(t)
			for id, held := range c.had.calls {
				r.parts = append(r.parts, &reduced{kind: "call", id: id, text: string(held.Input)})
			}
			known := len(r.parts)
			c.play(p)
			r.see(p.take())
			r.parts = r.parts[known:]
			if got := r.String(); got != c.want {
				t.Errorf("the client has %q, want %q", got, c.want)
			}
		})
	}
}

// Whatever order things happen in, a client ends with what is stored.
func TestClientsEndWithWhatIsStored(t *testing.T) {
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		p, r := viewOf(newHeld()), newReducer(t)
		stored, order := map[string]string{}, []string{}
		gone := map[string]bool{}
		for range random.IntN(30) {
			name := fmt.Sprintf("p%d", random.IntN(4))
			if gone[name] {
				continue
			}
			now, known := stored[name]
			isCall := name > "p1"
			switch random.IntN(8) {
			case 0:
				if !known {
					continue
				}
				cut := random.IntN(len(now) + 1)
				stored[name] = now[:cut]
				p.Reset(shoal.PartResetData{PartHead: at(name), Offset: cut}, false)
			case 1:
				gone[name] = true
				delete(stored, name)
				p.Reset(shoal.PartResetData{PartHead: at(name)}, true)
			default:
				more := now + fmt.Sprint(random.IntN(1000))
				from := random.IntN(len(now) + 1) // pieces may overlap with what is known
				what := shoal.EventTextDelta
				if isCall {
					what = shoal.EventToolInputDelta
				}
				p.Delta(what, shoal.DeltaData{PartHead: at(name), ToolCallID: name, ToolName: "pay", Offset: from, Delta: more[from:]}, "run")
				if !known {
					order = append(order, name)
				}
				stored[name] = more
			}
			r.see(p.take())
		}
		var want []string
		for _, name := range order {
			text, there := stored[name]
			switch {
			case !there:
			case name > "p1":
				args := fmt.Sprintf(`{"n":%q}`, text)
				p.EndInput(shoal.ToolInputData{PartHead: at(name), ToolCallID: name, ToolName: "pay", Args: json.RawMessage(args)}, "run")
				want = append(want, "call "+args+" input-available")
			default:
				p.EndText(shoal.TextData{PartHead: at(name), Text: text})
				if text != "" {
					want = append(want, "text "+text+" done")
				}
			}
			r.see(p.take())
		}
		p.closeAll()
		r.see(p.take())
		if len(r.text) > 0 {
			t.Fatalf("seed %d: %v stay open", seed, r.text)
		}
		got := strings.Split(r.String(), "|")
		if sorted(got) != sorted(want) {
			t.Fatalf("seed %d: the client has %q, stored is %q", seed, got, want)
		}
	}
}

// sorted writes a list without regard to its order: parts that were begun again are later.
func sorted(list []string) string {
	count := map[string]int{}
	for _, x := range list {
		if x != "" {
			count[x]++
		}
	}
	return fmt.Sprint(count)
}
