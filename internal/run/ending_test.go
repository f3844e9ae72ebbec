package run_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// gatedModel stops before it finishes its answer, or before the first piece of a call with
// some text, until it is let go or its context ends.
type gatedModel struct {
	agent.Model
	before  string
	reached chan struct{} // gets a value when an answer stops
	release chan struct{}
}

func gated(m agent.Model) *gatedModel {
	return &gatedModel{Model: m, reached: make(chan struct{}, 100), release: make(chan struct{})}
}

func (g *gatedModel) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		for c, err := range g.Model.Stream(ctx, req) {
			if c.Kind == agent.ChunkFinish && g.before == "" || g.before != "" && strings.Contains(c.Text, g.before) {
				g.reached <- struct{}{}
				select {
				case <-g.release:
				case <-ctx.Done():
					yield(agent.Chunk{}, context.Cause(ctx))
					return
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func (w *world) cancels(id shoal.RunID) {
	w.t.Helper()
	r, err := w.hub.Runs.Cancel(w.t.Context(), ann, session, id)
	w.must(err)
	if r.Status != shoal.RunCanceled {
		w.t.Errorf("the run is %s, want canceled", r.Status)
	}
}

// A run that is canceled while its model speaks keeps what was said, and says that
// it was cut short.
func TestCancelWhileRunning(t *testing.T) {
	w := newWorld(t)
	model := gated(script.PerTurn(script.Answer{Calls: calls(send("c1", "Let me th")).Calls}, silent))
	w.shopkeeper(model, "")
	id := w.says("Hm?")
	<-model.reached
	w.cancels(id)
	r := w.reaches(id, shoal.RunCanceled)
	if r.Error == nil || r.Error.Code != "canceled" {
		t.Errorf("its error is %+v", r.Error)
	}
	w.shows("shop", "bot canceled | Let me th")
}

// A canceled suspended run closes its message and its requests.
func TestCancelWhileSuspended(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(send("c1", "Pick:"), call("c2", "pick", `{"targetSpaceId":"shop"}`)), silent), cards)
	id := w.says("Hm?")
	w.reaches(id, shoal.RunWaitingTool)
	w.cancels(id)
	w.shows("shop", "bot canceled | Pick: | pick{} canceled !canceled")
	if rows := w.rows(id); rows[0].Status != shoal.PendingCanceled {
		t.Errorf("it still waits for %+v", rows)
	}
	// What it did stays in the conversation of the next run.
	id = w.says("And now?")
	w.reaches(id, shoal.RunWaitingTool)
}

// What a failed attempt of the model has shown is withdrawn.
func TestRetryWithdrawsText(t *testing.T) {
	w := newWorld(t)
	n := 0
	w.shopkeeper(script.Func(func(*agent.Request) script.Answer {
		n++
		switch n {
		case 1:
			a := calls(send("c1", "A wrong start"))
			a.Err = &agent.ModelError{Class: agent.ClassOverloaded, Provider: "script", RetryAfter: 1}
			return a
		case 2:
			return calls(send("c2", "The answer."))
		}
		return silent
	}), "")
	id := w.says("Hm?")
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", "bot completed | The answer.")
	withdrawn := 0
	w.read(func(tx storage.Tx) error {
		events, err := tx.Events(session, storage.EventFilter{Space: "shop"}, 0, 200)
		for _, e := range events {
			if e.Type == shoal.EventPartRemoved {
				withdrawn++
			}
		}
		return err
	})
	if withdrawn != 1 {
		t.Errorf("%d parts were withdrawn, want 1", withdrawn)
	}
}

// The failure of a provider is the run's, in the contract's words, and its messages
// are closed as failed.
func TestProviderFails(t *testing.T) {
	w := newWorld(t)
	n := 0
	w.shopkeeper(script.Func(func(*agent.Request) script.Answer {
		if n++; n == 1 {
			return calls(send("c1", "One moment."))
		}
		return script.Answer{Err: &agent.ModelError{Class: agent.ClassAuth, Provider: "script"}}
	}), "")
	id := w.says("Hm?")
	r := w.reaches(id, shoal.RunFailed)
	if r.Error.Code != "provider_auth" || r.Error.Message == "" {
		t.Errorf("its error is %+v", r.Error)
	}
	w.shows("shop", "bot failed | One moment.",
		"system completed @[ann] | bot could not answer (provider_auth): The model provider refused the key. The operator of the server has to set the key of the model's provider.")
}

// A closed space takes nothing more; the run goes on elsewhere.
func TestClosedSpaceAcceptsNothing(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(
		calls(send("c1", "Pick:"), call("c2", "pick", `{"targetSpaceId":"shop"}`)),
		calls(send("c3", "Too late."), call("c4", "sendSpaceMessage", `{"spaceId":"attic","text":"Up here."}`)),
		silent,
	), cards)
	id := w.says("Hm?")
	w.reaches(id, shoal.RunWaitingTool)
	_, err := w.hub.Spaces.Close(t.Context(), ann, session, "shop", "over")
	w.must(err)
	w.reaches(id, shoal.RunCompleted)
	got := strings.Join(w.timeline("shop"), "\n")
	if !strings.HasPrefix(got, "bot canceled | Pick: | pick{} canceled") || strings.Contains(got, "Too late") {
		t.Errorf("the shop shows\n%s", got)
	}
	w.shows("attic", "bot completed | Up here.")
}

// A mention completes the message and starts the mentioned agent; one of a stranger
// is an error, and nothing is said.
func TestMentions(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(
		calls(
			call("c1", "sendSpaceMessage", `{"spaceId":"attic","text":"Stranger?","mention":"nobody"}`),
			call("c2", "sendSpaceMessage", `{"spaceId":"attic","text":"Please look.","mention":"helper"}`),
			call("c3", "sendSpaceMessage", `{"spaceId":"attic","text":"I wait."}`),
		), silent), "")
	w.must(func() error {
		bot := shoal.EntityID("bot")
		_, err := w.hub.Spaces.Update(t.Context(), ann, session, "attic", shoal.SpaceChange{AdminAgentID: &bot})
		return err
	}())
	w.hosts("helper", script.PerTurn(calls(call("h1", "sendSpaceMessage", `{"spaceId":"attic","text":"I looked."}`)), silent), "")
	w.join("attic", "helper")
	id := w.says("Hm?")
	w.reaches(id, shoal.RunCompleted)
	w.until("both have spoken", func() bool { return strings.Contains(strings.Join(w.timeline("attic"), ""), "helper completed") })
	got := strings.Join(w.timeline("attic"), "\n")
	for _, want := range []string{"bot completed @[helper] | Please look.", "bot completed | I wait.", "helper completed | I looked."} {
		if !strings.Contains(got, want) {
			t.Errorf("the attic shows\n%s\nwithout %s", got, want)
		}
	}
	if told := w.results(id)[0]; !strings.Contains(told, "mention is not a member") {
		t.Errorf("the model received %s", told)
	}
	w.until("helper has ended", func() bool {
		for _, r := range w.runs() {
			if r.AgentID == "helper" {
				return r.Depth == 1 && r.CauseRoot == w.run(id).CauseRoot && r.Status == shoal.RunCompleted
			}
		}
		return false
	})
}

// Runs of one conversation see each other as whole blocks: what had ended when they
// began, and nothing of what runs beside them.
func TestParallelRunsAreBlocks(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	seen := map[string][]string{} // by the text of the trigger
	model := gated(script.Func(func(req *agent.Request) script.Answer {
		var texts []string
		for _, m := range req.Messages {
			if m.Role == agent.Assistant {
				texts = append(texts, m.Text())
			}
		}
		last := req.Messages[len(req.Messages)-1].Text()
		mu.Lock()
		defer mu.Unlock()
		newest := ""
		for _, word := range []string{"first", "second", "third"} {
			if strings.LastIndex(last, word) > strings.LastIndex(last, newest) || newest == "" {
				newest = word
			}
		}
		seen[newest] = texts
		return script.Answer{Text: "to " + newest}
	}))
	w.shopkeeper(model, "")
	one, two := w.says("first"), w.says("second")
	<-model.reached
	<-model.reached
	close(model.release)
	w.reaches(one, shoal.RunCompleted)
	w.reaches(two, shoal.RunCompleted)
	three := w.says("third")
	w.reaches(three, shoal.RunCompleted)
	if len(seen["first"]) != 0 || len(seen["second"]) != 0 {
		t.Errorf("runs saw those beside them: %q", seen)
	}
	if got := strings.Join(seen["third"], ", "); got != "to first, to second" && got != "to second, to first" {
		t.Errorf("the third run saw %q", got)
	}
}

// A run whose store refuses fails as such when the store works again.
func TestStoreFails(t *testing.T) {
	w := newWorld(t)
	model := gated(script.PerTurn(calls(send("c1", "Hello.")), silent))
	w.shopkeeper(model, "")
	id := w.says("Hm?")
	<-model.reached
	w.store.refusesOne(errors.New("the disk is gone"))
	close(model.release)
	r := w.reaches(id, shoal.RunFailed)
	if r.Error.Code != "storage" {
		t.Errorf("its error is %+v", r.Error)
	}
	if got := strings.Join(w.timeline("shop"), ""); strings.Contains(got, "streaming") {
		t.Errorf("the shop shows %s", got)
	}
}

// A space that is closed while the run is under way keeps what was said, and what is
// said later is an error.
func TestSpaceIsClosedWhileRunning(t *testing.T) {
	w := newWorld(t)
	model := gated(script.PerTurn(calls(send("c1", "One.")), calls(call("c2", "getMyRuns", `{}`)), calls(send("c3", "Two.")), silent))
	w.shopkeeper(model, "")
	id := w.says("Hm?")
	<-model.reached
	model.release <- struct{}{}
	<-model.reached
	_, err := w.hub.Spaces.Close(t.Context(), ann, session, "shop", "over")
	w.must(err)
	close(model.release)
	w.reaches(id, shoal.RunCompleted)
	if got := w.timeline("shop")[0]; got != "bot completed | One." {
		t.Errorf("the shop shows %s", got)
	}
	if got := w.results(id)[2]; !strings.HasPrefix(got, "sendSpaceMessage failed: Error: this space is closed") {
		t.Errorf("the model received %s", got)
	}
}
