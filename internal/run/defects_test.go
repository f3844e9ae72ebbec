package run_test

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/run"
)

// Defects of earlier systems that only a whole executor can have; docs/defects.md
// names the test of each. Most of them are scenarios in testdata/scenarios.

// D14: the whole argument string was parsed, stored and sent again for each delta.
// Here what readers are sent is as long as what the model wrote, and the number of
// changes that are stored does not grow with the number of deltas.
func TestD14LongArgumentsAreSentOnce(t *testing.T) {
	changes := map[int]int64{}
	for _, words := range []int{500, 8000} {
		w := newWorld(t)
		text := strings.TrimSpace(strings.Repeat("A lamp. ", words))
		w.shopkeeper(script.PerTurn(
			calls(send("c1", text), call("c2", "card", `{"targetSpaceId":"shop","about":"`+text+`"}`)), silent),
			`"tools":[{"name":"card","displayTool":true,"execution":{"mode":"static","output":{}},"inputSchema":{"type":"object","properties":{"about":{"type":"string"}}}}]`)
		f, err := w.hub.Events.Follow(t.Context(), ann, feed.FollowRequest{Session: session, Space: "shop"})
		w.must(err)
		defer f.Close()
		before := w.store.updates.Load()
		began := time.Now()
		id := w.says("Describe it.")
		sent, stored := 0, map[shoal.PartID]int{}
		for ended := false; !ended; {
			events, err := f.Next(t.Context(), time.Now().Add(20*time.Second))
			w.must(err)
			for _, e := range events {
				var data struct {
					shoal.PartHead
					Delta string
					Run   shoal.Run
				}
				w.must(json.Unmarshal(e.Data, &data))
				sent += len(data.Delta)
				stored[data.PartID] += len(data.Delta)
				ended = ended || data.Run.ID == id && data.Run.Status.Ended()
			}
		}
		if want := len(text) + len(`{"about":""}`) + len(text); sent != want {
			t.Errorf("%d bytes were sent for the %d bytes of %d parts", sent, want, len(stored)-1)
		}
		// Drafts are stored by time, not by delta.
		changes[words] = w.store.updates.Load() - before - int64(time.Since(began)/(100*time.Millisecond))
	}
	if changes[8000] > changes[500]+20 {
		t.Errorf("sixteen times the deltas took %d changes of the store instead of %d", changes[8000], changes[500])
	}
}

// D20: results were read, changed and written without a claim, so that a run could
// go on twice. Here, with answers at the same moment, one answer counts, and the
// model is asked once more, also with two servers.
func TestD20OneAnswerResumesOnce(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int64
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		if asked.Add(1); req.Messages[len(req.Messages)-1].Role == agent.User {
			return calls(call("c1", "pick", `{"targetSpaceId":"shop"}`))
		}
		return silent
	}), cards)
	other, err := run.New(run.Options{Hub: w.hub, Models: w.model})
	w.must(err)
	w.must(other.Start(t.Context()))
	defer other.Stop()
	id := w.says("Let me pick.")
	w.reaches(id, shoal.RunWaitingTool)
	row := w.rows(id)[0]
	var all sync.WaitGroup
	var won, late atomic.Int64
	for i := range 20 {
		answer := shoal.PendingAnswer{Result: json.RawMessage(`{"chosen":` + string(rune('0'+i%10)) + `,"by":` + string(rune('0'+i/10)) + `}`)}
		all.Go(func() {
			switch _, err := w.hub.Pending.Answer(t.Context(), ann, session, row.ID, answer); shoal.KindOf(err) {
			case "":
				won.Add(1)
			case shoal.AlreadyAnswered:
				late.Add(1)
			default:
				t.Errorf("an answer is refused with %v", err)
			}
		})
	}
	all.Wait()
	w.reaches(id, shoal.RunCompleted)
	if won.Load() != 1 || late.Load() != 19 {
		t.Errorf("%d answers counted and %d came too late, want 1 and 19", won.Load(), late.Load())
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the model was asked %d times, want once before and once after the answer", n)
	}
}
