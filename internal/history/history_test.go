package history

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// arranged returns the history of runs with these messages, of which the first inputs
// are each run's input.
func arranged(began []shoal.RunID, messages map[shoal.RunID][]agent.Message, inputs map[shoal.RunID]int, s storedSummary) (h History) {
	blocks := map[shoal.RunID]block{}
	for _, id := range began {
		blocks[id] = block{messages: messages[id], inputs: inputs[id]}
	}
	h.arrange(began, blocks, &s)
	return h
}

func TestSummaryCoversTheSameMessagesForAll(t *testing.T) {
	said := map[shoal.RunID][]agent.Message{}
	for _, id := range []shoal.RunID{"r1", "r2", "r3", "r4"} {
		said[id] = []agent.Message{{ID: string(id) + "a"}, {ID: string(id) + "b"}}
	}
	ids := func(messages []agent.Message) string {
		var out []string
		for _, m := range messages {
			out = append(out, m.ID)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		name   string
		gone   shoal.RunID
		covers int
		order  []shoal.RunID
		want   string
		left   int
	}{
		{"r2 ran while r1 and r3 did, and ended after the summary was made", "", 3, []shoal.RunID{"r1", "r3"}, "r1a r1b r3a r3b r2a r2b r4a r4b", 3},
		{"the oldest run is not read any more", "r1", 3, []shoal.RunID{"r1", "r3"}, "r3a r3b r2a r2b r4a r4b", 1},
		{"the run that made the summary is not seen", "r3", 4, []shoal.RunID{"r1", "r3"}, "r1a r1b r2a r2b r4a r4b", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var began []shoal.RunID
			here := map[shoal.RunID][]agent.Message{}
			for _, id := range []shoal.RunID{"r1", "r2", "r3", "r4"} {
				if id != c.gone {
					began, here[id] = append(began, id), said[id]
				}
			}
			h := arranged(began, here, map[shoal.RunID]int{"r1": 1, "r2": 1, "r3": 1, "r4": 1}, storedSummary{Text: "so far", Covers: c.covers, Order: c.order, Counts: []int{2, 2}})
			if ids(h.Messages) != c.want || h.Summary.Covers != c.left {
				t.Errorf("the summary covers %d of %s, want %d of %s", h.Summary.Covers, ids(h.Messages), c.left, c.want)
			}
		})
	}
}

// Blocks that read the same message of a space show it once, and what a summary
// covers ends at the same message when an earlier block is gone.
func TestBlocksDoNotRepeatMessages(t *testing.T) {
	shows := func(id, status string) agent.Message {
		return agent.Say(`<message id="` + id + `" spaceId="shop"` + status + ` at="now">hello</message>`)
	}
	said := map[shoal.RunID][]agent.Message{
		"r1": {shows("m1", ""), shows("m2", ""), {ID: "r1"}},
		"r2": {shows("m1", ""), shows("m2", ""), shows("m3", ""), {ID: "r2"}},
		"r3": {shows("m2", ` status="streaming"`), shows("m3", ""), shows("m4", ""), {ID: "r3"}},
	}
	inputs := map[shoal.RunID]int{"r1": 2, "r2": 3, "r3": 3}
	for _, c := range []struct {
		began  []shoal.RunID
		covers int
		want   string
		left   int
	}{
		{[]shoal.RunID{"r1", "r2", "r3"}, 4, "m1 m2 r1 m3 r2 m2+ m4 r3", 4},
		{[]shoal.RunID{"r2", "r3"}, 4, "m1 m2 m3 r2 m2+ m4 r3", 3},
	} {
		h := arranged(c.began, said, inputs, storedSummary{Text: "so far", Covers: c.covers, Thoughtless: c.covers + 1, Order: []shoal.RunID{"r1", "r2"}, Counts: []int{3, 2}})
		var got []string
		for _, m := range h.Messages {
			key := m.ID
			if key == "" {
				key = strings.TrimSpace(strings.ReplaceAll(spacetool.MessageKey(m), " streaming", "+"))
			}
			got = append(got, key)
		}
		if text := strings.Join(got, " "); text != c.want || h.Summary.Covers != c.left || h.Summary.Thoughtless != c.left+1 {
			t.Errorf("%v is arranged as %s with the summary %+v, want %s and %d covered", c.began, text, h.Summary, c.want, c.left)
		}
	}
}

// A summary is shown with the run that made it. What only the provider reads is left out.
func TestPublic(t *testing.T) {
	conv := storage.Conversation{ID: "bot/shop", Data: []byte(`{"summary":{"text":"They like blue.","covers":1,"order":["r1","r2"],"counts":[1,1]}}`)}
	turn := []byte(`{"turn":{"input":[{"role":"user","parts":[{"type":"text","text":"Hi","opaque":{"signature":"s"}}]}]}}`)
	runs, err := Public(conv, []storage.Block{{Run: "r2", Turn: turn}, {Run: "r1"}})
	if err != nil || len(runs) != 2 || runs[0].Summary == nil || *runs[0].Summary != "They like blue." || runs[1].Summary != nil {
		t.Fatalf("%+v, %v", runs, err)
	}
	if shown, err := json.Marshal(runs); err != nil || strings.Contains(string(shown), "signature") || !strings.Contains(string(shown), `"messages":[]`) {
		t.Errorf("%s, %v", shown, err)
	}
}

// A run sees between 50 and 100 earlier runs, and those of the 50 runs before it begin their
// conversation at the same run, however long it is: the prompt of run 10,000 is as long as that
// of run 100.
func TestConversationsAreCutInLargeSteps(t *testing.T) {
	const runs = 10_000
	moved := 0
	for run := range int64(runs) {
		began := 2*run + 1 // one run after the other
		after := readAfter(began)
		seen := run - after/2
		if seen > 2*keptRuns || run >= keptRuns && seen < keptRuns || after%2 != 0 {
			t.Fatalf("run %d sees %d runs", run, seen)
		}
		if run > 0 && after != readAfter(began-2) {
			moved++
		}
	}
	if want := runs/keptRuns - 2; moved != want {
		t.Errorf("the beginning moved %d times in %d runs, want %d", moved, runs, want)
	}
	if a, b := 100-readAfter(201)/2, runs-readAfter(2*runs+1)/2; a != b {
		t.Errorf("run 100 sees %d runs and run 10,000 %d", a, b)
	}
}
