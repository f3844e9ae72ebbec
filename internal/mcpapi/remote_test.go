package mcpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/agentconfig"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// cards are the cards of remote agents here, in JSON.
const cards = `"tools": [{"name": "showOffer", "description": "shows an offer", "displayTool": true,
	"inputSchema": {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]},
	"outputSchema": {"type": "object", "properties": {"choice": {"enum": ["take", "leave"]}}, "required": ["choice"]}}]`

// host makes an agent a remote one.
func (w *world) host(id shoal.EntityID) {
	w.t.Helper()
	c, err := agentconfig.Decode(fmt.Appendf(nil, `{"version": "1.0", "agent": {"id": %q, "name": "Clerk", "instructions": "Be kind."}, "remote": {}, %s}`, id, cards), agentconfig.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	_, _, err = w.hub.Agents.Put(w.t.Context(), adminWho, storage.Agent{
		HostedAgent: shoal.HostedAgent{ID: id, SessionID: shoal.DefaultSession, Hash: c.Hash(), Config: c.Canonical()},
		Name:        c.Agent.Name, OnNewMessage: c.Loop.OnNewMessage, MaxSteps: c.Loop.MaxSteps, Remote: true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// office is a thread of the person ann, the remote agent clerk, and bob.
func office(t *testing.T, change ...func(*world)) *world {
	t.Helper()
	w := newWorld(t, change...)
	w.host("clerk")
	if _, err := w.hub.Entities.Create(t.Context(), adminWho, shoal.DefaultSession, shoal.NewEntity{ID: "ann", Kind: shoal.Human, Name: "Ann"}, ""); err != nil {
		t.Fatal(err)
	}
	w.space("shop", "ann", "bob", "clerk")
	w.space("attic", "ann", "bob")
	return w
}

// work is what begin_message returns.
type work struct {
	Claim, Prompt, Instructions string
	RunID                       shoal.RunID
	ThreadID                    shoal.SpaceID
	Members                     []shoal.Mentionable
	Cards                       []struct{ Name string }
	Written                     []shoal.WrittenText
	Calls                       []shoal.RemoteCall
	Unfinished                  []shoal.RunID
	TimedOut                    bool
}

// begins makes ann mention clerk, which begins its answer.
func (w *world) begins(clerk *agent) (out work) {
	w.t.Helper()
	w.say("ann", "shop", "go", "clerk")
	clerk.do("begin_message", inputs{}).into(w.t, &out)
	if out.TimedOut {
		w.t.Fatal("there is nothing to begin")
	}
	return out
}

// shown lists the messages of clerk in shop as text: each part with its status.
func (w *world) shown() string {
	w.t.Helper()
	all, err := w.hub.Messages.Read(w.t.Context(), adminWho, shoal.DefaultSession, "shop", storage.Page{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for _, m := range all {
		if m.EntityID != "clerk" {
			continue
		}
		line := string(m.Status) + ":"
		for _, p := range m.Parts {
			if p.Type == shoal.TextPart {
				line += " [" + string(p.Status) + " " + p.Text + "]"
			} else {
				line += " [" + string(p.Status) + " " + p.ToolName + string(p.Args) + string(p.Result) + p.Error + "]"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// request waits until a run asks something, and returns that.
func (w *world) request(run shoal.RunID) (out shoal.PendingAction) {
	w.t.Helper()
	w.until("the request of "+string(run), func() bool {
		found, err := w.hub.Pending.List(w.t.Context(), asAnn(), shoal.DefaultSession, storage.PendingFilter{Run: run, Status: []shoal.PendingStatus{shoal.PendingOpen}})
		if err != nil || len(found) > 1 {
			w.t.Fatalf("the open requests are %+v: %v", found, err)
		}
		if len(found) == 1 {
			out = found[0]
		}
		return len(found) == 1
	})
	return out
}

func asAnn() shoal.Principal {
	return shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann"}
}

func (w *world) answers(p shoal.PendingAction, a shoal.PendingAnswer) {
	w.t.Helper()
	if _, err := w.hub.Pending.Answer(w.t.Context(), asAnn(), shoal.DefaultSession, p.ID, a); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) runOf(id shoal.RunID) shoal.Run {
	w.t.Helper()
	r, err := w.hub.Runs.Get(w.t.Context(), adminWho, shoal.DefaultSession, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// later calls a tool that blocks, and returns where its answer comes.
func (a *agent) later(tool string, in inputs) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		got, err := a.try(a.t.Context(), tool, in)
		if err != nil {
			got = answer{IsError: true, Text: err.Error()}
		}
		out <- got
	}()
	return out
}

// An agent that only speaks MCP writes one message that grows, with a card, a question and a permission,
// over every transport.
func TestAnAgentWritesOneMessage(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := office(t)
			clerk := w.join(by, "clerk")
			waiting := clerk.later("begin_message", inputs{"timeoutMs": 60_000})
			w.say("ann", "shop", "Book me a trip", "clerk")
			begun := receive(t, waiting)
			wantText(t, begun, "Claim: run_", "Thread: shop", "You may mention: ann, bob", "Be kind.", "Card: showOffer", "Book me a trip</message>", "append_text")
			var at work
			begun.into(t, &at)
			if at.ThreadID != "shop" || at.TimedOut || len(at.Cards) != 1 || len(at.Members) != 2 || !strings.Contains(at.Prompt, "Book me a trip") {
				t.Fatalf("the work is %+v", at)
			}

			clerk.do("append_text", inputs{"claim": at.Claim, "text": "I look "})
			clerk.do("append_text", inputs{"claim": at.Claim, "text": "for one."})
			w.until("the text while it grows", func() bool { return w.shown() == "streaming: [streaming I look for one.]" })
			clerk.do("show_card", inputs{"claim": at.Claim, "card": "showOffer", "args": inputs{"price": 7}})

			question := clerk.later("ask", inputs{"claim": at.Claim, "question": "Red or blue?", "options": []string{"red", "blue"}})
			asked := w.request(at.RunID)
			if asked.Kind != shoal.PendingQuestion || *asked.Question != "Red or blue?" || len(asked.Options) != 2 {
				t.Errorf("the question is %+v", asked)
			}
			if r := w.runOf(at.RunID); r.Status != shoal.RunWaitingTool {
				t.Errorf("the run that asks is %s", r.Status)
			}
			red := "red"
			w.answers(asked, shoal.PendingAnswer{Answer: &red})
			wantText(t, receive(t, question), `Answer: "red", By: ann`)

			may := clerk.later("ask", inputs{"claim": at.Claim, "question": "Book the trip", "tool": "book", "args": inputs{"to": "Oslo"}})
			permission := w.request(at.RunID)
			if permission.Kind != shoal.PendingPermission || permission.ToolName != "book" || string(permission.Args) != `{"to":"Oslo"}` {
				t.Errorf("the permission is %+v", permission)
			}
			yes := true
			w.answers(permission, shoal.PendingAnswer{Approved: &yes})
			wantText(t, receive(t, may), "Approved, By: ann")

			clerk.do("append_text", inputs{"claim": at.Claim, "text": "Booked.", "mention": "bob"})
			done := clerk.do("finish_message", inputs{"claim": at.Claim})
			wantText(t, done, "is completed")
			again := clerk.do("finish_message", inputs{"claim": at.Claim})
			wantText(t, again, "is completed")
			want := `completed: [done I look for one.] [done showOffer{"price":7}] [done ask_user{}"red"] [done book{"to":"Oslo"}""] [done Booked.]`
			if got := w.shown(); got != want {
				t.Errorf("the thread shows\n%s\nwant\n%s", got, want)
			}
			if r := w.runOf(at.RunID); r.Status != shoal.RunCompleted || r.Steps != 1 {
				t.Errorf("the run is %+v", r)
			}
			wantHeardText(t, w.join(transports[0], "bob").do("wait_for_mentions", inputs{}), "Booked.")
		})
	}
}

func wantHeardText(t *testing.T, a answer, text string) {
	t.Helper()
	var got shoal.WaitResult
	a.into(t, &got)
	if got.TimedOut || !strings.Contains(got.Items[0].Messages[0].Text(), text) {
		t.Errorf("bob heard %s", a.Text)
	}
}

// Nobody is asked twice by a call that is repeated after a time-out, whenever the answer comes, and the
// same question is a new one once its answer was read.
func TestAskIsRepeatable(t *testing.T) {
	w := office(t)
	clerk := w.join(transports[1], "clerk")
	at := w.begins(clerk)
	in := inputs{"claim": at.Claim, "question": "Go on?", "timeoutMs": 0}
	first := clerk.do("ask", in)
	wantText(t, first, "No answer within the timeout period", "not an error", "callId")
	clerk.do("ask", in)
	yes, no := "yes", "no"
	w.answers(w.request(at.RunID), shoal.PendingAnswer{Answer: &yes}) // between two calls
	wantText(t, clerk.do("ask", in), `Answer: "yes"`)
	var got struct{ CallID string }
	first.into(t, &got)
	wantText(t, clerk.do("ask", inputs{"claim": at.Claim, "question": "Go on?", "callId": got.CallID}), `Answer: "yes"`)
	clerk.do("ask", in)
	w.answers(w.request(at.RunID), shoal.PendingAnswer{Answer: &no})
	wantText(t, clerk.do("ask", in), `Answer: "no"`)

	card := inputs{"claim": at.Claim, "card": "showOffer", "args": inputs{"price": 7}, "wait": true, "timeoutMs": 0}
	wantText(t, clerk.do("show_card", card), "No answer within")
	w.answers(w.request(at.RunID), shoal.PendingAnswer{Result: []byte(`{"choice": "take"}`)})
	wantText(t, clerk.do("show_card", card), `Result: {"choice":"take"}`, "By: ann")

	denied := inputs{"claim": at.Claim, "question": "Delete it", "tool": "delete", "timeoutMs": 0}
	clerk.do("ask", denied)
	never, reason := false, "ok, but later"
	w.answers(w.request(at.RunID), shoal.PendingAnswer{Approved: &never, Reason: &reason})
	wantText(t, clerk.do("ask", denied), "Denied: do not do it", `Reason: "ok, but later"`)

	key := inputs{"claim": at.Claim, "text": "Done. ", "idempotencyKey": "k"}
	clerk.do("append_text", key)
	clerk.do("append_text", key)
	clerk.do("finish_message", inputs{"claim": at.Claim})
	if got := w.shown(); strings.Count(got, "Done.") != 1 || strings.Count(got, "ask_user") != 2 || strings.Count(got, "showOffer") != 1 {
		t.Errorf("the thread shows %s", got)
	}
}

// Calls that cannot be accepted say why, and change nothing.
func TestRemoteToolsRefuse(t *testing.T) {
	w := office(t)
	w.host("other")
	clerk := w.join(transports[0], "clerk")
	at := w.begins(clerk)
	long := strings.Repeat("x", shoal.MaxContent+1)
	for _, row := range []struct {
		tool string
		in   inputs
		kind shoal.Kind
		says string
	}{
		{"append_text", inputs{"claim": "none", "text": "x"}, shoal.InvalidArgument, "claim is not a claim"},
		{"append_text", inputs{"claim": "run_none.1", "text": "x"}, shoal.NotFound, "run_none"},
		{"append_text", inputs{"claim": string(at.RunID) + ".99", "text": "x"}, shoal.Conflict, "claim"},
		{"append_text", inputs{"claim": at.Claim, "text": long}, shoal.InvalidArgument, "at most 262144 are allowed"},
		{"append_text", inputs{"claim": at.Claim, "text": "x", "threadId": "attic"}, shoal.InvalidArgument, `text writes into the thread "attic"`},
		{"append_text", inputs{"claim": at.Claim, "text": "x", "threadId": "none"}, shoal.InvalidArgument, `text writes into the thread "none"`},
		{"append_text", inputs{"claim": at.Claim, "text": "x", "mention": "cleo"}, shoal.InvalidArgument, `text mentions "cleo"`},
		{"show_card", inputs{"claim": at.Claim, "card": "showPrice"}, shoal.InvalidArgument, `card "showPrice" is unknown: this agent has the cards [showOffer]`},
		{"show_card", inputs{"claim": at.Claim, "card": "showOffer", "args": inputs{"price": "much"}}, shoal.InvalidArgument, "args do not fit the card showOffer"},
		{"show_card", inputs{"claim": at.Claim, "card": "showOffer", "args": "x"}, shoal.InvalidArgument, "args must be an object"},
		{"ask", inputs{"claim": at.Claim, "question": ""}, shoal.InvalidArgument, "question must have the text"},
		{"ask", inputs{"claim": at.Claim, "question": "x", "args": inputs{}}, shoal.InvalidArgument, "args need tool"},
		{"ask", inputs{"claim": at.Claim, "question": "x", "tool": "y", "options": []string{"a"}}, shoal.InvalidArgument, "options cannot be chosen"},
		{"ask", inputs{"claim": at.Claim, "question": "x", "callId": "a b"}, shoal.InvalidArgument, "callId"},
		{"begin_message", inputs{"runId": "run_none"}, shoal.NotFound, "run_none"},
	} {
		wantFailure(t, clerk.call(row.tool, row.in), row.kind, row.says)
	}
	if got := w.shown(); got != "" {
		t.Errorf("the thread shows %s", got)
	}
	stranger := w.join(transports[0], "other")
	wantFailure(t, stranger.call("append_text", inputs{"claim": at.Claim, "text": "x"}), shoal.NotFound)
	wantFailure(t, stranger.call("ask", inputs{"claim": at.Claim, "question": "x"}), shoal.NotFound)
	wantFailure(t, stranger.call("begin_message", inputs{"runId": string(at.RunID)}), shoal.NotFound)
	wantText(t, stranger.do("begin_message", inputs{"timeoutMs": 0}), "No message to answer")

	clerk.do("append_text", inputs{"claim": at.Claim, "text": "Sorry."})
	wantText(t, clerk.do("finish_message", inputs{"claim": at.Claim, "error": "The shop is closed."}), "is failed")
	for _, tool := range []string{"append_text", "ask"} {
		wantFailure(t, clerk.call(tool, inputs{"claim": at.Claim, "text": "x", "question": "x"}.only(tool)), shoal.Expired, "The run has ended: it is failed")
	}
	wantFailure(t, clerk.call("finish_message", inputs{"claim": at.Claim}), shoal.Expired)
	wantFailure(t, clerk.call("begin_message", inputs{"runId": string(at.RunID)}), shoal.Expired)
}

// only returns the inputs that append_text or ask takes.
func (in inputs) only(tool string) inputs {
	if tool == "ask" {
		delete(in, "text")
	} else {
		delete(in, "question")
	}
	return in
}

// A run that is canceled ends the call that waits for an answer, and refuses the next.
func TestACanceledRunEndsItsAsk(t *testing.T) {
	w := office(t)
	clerk := w.join(transports[0], "clerk")
	at := w.begins(clerk)
	waiting := clerk.later("ask", inputs{"claim": at.Claim, "question": "Go on?", "timeoutMs": 60_000})
	w.request(at.RunID)
	if _, err := w.hub.Runs.Cancel(t.Context(), asAnn(), shoal.DefaultSession, at.RunID); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, receive(t, waiting), shoal.Expired, "it is canceled. Stop working on it")
	wantFailure(t, clerk.call("append_text", inputs{"claim": at.Claim, "text": "x"}), shoal.Expired, "canceled")
	wantFailure(t, clerk.call("finish_message", inputs{"claim": at.Claim}), shoal.Expired, "canceled")
}

// A client that has lost its claim continues with the run: what it has written is named, and the earlier
// claim is refused. So is one whose lease has ended when another has claimed the run.
func TestALostClaim(t *testing.T) {
	w := office(t)
	clerk := w.join(transports[0], "clerk")
	at := w.begins(clerk)
	clerk.do("append_text", inputs{"claim": at.Claim, "text": "Half"})
	clerk.do("ask", inputs{"claim": at.Claim, "question": "Go on?", "callId": "q", "timeoutMs": 0})
	nothing := clerk.do("begin_message", inputs{"timeoutMs": 0})
	wantText(t, nothing, "You have begun and not finished: "+string(at.RunID))

	w.restart() // nothing of it is in memory
	clerk = w.join(transports[0], "clerk")
	var again work
	clerk.do("begin_message", inputs{"runId": string(at.RunID)}).into(t, &again)
	if again.RunID != at.RunID || again.Claim == at.Claim || len(again.Written) != 1 || again.Written[0].Text != "Half" || len(again.Calls) != 1 || again.Calls[0].CallID != "q" {
		t.Errorf("the second claim is %+v", again)
	}
	wantFailure(t, clerk.call("append_text", inputs{"claim": at.Claim, "text": "x"}), shoal.Conflict, "Another program has claimed the run")
	wantFailure(t, clerk.call("ask", inputs{"claim": at.Claim, "question": "x"}), shoal.Conflict)
	yes := "yes"
	w.answers(w.request(at.RunID), shoal.PendingAnswer{Answer: &yes})
	wantText(t, clerk.do("ask", inputs{"claim": again.Claim, "question": "Go on?", "callId": "q"}), `Answer: "yes"`)
	clerk.do("append_text", inputs{"claim": again.Claim, "text": "Whole."})
	clerk.do("finish_message", inputs{"claim": again.Claim})
	if r := w.runOf(at.RunID); r.Status != shoal.RunCompleted {
		t.Errorf("the run is %+v", r)
	}
}

// Without calls the lease ends, and the next begin_message gets the run. Until then the first goes on.
func TestALeaseEnds(t *testing.T) {
	w := office(t, func(w *world) { w.lease = time.Millisecond })
	clerk := w.join(transports[0], "clerk")
	at := w.begins(clerk)
	clerk.do("append_text", inputs{"claim": at.Claim, "text": "First. "})
	var next work
	clerk.do("begin_message", inputs{}).into(t, &next)
	if next.RunID != at.RunID || next.Claim == at.Claim {
		t.Errorf("the next claim is %+v", next)
	}
	wantFailure(t, clerk.call("append_text", inputs{"claim": at.Claim, "text": "x"}), shoal.Conflict, "Another program has claimed the run")
	clerk.do("append_text", inputs{"claim": next.Claim, "text": "Second."})
}

// A client that disconnects while it waits takes no run along, and a revoked key ends its wait.
func TestBeginEndsWithItsCaller(t *testing.T) {
	w := office(t)
	w.keys["clerk"] = w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "clerk", Name: "short"})
	clerk := w.join(transports[0], "clerk")
	waiting := clerk.later("begin_message", inputs{"timeoutMs": 60_000})
	serves := func(want bool) {
		w.until(fmt.Sprintf("a program serves clerk: %v", want), func() bool {
			e, err := w.hub.Entities.Get(t.Context(), adminWho, shoal.DefaultSession, "clerk")
			if err != nil {
				t.Fatal(err)
			}
			return e.Wake != nil && (e.Wake.State == shoal.ReachWakeable) == want
		})
	}
	serves(true)
	w.revoke("short")
	wantFailure(t, receive(t, waiting), shoal.Unauthenticated)
	serves(false)
}
