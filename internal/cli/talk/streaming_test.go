package talk

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
)

// outputs returns an output and what it has written.
func outputs(set func(o *cli.Output)) (o *cli.Output, out *strings.Builder) {
	out = new(strings.Builder)
	o = &cli.Output{Out: out, Notes: io.Discard}
	set(o)
	return o, out
}

var inMessage = shoal.PartHead{MessageID: "msg_1", PartID: "prt_1"}

// composite is a message of the agent bot.
func composite(status shoal.MessageStatus, parts ...shoal.Part) shoal.MessageData {
	return shoal.MessageData{Message: shoal.Message{
		ID: "msg_1", SpaceID: "shop", Seq: 7, EntityID: "bot", Status: status, Parts: parts, CreatedAt: shoal.Time{},
	}}
}

func delta(part shoal.PartID, text string) shoal.DeltaData {
	return shoal.DeltaData{PartHead: shoal.PartHead{MessageID: "msg_1", PartID: part}, Delta: text}
}

// What tail shows of a message that grows: to a person its text as it comes, to a
// program one line when it is whole.
func TestAMessageThatGrows(t *testing.T) {
	private := shoal.PartHead{MessageID: "msg_1", PartID: "prt_3", Private: true}
	no, ann := "not that", shoal.EntityID("ann")
	whole := composite(
		shoal.MessageFailed, shoal.Text("Hello\nann, look:"),
		shoal.Part{Type: shoal.ToolPart, ToolName: "card", Args: []byte(`{"n":1}`), Status: shoal.PartDenied, Error: no, AnsweredBy: ann},
		shoal.Part{Type: shoal.ToolPart, Private: true}, shoal.Part{Type: shoal.TextPart, Text: "And", Status: shoal.PartInterrupted},
	)
	other := composite(shoal.MessageCompleted, shoal.Text("me too"))
	other.Message.ID, other.Message.EntityID, other.Message.Seq = "msg_2", "ann", 8
	events := []shoal.Event{
		eventOf(t, shoal.EventSnapshot, shoal.SnapshotData{Space: shoal.Space{ID: "shop", LastSeq: 6}}),
		eventOf(t, shoal.EventMessageCreated, composite(shoal.MessageStreaming)),
		eventOf(t, shoal.EventTextStart, shoal.TextData{PartHead: inMessage}),
		eventOf(t, shoal.EventTextDelta, delta("prt_1", "Hel")),
		eventOf(t, shoal.EventTextDelta, delta("prt_1", "lo\nann\x1b[3")),
		eventOf(t, shoal.EventTextDelta, delta("prt_1", "1m, ")),
		eventOf(t, shoal.EventMessageCreated, other),
		eventOf(t, shoal.EventTextDelta, delta("prt_1", "look:")),
		eventOf(t, shoal.EventTextEnd, shoal.TextData{PartHead: inMessage, Text: "Hello\nann, look:", Status: shoal.PartDone}),
		eventOf(t, shoal.EventToolInputStart, shoal.ToolInputData{PartHead: inMessage, ToolName: "card"}),
		eventOf(t, shoal.EventToolInputDelta, shoal.DeltaData{PartHead: inMessage, Delta: `{"n`}),
		eventOf(t, shoal.EventToolInputAvailable, shoal.ToolInputData{PartHead: inMessage, ToolName: "card", Args: []byte(`{"n":1}`)}),
		eventOf(t, shoal.EventToolOutputError, shoal.ToolOutputData{PartHead: inMessage, ToolName: "card", Status: shoal.PartDenied, Error: &no, AnsweredBy: &ann}),
		eventOf(t, shoal.EventToolInputStart, shoal.ToolInputData{PartHead: private}),
		eventOf(t, shoal.EventToolInputAvailable, shoal.ToolInputData{PartHead: private}),
		eventOf(t, shoal.EventToolOutputAvailable, shoal.ToolOutputData{PartHead: private}),
		eventOf(t, shoal.EventPartReset, shoal.PartResetData{PartHead: inMessage}),
		eventOf(t, shoal.EventTextDelta, delta("prt_4", "And")),
		eventOf(t, shoal.EventTextEnd, shoal.TextData{PartHead: inMessage, Status: shoal.PartInterrupted}),
		eventOf(t, shoal.EventTextDelta, shoal.DeltaData{PartHead: shoal.PartHead{MessageID: "msg_9"}, Delta: "of another"}),
		eventOf(t, shoal.EventMessageCompleted, whole),
	}
	clock := cli.Clock(time.Time{}, time.Now())
	person := clock + ` bot: Hello
  ann,` + " " + `
` + clock + ` ann: me too
  look:
  [tool card {"n":1}]
  [tool card: denied by ann: not that]
  [tool_call for somebody else]
  [withdrawn, the model is asked again]
  And
  [interrupted]
  [failed]
`
	const program = "0001-01-01T00:00:00.000Z\tshop\t8\tann\t\tme too\n" +
		"0001-01-01T00:00:00.000Z\tshop\t7\tbot\t\tHello ann, look: [tool card {\"n\":1}: denied by ann: not that] [tool_call for somebody else] And [interrupted] [failed]\n"
	for want, set := range map[string]func(*cli.Output){person: func(o *cli.Output) { o.Terminal = true }, program: func(*cli.Output) {}} {
		o, out := outputs(set)
		tail := &tail{TailCommand: &TailCommand{Space: "shop"}, shell: &cli.Shell{Output: o}, timeline: newTimeline(nil), live: liveMessage{out: o}, loss: view.Connection{Output: o}}
		for _, e := range events {
			if err := tail.handle(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("got\n%s\nwant\n%s", out, want)
		}
	}
}
