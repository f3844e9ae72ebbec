package openaiapi

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

func head(part string) shoal.PartHead {
	run := shoal.RunID("run_1")
	return shoal.PartHead{PartID: shoal.PartID(part), EventHead: shoal.EventHead{RunID: &run}}
}

func delta(p *projection, part string, offset int, text string) {
	p.Delta(shoal.EventTextDelta, shoal.DeltaData{PartHead: head(part), Offset: offset, Delta: text}, "run_1")
}

// What a client has that joins the pieces, and what one has that gets all at once.
func TestProjection(t *testing.T) {
	for name, c := range map[string]struct {
		play            func(*projection)
		streamed, whole string
	}{
		"one text": {func(p *projection) {
			delta(p, "a", 0, "Hel")
			delta(p, "a", 3, "lo")
			p.EndText(shoal.TextData{PartHead: head("a"), Text: "Hello"})
		}, "Hello", "Hello"},
		"two texts": {func(p *projection) {
			delta(p, "a", 0, "One")
			delta(p, "b", 0, "Two")
		}, "One\n\nTwo", "One\n\nTwo"},
		"deltas that overlap or come twice": {func(p *projection) {
			delta(p, "a", 0, "Hel")
			delta(p, "a", 1, "ello")
			delta(p, "a", 0, "Hel")
		}, "Hello", "Hello"},
		"a delta after a gap is completed by the end": {func(p *projection) {
			delta(p, "a", 0, "Hel")
			delta(p, "a", 4, "o")
			p.EndText(shoal.TextData{PartHead: head("a"), Text: "Hello"})
		}, "Hello", "Hello"},
		"a text that is written again in the same words": {func(p *projection) {
			delta(p, "a", 0, "Hello")
			p.Reset(shoal.PartResetData{PartHead: head("a"), Offset: 2}, false)
			delta(p, "a", 2, "llo there")
		}, "Hello there", "Hello there"},
		"a text that is written again in other words": {func(p *projection) {
			delta(p, "a", 0, "Hello")
			p.Reset(shoal.PartResetData{PartHead: head("a")}, false)
			delta(p, "a", 0, "Good")
			delta(p, "a", 4, " day")
		}, "Hello\n\nGood day", "Good day"},
		"a text that is removed": {func(p *projection) {
			delta(p, "a", 0, "Hello")
			p.Reset(shoal.PartResetData{PartHead: head("a")}, true)
			delta(p, "b", 0, "Bye")
		}, "Hello\n\nBye", "Bye"},
		"a stored message, then the rest": {func(p *projection) {
			p.Message(shoal.Message{Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Hel"}}}, "run_1")
			delta(p, "a", 3, "lo")
		}, "Hello", "Hello"},
		"what is for another member": {func(p *projection) {
			p.Message(shoal.Message{Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Hush", Private: true}}}, "run_1")
		}, "", ""},
		"what an earlier answer has shown": {func(p *projection) {
			p.said["a"] = true
			p.Message(shoal.Message{Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "One"}, {ID: "b", Type: shoal.TextPart, Text: "Two"}}}, "run_1")
			p.EndText(shoal.TextData{PartHead: head("a"), Text: "One"})
			delta(p, "a", 3, "!")
		}, "Two", "Two"},
		"the text of another agent": {func(p *projection) {
			p.Delta(shoal.EventTextDelta, shoal.DeltaData{PartHead: head("a"), Delta: "Hello"}, "run_2")
			p.Message(shoal.Message{Parts: []shoal.Part{{ID: "a", Type: shoal.TextPart, Text: "Hello"}}}, "run_2")
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := new(chatForm)
			p := &projection{form: f, mine: func(id shoal.RunID) bool { return id == "run_1" }, said: map[shoal.PartID]bool{}, parts: map[shoal.PartID]*part{}, named: map[shoal.PendingID]bool{}}
			c.play(p)
			var streamed strings.Builder
			for i, piece := range f.take() {
				d := piece.(chunk).Choices[0].Delta
				if (d.Role == "assistant") != (i == 0) {
					t.Errorf("piece %d has the role %q", i, d.Role)
				}
				if d.Content != nil {
					streamed.WriteString(*d.Content)
				}
			}
			if got := streamed.String(); got != c.streamed {
				t.Errorf("the pieces are %q, want %q", got, c.streamed)
			}
			if got := *f.whole(p.order, "stop", shoal.Usage{}).(chunk).Choices[0].Message.Content; got != c.whole {
				t.Errorf("the whole is %q, want %q", got, c.whole)
			}
		})
	}
}
