package view

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

const evil = "\x1b[2J\u009b31mRed\u202e\a"

// outputs returns an output and the text that it writes.
func outputs(set func(o *cli.Output)) (o *cli.Output, out *strings.Builder) {
	out = new(strings.Builder)
	o = &cli.Output{Out: out, Notes: io.Discard}
	set(o)
	return o, out
}

func TestMessagesAreOneLine(t *testing.T) {
	at := shoal.At(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	m := shoal.Message{
		SpaceID: "shop", Seq: 7, EntityID: "sco\x1b[0mut", CreatedAt: at, Mentions: []shoal.EntityID{"ann", "bob"},
		Parts: []shoal.Part{
			shoal.Text("two\nlines " + evil),
			{Type: shoal.FilePart, Name: "a.png", URL: "https://x/a.png"},
			{Type: shoal.DataPart, Name: "chart"},
		},
	}
	clock := cli.Clock(at.Time, time.Now())
	for _, c := range []struct {
		set  func(o *cli.Output)
		all  bool
		want string
	}{
		{func(*cli.Output) {}, true, "2026-11-20T10:00:00.000Z\tshop\t7\tscout\tann,bob\ttwo lines Red [file a.png https://x/a.png] [data chart]\n"},
		{func(o *cli.Output) { o.Terminal = true }, true, clock + " [shop] scout → @ann @bob: two lines Red [file a.png https://x/a.png] [data chart]\n"},
		{func(o *cli.Output) { o.Terminal = true }, false, clock + " scout → @ann @bob: two lines Red [file a.png https://x/a.png] [data chart]\n"},
	} {
		o, out := outputs(c.set)
		if err := PrintMessage(o, m, c.all); err != nil || out.String() != c.want {
			t.Errorf("got  %q, %v\nwant %q", out, err, c.want)
		}
	}
}

func TestEventsCarryTheirCursor(t *testing.T) {
	o, out := outputs(func(o *cli.Output) { o.JSON = true })
	for _, e := range []shoal.Event{
		{Type: shoal.EventMessageCreated, Cursor: "c\"1", Data: []byte(`{"type":"message.created","text":"` + "\u202e" + `"}`)},
		{Type: shoal.EventEntityUpdated, Data: []byte(`{"type":"entity.updated"}`)},
		{Type: shoal.EventSnapshot, Cursor: "c2", Data: []byte(`{"cursor":"c2"}`)},
		{Type: "new", Cursor: "c3", Data: []byte(`{}`)},
	} {
		if err := PrintEvent(o, e); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"cursor":"c\"1","type":"message.created","text":"\u202e"}
{"type":"entity.updated"}
{"cursor":"c2"}
{}
`
	if out.String() != want {
		t.Errorf("got %s\nwant %s", out, want)
	}
}

// A terminal shows what a message offers to send; other data, also under that name, is only
// named.
func TestPromptsAreQuoted(t *testing.T) {
	for data, want := range map[string]string{
		`{"prompts":["I need a laptop","Say \"hi\""]}`: `[try "I need a laptop", "Say \"hi\""]`,
		`{"prompts":[]}`: "[data prompts]",
		`{"prompts":7}`:  "[data prompts]",
		`null`:           "[data prompts]",
	} {
		if got := PartText(shoal.Part{Type: shoal.DataPart, Name: shoal.PromptsPart, Data: []byte(data)}); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}
