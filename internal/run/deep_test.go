package run_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A model that writes brackets without end makes nothing unreadable: neither the
// run's steps nor the space.
func TestDeepArguments(t *testing.T) {
	deep := strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999)
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(
		calls(call("c1", "getMyRuns", `{"status":`+deep+`}`), call("c2", "card", `{"targetSpaceId":"shop","name":`+deep+`}`), send("c3", "Sorry.")), silent,
	), `"tools":[{"name":"card","displayTool":true,"execution":{"mode":"static","output":{"done":1}}}]`)
	id := w.says("Hello")
	w.reaches(id, shoal.RunCompleted)
	steps, err := w.hub.Runs.Steps(t.Context(), admin, session, id)
	w.must(err)
	if got := string(steps[0].ToolCalls[0].Args); got != "{}" {
		t.Errorf("the step shows the arguments %.40s…", got)
	}
	_, err = w.hub.Messages.Read(t.Context(), ann, session, "shop", storage.Page{Limit: 10})
	w.must(err)
}

// A question that holds a character that not every database bears is asked without
// it.
func TestQuestionOfAnyCharacters(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "ask_user", `{"question":"Which\u0000 one?"}`)), silent), "")
	id := w.says("Hello")
	w.reaches(id, shoal.RunWaitingTool)
	open, err := w.hub.Pending.List(t.Context(), ann, session, storage.PendingFilter{Status: []shoal.PendingStatus{shoal.PendingOpen}})
	w.must(err)
	if len(open) != 1 || *open[0].Question != "Which\uFFFD one?" {
		t.Errorf("what waits is %+v", open)
	}
}
