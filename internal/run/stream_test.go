package run_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/feed"
)

// received is what a follower of a space received.
type received struct {
	types []shoal.EventType // in order, deltas of a part as one
	parts map[shoal.PartID]string
	final map[shoal.PartID]string
}

// follows hears what happens in a space until a run has ended.
func (w *world) follows(f *feed.Follower, ended shoal.RunID) received {
	w.t.Helper()
	out := received{parts: map[shoal.PartID]string{}, final: map[shoal.PartID]string{}}
	for {
		events, err := f.Next(w.t.Context(), time.Now().Add(20*time.Second))
		w.must(err)
		if len(events) == 0 {
			w.t.Fatalf("no event follows after %v", out.types)
		}
		for _, e := range events {
			if e.Type == shoal.EventEntityUpdated {
				continue // it comes when it comes
			}
			if n := len(out.types); n == 0 || out.types[n-1] != e.Type || !strings.HasSuffix(string(e.Type), "-delta") {
				out.types = append(out.types, e.Type)
			}
			out.take(w, e)
			var data shoal.RunData
			w.must(json.Unmarshal(e.Data, &data))
			if data.Run.ID == ended && data.Run.Status.Ended() {
				return out
			}
		}
	}
}

func (o *received) take(w *world, e shoal.Event) {
	var data struct {
		shoal.PartHead
		Offset int
		Delta  string
		Text   string
		Args   json.RawMessage
		Tool   string          `json:"toolName"`
		Hints  json.RawMessage `json:"display"`
	}
	w.must(json.Unmarshal(e.Data, &data))
	switch id := data.PartID; e.Type {
	case shoal.EventTextDelta, shoal.EventToolInputDelta, shoal.EventReasoningDelta:
		if data.Offset != len(o.parts[id]) {
			w.t.Errorf("a delta of %s is at %d, with %d bytes received", id, data.Offset, len(o.parts[id]))
		}
		o.parts[id] += data.Delta
	case shoal.EventToolInputStart:
		if data.Tool == "lamp" && string(data.Hints) != `{"customUI":"Lamp"}` {
			w.t.Errorf("how the lamp is drawn was sent as %q at its beginning", data.Hints)
		}
	case shoal.EventTextEnd:
		o.final[id] = data.Text
	case shoal.EventToolInputAvailable:
		o.final[id] = string(data.Args)
	}
}

// A follower hears a part begin, grow and end, in this order, and its deltas are
// what is stored.
func TestFollowersReceiveDeltas(t *testing.T) {
	w := newWorld(t)
	w.must(func() error {
		show := true
		_, err := w.hub.Spaces.Update(t.Context(), ann, session, "shop", shoal.SpaceChange{ShowAgentReasoning: &show})
		return err
	}())
	w.shopkeeper(script.PerTurn(
		script.Answer{Reasoning: "A lamp, then.", Calls: calls(send("c1", "Here is a <lamp> for “you”."), call("c2", "lamp", `{"size":2,"targetSpaceId":"shop"}`)).Calls},
		silent,
	), cards)
	f, err := w.hub.Events.Follow(t.Context(), ann, feed.FollowRequest{Session: session, Space: "shop"})
	w.must(err)
	defer f.Close()
	id := w.says("Hm?")
	heard := w.follows(f, id)
	for part, text := range heard.final {
		if heard.parts[part] != text {
			t.Errorf("%s was sent as %q and ended as %q", part, heard.parts[part], text)
		}
	}
	if len(heard.final) != 2 {
		t.Errorf("%d parts ended, want 2", len(heard.final))
	}
	isReasoning := func(e shoal.EventType) bool { return strings.HasPrefix(string(e), "reasoning-") }
	stored := slices.DeleteFunc(slices.Clone(heard.types), isReasoning)
	want := []shoal.EventType{
		"snapshot", "message.created", "run.created", "run.started",
		"message.created", "text-start", "text-delta", "text-end", "tool-input-start", "tool-input-delta", "tool-input-available",
		"tool-output-available", "message.completed", "run.completed",
	}
	if !slices.Equal(stored, want) {
		t.Errorf("the shop heard\n%v\nwant\n%v", stored, want)
	}
	// Reasoning is not stored: a follower that is late reads what is stored first.
	reasoning := slices.DeleteFunc(heard.types, func(e shoal.EventType) bool { return !isReasoning(e) })
	if want := []shoal.EventType{"reasoning-start", "reasoning-delta", "reasoning-end"}; !slices.Equal(reasoning, want) {
		t.Errorf("of the reasoning the shop heard %v, want %v", reasoning, want)
	}
}
