package agui

import (
	"context"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

func TestNothingIsStoredTwice(t *testing.T) {
	w := newWorld(agent.Options{}, script.Answer{Text: "One."}, script.Answer{Text: "Two."})
	first := `{"id":"s","role":"system","content":"Count."},{"id":"u1","role":"user","content":"Go"}`
	w.post(t, body(first))
	answer := w.asked[0].Messages
	if len(answer) != 2 {
		t.Fatalf("asked with %+v", answer)
	}
	messages, err := agent.OpenConversation(w.store, "t").Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The client sends what it has: the old messages, an answer of which it says
	// something else, a thought, a sub-agent's words, an answer that nobody gave.
	w.post(t, body(first+`,{"id":"`+messages[2].ID+`","role":"assistant","content":"Five."},
		{"id":"x","role":"reasoning","content":"hm"},{"id":"y","role":"user","content":"no","subagentRunId":"sub"},
		{"id":"z","role":"assistant","content":"No."},{"id":"u2","role":"user","content":"On"}`))
	want := "system Count.|user Go|assistant One.|user On|assistant Two."
	if got := strings.Join(w.history(t, "t"), "|"); got != want {
		t.Errorf("stored is %s; want %s", got, want)
	}
}

func TestUnknownThread(t *testing.T) {
	w := newWorld(agent.Options{}, script.Answer{Text: "Two."})
	w.post(t, body(`{"id":"u1","role":"user","content":"Go"},
		{"id":"a1","role":"assistant","content":"Look:","toolCalls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"pick","arguments":"{}"}}]},
		{"id":"r","role":"tool","toolCallId":"c1","content":"","error":"blind"},
		{"id":"lost","role":"tool","toolCallId":"c9","content":"x"},
		{"id":"a2","role":"assistant","content":""},
		{"id":"u2","role":"user","content":"On"}`))
	want := "user Go|assistant Look: look#c1 pick#c2|tool  c1=blind/failed c2=Error: no result was recorded./interrupted|user On|assistant Two."
	if got := strings.Join(w.history(t, "t"), "|"); got != want {
		t.Errorf("stored is %s; want %s", got, want)
	}
	if n := len(w.asked[0].Messages); n != 4 {
		t.Errorf("the model saw %d messages", n)
	}
}

func TestThreadWithPendingRequests(t *testing.T) {
	pay := agent.Configure(agent.Func("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "paid", nil }),
		func(s *agent.ToolSpec) { s.RequiresPermission = true })
	w := newWorld(agent.Options{Tools: []agent.Tool{pay, agent.AskUser()}},
		script.Answer{Calls: []agent.ToolCall{{ID: "c1", Name: "pay", Arguments: "{}"}, {ID: "c2", Name: "ask_user", Arguments: `{"question":"How?"}`}, {ID: "c3", Name: "pick", Arguments: "{}"}}},
		script.Answer{Text: "Done."}, script.Answer{Text: "More."})
	hi := `{"id":"u1","role":"user","content":"Go"}`
	pick := `"tools":[{"name":"pick","description":""}]`
	_, got := w.post(t, body(hi, pick))
	pending, err := agent.OpenConversation(w.store, "t").Pending(t.Context())
	if err != nil || len(pending) != 3 {
		t.Fatalf("%+v %v\n%s", pending, err, strings.Join(got, "\n"))
	}
	for _, p := range pending[:2] {
		if last := got[len(got)-1]; !strings.Contains(last, `"id":"`+p.ID+`"`) {
			t.Errorf("the run ends with %s", last)
		}
	}
	resume := `"resume":[{"interruptId":"` + pending[0].ID + `","status":"resolved","payload":PAYLOAD},{"interruptId":"` + pending[1].ID + `","status":"resolved","payload":{"answer":"Cash"}}]`
	picked := hi + `,{"id":"r3","role":"tool","toolCallId":"c3","content":"that"}`
	for sent, want := range map[string]string{
		body(hi): "409 conflict: The thread waits for a resume entry for the interrupt " + pending[0].ID + " and a resume entry for the interrupt " + pending[1].ID + " and a tool message for the call c3 of pick; send all of it with the next run.",
		body(hi, strings.Replace(resume, "PAYLOAD", `{"approved":true}`, 1)):                            "409 conflict: The thread waits for a tool message for the call c3 of pick; send all of it with the next run.",
		body(picked, strings.Replace(resume, "PAYLOAD", `{}`, 1)):                                       "400 invalid_argument: body.resume[" + pending[0].ID + "].payload.approved is missing",
		body(picked, strings.Replace(resume, "PAYLOAD", `7`, 1)):                                        "400 invalid_argument: body.resume[" + pending[0].ID + "].payload must be an object as the interrupt's responseSchema says",
		body(picked, strings.Replace(resume, "PAYLOAD", `{"approved":true,"choice":"often"}`, 1)):       "400 invalid_argument: body.resume[" + pending[0].ID + "].payload.choice must be ask, always_allow or always_deny",
		body(picked, strings.Replace(resume, "PAYLOAD", `{"approved":true,"choice":"always_deny"}`, 1)): "400 invalid_argument: body.resume[" + pending[0].ID + "].payload.choice contradicts approved",
	} {
		if status, got := w.post(t, sent); itoa(status)+" "+got[0] != want {
			t.Errorf("%s: %d %s; want %s", sent, status, got, want)
		}
	}
	_, got = w.post(t, body(picked+`,{"id":"u2","role":"user","content":"And?"}`,
		strings.Replace(resume, "PAYLOAD", `{"approved":false,"reason":"too dear"}`, 1), pick))
	want := "user Go|assistant  pay#c1 ask_user#c2 pick#c3|tool  c1=Permission denied. The call was not executed. Reason: too dear/denied c2=Cash/ok c3=that/ok|assistant Done.|user And?|assistant More."
	if h := strings.Join(w.history(t, "t"), "|"); h != want {
		t.Errorf("stored is %s; want %s", h, want)
	}
	told := strings.Join(got, "\n")
	for part, n := range map[string]int{`toolCallId="c1" content="Permission denied. The call was not executed. Reason: too dear"`: 1, `toolCallId="c2" content="Cash"`: 1, `toolCallId="c3" content`: 0, "RUN_STARTED": 1, "RUN_FINISHED": 1, `delta="More."`: 1} {
		if strings.Count(told, part) != n {
			t.Errorf("%s is not there %d times:\n%s", part, n, told)
		}
	}
}

// A process died in the middle of a turn: the next run finishes it before it
// takes what is new.
func TestRecoveryAfterCrash(t *testing.T) {
	w := newWorld(agent.Options{}, script.Answer{Text: "One."}, script.Answer{Text: "Two."})
	begun := agent.Turn{ID: "trn", Attempt: 1, Input: []agent.Message{{ID: "u1", Role: agent.User, Parts: []agent.Part{agent.Text("Go")}}}}
	if err := w.store.Begin(t.Context(), "t", begun); err != nil {
		t.Fatal(err)
	}
	_, got := w.post(t, body(`{"id":"u1","role":"user","content":"Go"},{"id":"u2","role":"user","content":"On"}`))
	want := "user Go|assistant One.|user On|assistant Two."
	if h := strings.Join(w.history(t, "t"), "|"); h != want {
		t.Errorf("stored is %s; want %s\n%s", h, want, strings.Join(got, "\n"))
	}
	if last := got[len(got)-1]; !strings.HasPrefix(last, "RUN_FINISHED") {
		t.Errorf("the run ends with %s", last)
	}
}

// When the unfinished turn fails, the new messages wait for another run.
func TestRecoveryAfterCrashAndFailure(t *testing.T) {
	w := newWorld(agent.Options{}, script.Answer{Err: &agent.ModelError{Class: agent.ClassAuth}}, script.Answer{Text: "Two."})
	if err := w.store.Begin(t.Context(), "t", agent.Turn{ID: "trn", Attempt: 1, Input: []agent.Message{{ID: "u1", Role: agent.User, Parts: []agent.Part{agent.Text("Go")}}}}); err != nil {
		t.Fatal(err)
	}
	sent := body(`{"id":"u1","role":"user","content":"Go"},{"id":"u2","role":"user","content":"On"}`)
	if _, got := w.post(t, sent); !strings.HasPrefix(got[len(got)-1], "RUN_ERROR") {
		t.Errorf("the run ends with %s", got[len(got)-1])
	}
	w.post(t, sent)
	want := "user Go|user On|assistant Two."
	if h := strings.Join(w.history(t, "t"), "|"); h != want {
		t.Errorf("stored is %s; want %s", h, want)
	}
}
