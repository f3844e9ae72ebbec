package mcpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// asks lets a hosted agent, which nothing executes, wait in the thread "shop".
func (w *world) asks(asked ...storage.Pending) []shoal.PendingID {
	w.t.Helper()
	ctx := w.t.Context()
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	_, _, err := w.hub.Agents.Put(ctx, adminWho, storage.Agent{
		HostedAgent: shoal.HostedAgent{ID: "helper", SessionID: shoal.DefaultSession, Hash: "h", Config: json.RawMessage("{}")},
		Name:        "Helper", OnNewMessage: "parallel", MaxSteps: 5,
	})
	must(err)
	_, err = w.hub.Spaces.Join(ctx, adminWho, shoal.DefaultSession, "shop", "helper")
	must(err)
	w.say("ann", "shop", "help", "helper")
	claimed, err := w.hub.Work.Claim(ctx, "test", 1, time.Hour)
	if must(err); len(claimed) != 1 {
		w.t.Fatalf("claimed are %d runs", len(claimed))
	}
	var ids []shoal.PendingID
	must(w.hub.Work.Write(ctx, runs.Lease{Session: shoal.DefaultSession, Run: claimed[0].ID, Generation: claimed[0].Generation}, func(c *runs.RunChange) error {
		ids = nil
		if err := c.Start(); err != nil {
			return err
		}
		m, err := c.OpenMessage(shoal.Message{ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SpaceID: "shop"}, nil)
		if err != nil {
			return err
		}
		for i, p := range asked {
			space, part := shoal.SpaceID("shop"), shoal.PartID("prt_"+string(rune('1'+i)))
			m.Parts = append(m.Parts, shoal.Part{
				ID: part, Type: shoal.ToolPart, ToolName: p.ToolName, ToolCallID: p.ToolCallID, Args: p.Args, Status: shoal.PartRequiresAction, Target: p.Target,
			})
			p.SpaceID, p.MessageID, p.PartID, p.Request = &space, &m.ID, &part, p.ToolCallID
			id, err := c.OpenPending(p)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		if err := c.SaveMessage(m, nil); err != nil {
			return err
		}
		return c.Suspend()
	}))
	return ids
}

func asking(kind shoal.PendingKind, call string) storage.Pending {
	return storage.Pending{PendingAction: shoal.PendingAction{Kind: kind, ToolCallID: call, ToolName: "showCard", Args: json.RawMessage(`{"name":"<Pro>"}`)}}
}

// An agent lists what waits for it and answers it, whatever it is.
func TestPendingActionsAreAnswered(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	question := "Which\none?"
	ask, permit := asking(shoal.PendingQuestion, "call-3"), asking(shoal.PendingPermission, "call-2")
	permit.Policy.By = []shoal.EntityID{"members"} // agents permit nothing unless they are named
	ask.Question, ask.Options, ask.ToolName = &question, []string{"the <Pro>", "none"}, ""
	ids := w.asks(asking(shoal.PendingClientTool, "call-1"), permit, ask, asking(shoal.PendingClientTool, "call-4"))
	bob := w.join(transports[0], "bob")
	checks := newChecker(bob)

	open := bob.do("list_pending_actions", inputs{})
	checks.check(t, "list_pending_actions", open)
	var list struct{ Items []shoal.PendingAction }
	open.into(t, &list)
	if len(list.Items) != 4 || strings.Count(open.Text, "\n") != 3 {
		t.Fatalf("what waits is %s\n%s", open.Structured, open.Text)
	}
	for _, want := range []string{
		"ID: " + string(ids[0]) + ", Kind: client_tool, Status: open, Agent: helper, Thread: shop, Tool: showCard, Args: " + `{"name":"<Pro>"}`,
		`Question: "Which\none?", Options: "the <Pro>" | "none"`,
	} {
		if !strings.Contains(open.Text, want) {
			t.Errorf("the list does not say %s:\n%s", want, open.Text)
		}
	}
	if text := bob.do("read_thread", inputs{"threadId": "shop"}).Text; !strings.Contains(text, `<tool name="showCard" call="call-1" status="requires_action">`) {
		t.Errorf("the thread is read as %s", text)
	}

	wantFailure(t, bob.call("answer_pending_action", inputs{"id": ids[0]}), shoal.InvalidArgument)
	wantFailure(t, bob.call("answer_pending_action", inputs{"id": ids[0], "approved": true}), shoal.InvalidArgument)
	wantFailure(t, bob.call("answer_pending_action", inputs{"id": "pnd_none", "result": 1}), shoal.NotFound)
	for i, in := range []inputs{
		{"id": ids[0], "result": map[string]any{"clicked": true}},
		{"id": ids[1], "approved": false, "reason": "too dear", "result": nil},
		{"id": ids[2], "answer": "none"},
		{"id": ids[3], "error": "broken"},
	} {
		done := bob.do("answer_pending_action", in)
		checks.check(t, "answer_pending_action", done)
		var settled shoal.PendingAction
		done.into(t, &settled)
		if settled.ID != ids[i] || settled.Status != shoal.PendingAnswered || *settled.AnsweredBy != "bob" || !strings.HasPrefix(done.Text, "Answered: ID: "+string(ids[i])) {
			t.Errorf("%v gives %s\n%s", in, done.Structured, done.Text)
		}
	}
	bob.do("answer_pending_action", inputs{"id": ids[2], "answer": "none"})
	wantFailure(t, bob.call("answer_pending_action", inputs{"id": ids[2], "answer": "the Pro"}), shoal.AlreadyAnswered)
	if text := bob.do("list_pending_actions", inputs{}).Text; text != "Nothing waits for you." {
		t.Errorf("afterwards there waits %s", text)
	}
}

// What is shown to one participant alone is a stub for the others.
func TestPrivatePartsStayPrivate(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob", "cleo")
	hers := asking(shoal.PendingClientTool, "call-1")
	hers.Target = "ann"
	w.asks(hers)
	for id, sees := range map[shoal.EntityID]bool{"ann": true, "bob": false} {
		a := w.join(transports[0], id)
		got := a.do("read_thread", inputs{"threadId": "shop"})
		if strings.Contains(got.Text, "Pro") != sees || strings.Contains(string(got.Structured), "Pro") != sees || strings.Contains(got.Text, `<tool private="true"/>`) == sees {
			t.Errorf("%s reads %s\n%s", id, got.Text, got.Structured)
		}
		if open := a.do("list_pending_actions", inputs{}); strings.Contains(open.Text, "showCard") != sees {
			t.Errorf("for %s there waits %s", id, open.Text)
		}
	}
}
