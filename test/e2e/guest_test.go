package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// guests are the clients that meet hosted agents.
var guests = []client{ts2Modern, ts2Session, goModern}

// guest connects scout, a member of the den.
func (s *stage) guest(t *testing.T, c client) agent {
	t.Helper()
	key := s.key(t, "default", "scout")
	s.rest(t, http.MethodPut, lab+"/spaces/den/members/scout", nil, nil)
	return c.connect(t, s.server, "scout", key)
}

func eachGuest(t *testing.T, do func(t *testing.T, s *stage, scout agent)) {
	t.Parallel()
	for _, c := range guests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.host(t, "oracle", "puppet", args{"tools": []any{
				args{"name": "choose", "displayTool": true, "inputSchema": object(`"of":{"type":"string"}`)},
				args{
					"name": "pay", "displayTool": true, "requiresPermission": true, "answer": args{"by": []string{"humans", "agents"}}, "execution": args{"mode": "pass-through"},
					"inputSchema": object(`"eur":{"type":"number"}`),
				},
			}}, "den")
			do(t, s, s.guest(t, c))
		})
	}
}

// A connected agent mentions a hosted one and blocks until it answers, with either
// wait tool.
func TestGuestAsksHostedAgent(t *testing.T) {
	eachGuest(t, func(t *testing.T, s *stage, scout agent) {
		mention := say("den", "It is 42 < 43.")
		mention.Args["mention"] = "scout"
		do(t, scout, "send_message", args{"threadId": "den", "content": orders(t, []act{mention}), "mentions": []string{"oracle"}}, nil)
		var heard shoal.WaitResult
		res := do(t, scout, "wait_for_mentions", args{"timeoutMs": 30000}, &heard)
		if len(heard.Items) != 1 || len(heard.Items[0].Messages) != 1 {
			t.Fatalf("the guest hears %+v", heard)
		}
		m := heard.Items[0].Messages[0]
		if m.EntityID != "oracle" || m.Text() != "It is 42 < 43." || m.Status != shoal.MessageCompleted || m.RunID == nil || m.Reason != "mention" {
			t.Errorf("the guest hears %+v", m)
		}
		if !contains(res.Text, `<content>It is 42 &lt; 43.</content>`, `<sender id="oracle"`) {
			t.Errorf("as text it is %s", res.Text)
		}
		cursor := heard.Cursor

		// Without a mention, only participants that wait for any message are woken.
		do(t, scout, "send_message", args{"threadId": "den", "content": orders(t, []act{say("den", "Still 42.")}), "mentions": []string{"oracle"}}, nil)
		heard = shoal.WaitResult{}
		do(t, scout, "wait_for_messages", args{"timeoutMs": 30000, "from": []string{"oracle"}, "ack": cursor}, &heard)
		if len(heard.Items) != 1 || heard.Items[0].Messages[0].Text() != "Still 42." {
			t.Errorf("the guest hears %+v", heard)
		}
		heard = shoal.WaitResult{}
		do(t, scout, "wait_for_mentions", args{"timeoutMs": 0}, &heard)
		if !heard.TimedOut {
			t.Errorf("the guest is mentioned by %+v", heard)
		}
	})
}

// A hosted agent waits for a connected one: the reply ends the wait, starts no run,
// and the run goes on with its text.
func TestHostedAgentWaitsForGuest(t *testing.T) {
	eachGuest(t, func(t *testing.T, s *stage, scout agent) {
		ask := say("den", "Which colour, scout?")
		ask.Args["mention"], ask.Args["wait"] = "scout", args{"for": []args{{"type": "entity", "entityId": "scout"}}, "timeout": 60}
		run := s.instruct(t, "oracle", []act{ask}, []act{say("den", "So it is {{0.reply.text}}, says {{0.reply.entityId}}.")})
		var heard shoal.WaitResult
		do(t, scout, "wait_for_mentions", args{"timeoutMs": 30000}, &heard)
		if len(heard.Items) != 1 || heard.Items[0].Messages[0].Text() != "Which colour, scout?" {
			t.Fatalf("the guest hears %+v", heard)
		}
		s.run(t, lab+"/runs/"+string(run.ID), shoal.RunWaitingReply)
		s.post(t, s.bob, "den", "Red!", "scout") // not the sender that it waits for
		do(t, scout, "send_message", args{"threadId": "den", "content": `blue "& green"`, "mentions": []string{"oracle"}}, nil)
		if ended := s.ends(t, run); ended.Status != shoal.RunCompleted || ended.Steps != 3 {
			t.Errorf("the run is %+v", ended)
		}
		want := "text done Which colour, scout?|text done So it is blue \"& green\", says scout."
		if got := strings.Join(s.by(t, "oracle"), "|"); got != want {
			t.Errorf("the den reads %s, want %s", got, want)
		}
		var page struct{ Items []shoal.Run }
		s.rest(t, http.MethodGet, lab+"/runs?agent=oracle", nil, &page)
		if len(page.Items) != 1 {
			t.Errorf("the reply started %d more runs", len(page.Items)-1)
		}
	})
}

// Connected agents answer requests of hosted ones: the first answer wins, and entities
// outside of the space see nothing.
func TestGuestAnswersPendingActions(t *testing.T) {
	eachGuest(t, func(t *testing.T, s *stage, scout agent) {
		stranger := goModern.connect(t, s.server, "stranger", s.key(t, "default", "stranger"))
		choose := act{Name: "choose", ID: "call_choose", Args: args{"targetSpaceId": "den", "of": "<a> & b"}}
		pay := act{Name: "pay", ID: "call_pay", Args: args{"targetSpaceId": "den", "eur": 5}}
		run := s.instruct(t, "oracle", []act{choose}, []act{pay}, []act{say("den", "Chosen: {{0}}")})
		at := lab + "/runs/" + string(run.ID)
		s.run(t, at, shoal.RunWaitingTool)

		// In the middle, read_thread shows the call that waits.
		thread := do(t, scout, "read_thread", args{"threadId": "den"}, nil)
		if !contains(thread.Text, `status="streaming"`, `<tool name="choose" call="call_choose" status="requires_action">`, `<args>{"of":"&lt;a&gt; &amp; b"}</args>`) {
			t.Errorf("in the middle the thread is %s", thread.Text)
		}

		waiting := func() shoal.PendingAction {
			t.Helper()
			var page struct{ Items []shoal.PendingAction }
			res := do(t, scout, "list_pending_actions", args{}, &page)
			if len(page.Items) != 1 || !strings.Contains(res.Text, string(page.Items[0].ID)) {
				t.Fatalf("what waits is %+v: %s", page.Items, res.Text)
			}
			return page.Items[0]
		}
		p := waiting()
		var asked struct{ Of string }
		if err := json.Unmarshal(p.Args, &asked); err != nil || asked.Of != "<a> & b" ||
			p.Kind != shoal.PendingClientTool || p.ToolName != "choose" || p.RunID != run.ID || *p.SpaceID != "den" {
			t.Errorf("what waits is %+v: %v", p, err)
		}
		var none struct{ Items []json.RawMessage }
		if do(t, stranger, "list_pending_actions", args{}, &none); len(none.Items) != 0 {
			t.Errorf("a stranger sees %s", none.Items)
		}
		answer := func(result any) args { return args{"id": p.ID, "result": result} }
		if said := refused(t, stranger, "answer_pending_action", answer("mine")); !strings.HasPrefix(said, "not_found: ") {
			t.Errorf("a stranger receives %s", said)
		}
		if said := refused(t, scout, "answer_pending_action", args{"id": p.ID, "approved": true}); !strings.HasPrefix(said, "invalid_argument: ") {
			t.Errorf("an answer of the wrong kind receives %s", said)
		}
		var settled shoal.PendingAction
		do(t, scout, "answer_pending_action", answer(args{"chosen": "b"}), &settled)
		if settled.Status != shoal.PendingAnswered || settled.AnsweredBy == nil || *settled.AnsweredBy != "scout" {
			t.Errorf("it is settled as %+v", settled)
		}
		do(t, scout, "answer_pending_action", answer(args{"chosen": "b"}), nil) // the same again
		if said := refused(t, scout, "answer_pending_action", answer(args{"chosen": "a"})); !strings.HasPrefix(said, "already_answered: ") {
			t.Errorf("the second answer receives %s", said)
		}

		// A permission.
		s.untilPending(t, "pay")
		p = waiting()
		if p.Kind != shoal.PendingPermission {
			t.Fatalf("what waits is %+v", p)
		}
		do(t, scout, "answer_pending_action", args{"id": p.ID, "approved": false, "reason": "too much"}, nil)
		if said := refused(t, scout, "answer_pending_action", args{"id": p.ID, "approved": true}); !strings.HasPrefix(said, "already_answered: ") {
			t.Errorf("the second answer receives %s", said)
		}
		if ended := s.ends(t, run); ended.Status != shoal.RunCompleted {
			t.Fatalf("the run is %+v", ended)
		}
		thread = do(t, scout, "read_thread", args{"threadId": "den"}, nil)
		if !contains(thread.Text, `<tool name="choose" call="call_choose" status="done">`, `<result>{"chosen":"b"}</result>`,
			`<tool name="pay" call="call_pay" status="denied">`, `too much`, `<content>Chosen: {"chosen":"b"}</content>`) ||
			strings.Contains(thread.Text, `status="streaming"`) {
			t.Errorf("at the end the thread is %s", thread.Text)
		}
	})
}

// untilPending returns when ann is asked about a tool.
func (s *stage) untilPending(t *testing.T, tool string) shoal.PendingAction {
	t.Helper()
	events, stop := s.follow(t, s.ann, lab+"/spaces/den/events", "")
	defer stop()
	look := func() *shoal.PendingAction {
		var page struct{ Items []shoal.PendingAction }
		s.restAs(t, s.ann, http.MethodGet, lab+"/pending-actions", nil, &page)
		for _, p := range page.Items {
			if p.ToolName == tool {
				return &p
			}
		}
		return nil
	}
	next(t, events, shoal.EventSnapshot, nil)
	for {
		if p := look(); p != nil {
			return *p
		}
		next(t, events, shoal.EventPendingOpened, nil)
	}
}
