package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// An agent on the official SDKs that only calls tools writes one message with a card, and asks. It
// is killed while it waits for the answer, as is the server; another client of the agent continues the run
// where it was. The SDKs check every result against the schema of its tool.
func TestAnAgentThatOnlyCallsTools(t *testing.T) {
	clients := []client{ts1HTTP, ts2Stdio, ts2Modern, goSession}
	for _, c := range clients[:setting.Repeats(len(clients), 2)] {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			s.rest(t, http.MethodPut, lab+"/agents/clerk", args{
				"version": "1.0", "agent": args{"id": "clerk", "name": "Clerk"}, "remote": args{},
				"tools": []args{{"name": "showOffer", "description": "shows an offer", "displayTool": true}},
			}, nil)
			s.rest(t, http.MethodPut, lab+"/spaces/den/members/clerk", nil, nil)
			key := s.key(t, "default", "clerk")
			clerk := c.connect(t, s.server, "clerk", key)
			var offered []string
			for _, tool := range clerk.hello().Tools {
				offered = append(offered, tool.Name)
			}
			if len(offered) > 0 && !slices.Contains(offered, "begin_message") {
				t.Errorf("clerk is offered %v", offered)
			}
			for _, tool := range c.connect(t, s.server, "bob", s.key(t, "default", "bob")).hello().Tools {
				if tool.Name == "begin_message" {
					t.Error("bob has no configuration, and is offered begin_message")
				}
			}

			waiting := clerk.begin(t, "begin_message", args{"timeoutMs": 60_000})
			asked := s.post(t, s.ann, "den", "Book me a trip", "clerk")
			var work struct {
				Claim, Prompt string
				RunID         shoal.RunID
			}
			if res := succeeded(t, waiting, &work); !strings.Contains(work.Prompt, "Book me a trip") {
				t.Fatalf("the work is %s", res.Structured)
			}
			do(t, clerk, "append_text", args{"claim": work.Claim, "text": "I look for one. "}, nil)
			do(t, clerk, "show_card", args{"claim": work.Claim, "card": "showOffer", "args": args{"price": 7}}, nil)
			clerk.begin(t, "ask", args{"claim": work.Claim, "question": "Book it?", "tool": "book", "args": args{"to": "Oslo"}, "callId": "book-1", "timeoutMs": 60_000})
			action := s.opened(t, work.RunID)

			s.signal(syscall.SIGKILL)
			_, _ = s.end() // it was killed
			s.server = serve(t, s.data)
			clerk = c.connect(t, s.server, "clerk", key)
			var again struct {
				Claim   string
				Written []shoal.WrittenText
				Calls   []shoal.RemoteCall
			}
			do(t, clerk, "begin_message", args{"runId": string(work.RunID)}, &again)
			if len(again.Written) != 1 || again.Written[0].Text != "I look for one. " || len(again.Calls) != 2 {
				t.Errorf("the run continues with %+v", again)
			}
			if text := refused(t, clerk, "append_text", args{"claim": work.Claim, "text": "x"}); !strings.HasPrefix(text, "conflict: Another program has claimed the run") {
				t.Errorf("the earlier claim is refused with %s", text)
			}
			permission := clerk.begin(t, "ask", args{"claim": again.Claim, "question": "Book it?", "tool": "book", "args": args{"to": "Oslo"}, "callId": "book-1", "timeoutMs": 60_000})
			s.restAs(t, s.ann, http.MethodPost, lab+"/pending-actions/"+string(action.ID)+"/answer", args{"approved": true}, nil)
			var got struct{ Answer shoal.Order }
			succeeded(t, permission, &got)
			if got.Answer.Approved == nil || !*got.Answer.Approved || got.Answer.By != "ann" {
				t.Errorf("the answer is %+v", got.Answer)
			}
			do(t, clerk, "append_text", args{"claim": again.Claim, "text": "Booked.", "mention": "ann"}, nil)
			do(t, clerk, "finish_message", args{"claim": again.Claim}, nil)

			runs := s.started(t, asked)
			if len(runs) != 1 || runs[0].ID != work.RunID || runs[0].Status != shoal.RunCompleted || runs[0].Steps != 2 {
				t.Errorf("the runs are %+v", runs)
			}
			var page struct{ Items []shoal.Message }
			s.rest(t, http.MethodGet, lab+"/spaces/den/messages", nil, &page)
			var parts []string
			for _, m := range page.Items {
				if m.RunID != nil && *m.RunID == work.RunID {
					for _, p := range m.Parts {
						parts = append(parts, string(p.Type)+" "+p.ToolName+p.Text)
					}
					parts = append(parts, string(m.Status))
				}
			}
			want := []string{"text I look for one. ", "tool_call showOffer", "tool_call book", "text Booked.", "completed"}
			if !slices.Equal(parts, want) {
				t.Errorf("the thread shows %q, want %q", parts, want)
			}
		})
	}
}

// opened waits until a run asks something.
func (s *stage) opened(t *testing.T, run shoal.RunID) shoal.PendingAction {
	t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var page struct{ Items []shoal.PendingAction }
		s.restAs(t, s.ann, http.MethodGet, lab+"/pending-actions?status=open", nil, &page)
		for _, p := range page.Items {
			if p.RunID == run {
				return p
			}
		}
		select {
		case <-limit:
			t.Fatalf("the run asks nothing within %v", patience)
		case <-tick.C:
		}
	}
}
