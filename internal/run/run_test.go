package run_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// What the model sends appears as one message, part by part; what it only says
// appears nowhere.
func TestTextInOrder(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(
		script.Answer{Text: "Let me see.", Calls: calls(send("c1", "Here are two:"), call("c2", "getMyRuns", `{}`), send("c3", "a lamp.")).Calls},
		calls(send("c4", "And a chair.")),
		silent,
	), "")
	id := w.says("What do you have?")
	r := w.reaches(id, shoal.RunCompleted)
	w.shows("shop", "bot completed | Here are two: | a lamp. | And a chair.")
	if r.Steps != 3 || r.Usage.OutputTokens == 0 || r.StartedAt == nil || r.EndedAt == nil || r.Began == 0 || r.Ended <= r.Began {
		t.Errorf("the run ends as %+v", r)
	}
	var steps []shoal.EventType
	w.read(func(tx storage.Tx) error {
		events, err := tx.Events(session, storage.EventFilter{Run: id}, 0, 200)
		for _, e := range events {
			if strings.HasPrefix(string(e.Type), "step.") {
				steps = append(steps, e.Type)
			}
		}
		return err
	})
	if got := fmt.Sprint(steps); got != "[step.started step.completed step.started step.completed step.started step.completed]" {
		t.Errorf("the run's followers hear %s", got)
	}
	if got := w.results(id); len(got) != 4 || !strings.Contains(got[0], `"sent":true`) {
		t.Errorf("the model received %q", got)
	}
}

const cards = `"tools":[
	{"name":"lamp","displayTool":true,"display":{"customUI":"Lamp"},"execution":{"mode":"static","output":{"price":5}},"inputSchema":{"type":"object","properties":{"size":{"type":"number"}}}},
	{"name":"pick","displayTool":true,"execution":{"mode":"no-execution"},"outputSchema":{"type":"object","required":["chosen"]}},
	{"name":"ask","execution":{"mode":"no-execution"}},
	{"name":"danger","requiresPermission":true,"displayTool":true,"execution":{"mode":"static","output":{"done":1}}},
	{"name":"rest","executionType":"waiting","execution":{"duration":30}}]`

// A display tool appears in the space that the call names, without the fields that
// name it; one that names a space of strangers is an error and appears nowhere.
func TestDisplayToolUsesItsTarget(t *testing.T) {
	w := newWorld(t)
	w.space("secret")
	w.shopkeeper(script.PerTurn(
		calls(call("c1", "lamp", `{"targetSpaceId":"attic","size":2}`), call("c2", "lamp", `{"size":3}`), call("c3", "lamp", `{"targetSpaceId":"secret"}`), send("c4", "See the attic.")),
		silent,
	), cards)
	id := w.says("Show me.")
	w.reaches(id, shoal.RunCompleted)
	w.shows("attic", `bot completed | lamp{"size":2} done {"price":5,"success":true}`)
	w.shows("shop", "bot completed | See the attic.")
	w.shows("secret")
	if got := w.results(id); !strings.HasPrefix(got[2], "lamp failed: Error: you are not a member") {
		t.Errorf("the model received %q", got)
	}
}

// A client's tool suspends the run; an answer to one of two calls keeps it suspended, and
// the other lets it go on, with both results and without asking the model again.
func TestClientToolsAnswered(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(
		calls(call("c1", "pick", `{"targetSpaceId":"shop"}`), call("c2", "lamp", `{}`), call("c3", "pick", `{"targetSpaceId":"shop"}`)),
		calls(send("c4", "Thanks.")),
		silent,
	), cards)
	id := w.says("Let me pick.")
	if r := w.reaches(id, shoal.RunWaitingTool); r.Steps != 1 || r.Usage.OutputTokens == 0 {
		t.Errorf("it waits after %d steps with the usage %+v", r.Steps, r.Usage)
	}
	w.shows("shop", `bot streaming | pick{} requires_action | pick{} requires_action`)
	w.answers(id, "c3", `{"result":{"chosen":2}}`)
	w.until("the first answer is in", func() bool { return strings.Contains(strings.Join(w.timeline("shop"), ""), `{"chosen":2}`) })
	w.reaches(id, shoal.RunWaitingTool)
	w.shows("shop", `bot streaming | pick{} requires_action | pick{} done {"chosen":2} by ann`)
	w.answers(id, "c1", `{"error":"I cannot"}`)
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", `bot completed | pick{} error !I cannot by ann | pick{} done {"chosen":2} by ann | Thanks.`)
	var rows []shoal.UsageRow
	w.read(func(tx storage.Tx) (err error) {
		rows, err = tx.Usage(session, storage.UsageQuery{By: []string{"run"}})
		return err
	})
	if r := w.run(id); len(rows) != 1 || rows[0].InputTokens != r.Usage.InputTokens || rows[0].Calls != int64(r.Steps) {
		t.Errorf("the run used %+v, of which %+v is kept", r.Usage, rows)
	}
	want := []string{"pick failed: I cannot", `lamp ok: {"price":5,"success":true}`, `pick ok: {"chosen":2}`}
	if got := w.results(id); strings.Join(got[:3], "\n") != strings.Join(want, "\n") {
		t.Errorf("the model received %q", got)
	}
}

// A permission is asked in the call's part; its answer decides.
func TestPermission(t *testing.T) {
	for answer, want := range map[string]string{
		`{"approved":true}`:                 `bot completed | danger{} done {"done":1,"success":true} by ann`,
		`{"approved":false,"reason":"no."}`: `bot completed | danger{} denied !Permission denied by ann. The call was not executed. Reason: no. by ann`,
	} {
		t.Run(answer, func(t *testing.T) {
			w := newWorld(t)
			w.shopkeeper(script.PerTurn(calls(call("c1", "danger", `{"targetSpaceId":"shop"}`)), silent), cards)
			id := w.says("Do it.")
			w.reaches(id, shoal.RunWaitingTool)
			w.shows("shop", `bot streaming | danger{} requires_action`)
			w.answers(id, "c1", answer)
			w.reaches(id, shoal.RunCompleted)
			w.shows("shop", want)
		})
	}
}

// A message that waits for a reply is complete at once, and the reply is the call's
// result; it starts no run of the agent that waited.
func TestWaitForReply(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(
		calls(call("c1", "sendSpaceMessage", `{"spaceId":"shop","text":"Which?","wait":{"for":[{"type":"human"}],"timeout":100}}`)),
		calls(send("c2", "Good.")),
		silent,
	), "")
	id := w.says("Lamp?")
	w.reaches(id, shoal.RunWaitingReply)
	w.shows("shop", "bot completed | Which?")
	_, err := w.hub.Messages.Post(t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("The red one.")}}, "")
	w.must(err)
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", "bot completed | Which?", "bot completed | Good.")
	if got := w.results(id)[0]; !strings.Contains(got, `"timedOut":false`) || !strings.Contains(got, `"text":"The red one."`) {
		t.Errorf("the model received %s", got)
	}
	if n := len(w.runs()); n != 1 {
		t.Errorf("%d runs, want that which waited alone", n)
	}
}

func TestWaitForReplyTimesOut(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(
		calls(call("c1", "sendSpaceMessage", `{"spaceId":"shop","text":"Anybody?","wait":{"for":[{"type":"any"}],"timeout":1}}`)), silent), "")
	id := w.says("Lamp?")
	w.reaches(id, shoal.RunCompleted)
	if got := w.results(id)[0]; !strings.Contains(got, `"timedOut":true`) || !strings.Contains(got, `"reply":null`) {
		t.Errorf("the model received %s", got)
	}
}

// A wait for the time parks the run, which nobody has to answer.
func TestClockTool(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "rest", `{}`)), silent), cards)
	id := w.says("Rest.")
	w.reaches(id, shoal.RunCompleted)
	rows := w.rows(id)
	if len(rows) != 1 || rows[0].Kind != "timer" {
		t.Fatalf("it waited for %+v", rows)
	}
	if got := w.results(id)[0]; !strings.Contains(got, `"waited":30`) {
		t.Errorf("the model received %s", got)
	}
}
