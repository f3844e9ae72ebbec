package run_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/history"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A conversation that is cleared is not what later runs begin with, and it is not
// cleared from under a run that is under way.
func TestClearedConversation(t *testing.T) {
	w := newWorld(t)
	var sent []string
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		text, err := json.Marshal(req.Messages)
		if err != nil {
			t.Error(err)
		}
		sent = append(sent, string(text))
		if strings.Contains(req.Messages[len(req.Messages)-1].Text(), "Wait") {
			return calls(call("c", "choose", `{}`))
		}
		return silent
	}), `"tools":[{"name":"choose","description":"Choose.","executionType":"basic","inputSchema":{"type":"object"}}]`)
	clearIt := func() error { return w.hub.Agents.ClearConversation(t.Context(), admin, session, "bot", "shop") }
	if err := clearIt(); !errors.Is(err, shoal.NotFound) {
		t.Errorf("before there is one: %v", err)
	}

	first := w.says("The code is 4711.")
	w.reaches(first, shoal.RunCompleted)
	second := w.says("What is the code?")
	w.reaches(second, shoal.RunCompleted)
	page, err := w.hub.Agents.ReadConversation(t.Context(), admin, session, "bot", "shop", 0, 1)
	w.must(err)
	runs, err := history.Public(page.Conversation, page.Blocks)
	w.must(err)
	if len(runs) != 1 || runs[0].RunID != second || runs[0].EndedAt == nil || page.Before == 0 || len(runs[0].Messages) != 2 ||
		runs[0].Messages[0].Role != "user" || !strings.Contains(runs[0].Messages[0].Content[0].Text, "What is the code?") ||
		runs[0].Messages[1].Role != "assistant" || runs[0].Messages[1].Content[0].Text != "Done." {
		t.Fatalf("the newest run is read as %+v", runs)
	}
	page, err = w.hub.Agents.ReadConversation(t.Context(), admin, session, "bot", "shop", page.Before, 1)
	w.must(err)
	if len(page.Blocks) != 1 || page.Blocks[0].Run != first || page.Before != 0 {
		t.Errorf("the one before is read as %+v", page)
	}
	if len(sent) != 2 || !strings.Contains(sent[1], "4711") {
		t.Fatalf("the second run was sent %q", sent)
	}

	w.must(clearIt())
	if err := clearIt(); !errors.Is(err, shoal.NotFound) {
		t.Errorf("once more: %v", err)
	}
	third := w.says("Wait for me.")
	w.reaches(third, shoal.RunWaitingTool)
	if len(sent) != 3 || strings.Contains(sent[2], "4711") {
		t.Errorf("after it was cleared, a run was sent %s", sent[2])
	}
	if err := clearIt(); !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), string(third)) {
		t.Errorf("while a run waits: %v", err)
	}
	w.answers(third, "c", `{"result": 1}`)
	w.reaches(third, shoal.RunCompleted)
	page, err = w.hub.Agents.ReadConversation(t.Context(), admin, session, "bot", "shop", 0, 9)
	w.must(err)
	if len(page.Blocks) != 1 || page.Blocks[0].Run != third {
		t.Errorf("after it was cleared, it is %+v", page.Blocks)
	}
	w.read(func(tx storage.Tx) error {
		steps, err := tx.RunSteps(session, first)
		if len(steps) != 1 {
			t.Errorf("of the first run %d steps are left", len(steps))
		}
		return err
	})
}
