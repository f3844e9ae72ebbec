package clienttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
)

// parts writes the parts of a message.
func parts(m shoal.Message) string {
	var out []string
	for _, p := range m.Parts {
		out = append(out, strings.TrimSpace(string(p.Status)+" "+p.ToolName+p.Text+string(p.Args)+string(p.Result)))
	}
	return strings.Join(out, "\n")
}

// A program in TypeScript streams a text, shows a card, asks for an approval and a question,
// reports its usage, and completes the run.
func servedAgent(t *testing.T, command []string) {
	for _, approved := range []bool{true, false} {
		s, key := Hosted(t)
		d := drive(t, command, "serve", s.URL, key, "clerk")
		run := ended(t, s, Ask(t, s, "Book me a trip to Oslo"), func(a shoal.PendingAction) shoal.PendingAnswer {
			if a.Kind == shoal.PendingQuestion {
				window := "window"
				return shoal.PendingAnswer{Answer: &window}
			}
			if reason := "too expensive"; !approved {
				return shoal.PendingAnswer{Approved: &approved, Reason: &reason}
			}
			return shoal.PendingAnswer{Approved: &approved}
		})
		want := "done One moment.\ndone TripCard{\"to\":\"Oslo\"}\ndone book{\"to\":\"Oslo\"}\"booked: Oslo\"\ndone ask_user{}\"window\"\ndone booked: Oslo, window."
		if !approved {
			want = strings.NewReplacer("done book{\"to\":\"Oslo\"}\"booked: Oslo\"", "denied book{\"to\":\"Oslo\"}", "done booked: Oslo,", "done DeniedError: too expensive,").Replace(want)
		}
		if got := parts(message(t, s, run.ID)); run.Status != shoal.RunCompleted || got != want {
			t.Errorf("approved %v: the run is %s, shown is\n%s\nwant\n%s", approved, run.Status, got, want)
		}
		if run.Usage.InputTokens != 100 || run.Usage.OutputTokens != 10 || run.Usage.Cost != 0.5 {
			t.Errorf("the usage is %+v", run.Usage)
		}
		_ = d.In.Close()
		d.next(func(l said) bool { return l.Served })
	}
}

// Reports and receipts are cut again and again: every word is stored once, in order.
func servedUnderCuts(t *testing.T, command []string) {
	const cuts = 200
	s, key := Hosted(t)
	p := faultproxy.New(t, "tcp", strings.TrimPrefix(s.URL, "http://"))
	d := drive(t, command, "serve", "http://"+p.Addr(), key, "clerk")
	id := Ask(t, s, "Write a long story")
	written(t, s, id, "größer") // a lost claim would cost its lease
	harm(p, 700)
	failed := 0
	for p.Cuts() < cuts {
		d.next(func(l said) bool { return l.Failed != "" })
		failed++
	}
	p.Heal()
	_ = d.In.Close() // ends the story
	written := d.next(func(l said) bool { return l.Written > 0 }).Written
	run := ended(t, s, id, nil)
	var want strings.Builder
	for i := range written {
		fmt.Fprintf(&want, "%d größer 🐟 ", i)
	}
	if got := message(t, s, id).Text(); run.Status != shoal.RunCompleted || got != want.String() {
		t.Fatalf("the run is %s, its text has %d bytes, want %d", run.Status, len(got), want.Len())
	}
	t.Logf("%d cuts, %d failed calls, text of %d bytes", p.Cuts(), failed, want.Len())
}

// A canceled run ends for its handler at once, and nothing more is shown.
func servedAndCanceled(t *testing.T, command []string) {
	s, key := Hosted(t)
	d := drive(t, command, "serve", s.URL, key, "clerk")
	id := Ask(t, s, "Wait until I cancel")
	written(t, s, id, "Working")
	if _, err := s.Operator.CancelRun(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := d.next(func(l said) bool { return l.Ended != "" }); got.Ended != "run_ended" {
		t.Errorf("the run ended with %q", got.Ended)
	}
	if got := d.next(func(l said) bool { return l.After != "" }); got.After != "run_ended" {
		t.Errorf("a report after the end fails with %q", got.After)
	}
	if got := message(t, s, id).Text(); got != "Working" {
		t.Errorf("shown is %q", got)
	}
}

// A program that stops in order gives its run back, although its line is cut meanwhile: another one goes
// on at once, after what was written.
func servedAndGivenBack(t *testing.T, command []string) {
	s, key := Hosted(t)
	p := faultproxy.New(t, "tcp", strings.TrimPrefix(s.URL, "http://"))
	p.Harm(faultproxy.Fault{Gate: faultproxy.Once(`"released"`)}, faultproxy.Fault{})
	d := drive(t, command, "serve", "http://"+p.Addr(), key, "clerk")
	id := Ask(t, s, "Wait until I cancel")
	written(t, s, id, "Working")
	_ = d.In.Close() // which ends the program
	d.next(func(l said) bool { return l.Served })
	if got := Claim(t, s, key); len(got) != 1 || got[0].Run.ID != id || len(got[0].Written) != 1 || got[0].Written[0].Text != "Working" {
		t.Errorf("the next program gets %+v, want run %s with what it has written", got, id)
	}
	if p.Cuts() != 1 {
		t.Errorf("the line was cut %d times", p.Cuts())
	}
}

// Claim returns the run of clerk that a program can execute now or within ten seconds, which a lease
// outlives: a program that has just disconnected may get it first, and loses it at once.
func Claim(t *testing.T, s *apptest.Server, key string) []shoal.RemoteRun {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/sessions/default/agents/clerk/claim", strings.NewReader(`{"limit": 1, "waitMs": 10000}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got struct{ Items []shoal.RemoteRun }
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got.Items
}

// written waits until the message of a run has a text.
func written(t *testing.T, s *apptest.Server, id shoal.RunID, text string) {
	t.Helper()
	for event, err := range s.Operator.Follow(t.Context(), followRun(id)) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type == shoal.EventTextDelta || strings.Contains(string(event.Data), text) {
			return
		}
	}
}

// What a handler throws fails the run. Members read its message, but not the words of a fault
// of the program.
func servedAndFailed(t *testing.T, command []string) {
	for text, want := range map[string]string{"fail": "no trains to Oslo", "a fault": "The program has a fault."} {
		s, key := Hosted(t)
		drive(t, command, "serve", s.URL, key, "clerk")
		run := ended(t, s, Ask(t, s, text), nil)
		if run.Status != shoal.RunFailed || run.Error == nil || run.Error.Message != want {
			t.Errorf("%s: the run is %s, %+v; want %q", text, run.Status, run.Error, want)
		}
	}
}

// A refused call throws the class of its code.
func refusals(t *testing.T, command []string) {
	s, key := Hosted(t)
	serving := drive(t, command, "serve", s.URL, key, "clerk")
	if _, err := s.Operator.CreateSpace(t.Context(), shoal.NewSpace{ID: "secret", Name: "Secret"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Operator.CreateEntity(t.Context(), shoal.NewEntity{ID: "reader", Kind: shoal.Human}); err != nil {
		t.Fatal(err)
	}
	reader := s.Agent("reader")
	c, err := client.New(client.Options{URL: s.URL, Key: reader})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := c.Session(shoal.DefaultSession).Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("Book me a trip to Oslo")}, Mentions: []shoal.EntityID{"clerk"}})
	if err != nil || len(asked.Runs) != 1 {
		t.Fatalf("%v, %v", asked.Runs, err)
	}
	id := asked.Runs[0].RunID
	var pending shoal.PendingAction
	for event, err := range s.Operator.Follow(t.Context(), followRun(id)) {
		if err != nil {
			t.Fatal(err)
		}
		_ = event
		for a, err := range s.Operator.PendingActions(t.Context(), pendingOf(id)) {
			if err != nil {
				t.Fatal(err)
			}
			pending = a
		}
		if pending.ID != "" {
			break
		}
	}
	d := drive(t, command, "refusals", s.URL, reader, "secret", string(pending.ID))
	got := d.next(func(l said) bool { return l.Refused != nil }).Refused
	want := map[string]string{
		"wrongKey": "[UnauthenticatedError unauthenticated 401]", "wrongKeyStream": "[UnauthenticatedError unauthenticated 401]",
		"strangersSpace": "[NotFoundError not_found 404]", "strangersStream": "[NotFoundError not_found 404]", "strangersMessages": "[NotFoundError not_found 404]",
		"unknownAgent": "[NotFoundError not_found 404]", "tooLarge": "[InvalidError too_large 413]", "invalid": "[InvalidError invalid_argument 422]",
		"first": "[]", "again": "[]", "different": "[ConflictError already_answered 409]",
		"silent": "[UnreachableError unreachable 0]", "unknownPath": "[NotFoundError not_found 404]",
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if line, found := got[name]; !found || fmt.Sprint(line) != want[name] {
			t.Errorf("%s: %v, want %s", name, line, want[name])
		}
	}
	_ = serving.In.Close()
}

// An agent that waits with inbox answers what send waits for.
func inboxAndSend(t *testing.T, command []string) {
	s := apptest.Start(t)
	scout, ann := s.Agent("scout"), s.Agent("ann")
	waiting := drive(t, command, "inbox", s.URL, scout)
	sending := drive(t, command, "send", s.URL, ann, "Hello scout", "scout")
	if got := sending.next(func(l said) bool { return l.From != "" }); got.Asked != "Hello scout" || got.Answer != "I read you." || got.From != "scout" {
		t.Errorf("got %+v", got)
	}
	if got := waiting.next(func(l said) bool { return l.Space != "" }); got.Space != string(app.Welcome) || !slices.Equal(got.Texts, []string{"Hello scout"}) {
		t.Errorf("the inbox had %+v", got)
	}
}

// A member answers a card. The same answer twice changes nothing, another one is refused, and the
// program goes on with the first.
func servedCard(t *testing.T, command []string) {
	s, key := hostedAs(t, `"agent": {}, "remote": {}, "tools": [{"name": "Trip", "displayTool": true, "display": {"customUI": "TripCard"}, "answer": {"by": ["operator"]}, "outputSchema": {"type": "object", "required": ["day"]}}]`)
	drive(t, command, "serve", s.URL, key, "clerk")
	friday := shoal.PendingAnswer{Result: json.RawMessage(`{"day": "Friday"}`)}
	var refused error
	run := ended(t, s, Ask(t, s, "Show me a card"), func(a shoal.PendingAction) shoal.PendingAnswer {
		if _, err := s.Operator.AnswerPending(t.Context(), a.ID, friday); err != nil {
			t.Error(err)
		}
		_, refused = s.Operator.AnswerPending(t.Context(), a.ID, shoal.PendingAnswer{Result: json.RawMessage(`{"day": "Monday"}`)})
		return friday
	})
	want := "done Trip{\"to\":\"Oslo\"}{\"day\":\"Friday\"}\ndone On Friday."
	if got := parts(message(t, s, run.ID)); run.Status != shoal.RunCompleted || got != want || shoal.KindOf(refused) != shoal.AlreadyAnswered {
		t.Errorf("the run is %s, another answer got %v, shown is\n%s\nwant\n%s", run.Status, refused, got, want)
	}
}

// A message that arrives during a run is taken into it.
func servedAndSteered(t *testing.T, command []string) {
	s, key := hostedAs(t, `"agent": {}, "remote": {}, "loop": {"onNewMessage": "steer"}`)
	d := drive(t, command, "serve", s.URL, key, "clerk")
	first := Ask(t, s, "Wait until I steer")
	written(t, s, first, "Waiting")
	second := Ask(t, s, "Now go on")
	run := ended(t, s, first, nil)
	if got := d.next(func(l said) bool { return l.Steered != "" }).Steered; !strings.Contains(got, "Now go on") {
		t.Errorf("the program was offered %q", got)
	}
	if got := parts(message(t, s, first)); run.Status != shoal.RunCompleted || got != "done Waiting\ndone And done." {
		t.Errorf("the run is %s, shown is\n%s", run.Status, got)
	}
	if taken := ended(t, s, second, nil); taken.PartOf == nil || *taken.PartOf != first {
		t.Errorf("the second run is %s and a part of %v, want %s", taken.Status, taken.PartOf, first)
	}
}
