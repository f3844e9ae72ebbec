package spacetool_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

func (w *world) input(r *spacetool.Run) (texts []string) {
	w.t.Helper()
	messages, err := spacetool.Input(w.t.Context(), r)
	w.must(err)
	for _, m := range messages {
		if m.Role != agent.User {
			w.t.Errorf("a message has the role %s", m.Role)
		}
		texts = append(texts, m.Text())
	}
	return texts
}

// bodies are the texts of the messages of an input, without their tags.
func bodies(input []string) string {
	var out []string
	for _, m := range input {
		_, text, _ := strings.Cut(m, ">")
		out = append(out, strings.TrimSuffix(text, "</message>"))
	}
	return strings.Join(out, " | ")
}

func TestInputOfAMessage(t *testing.T) {
	w := newWorld(t)
	w.must(w.join("shop", "bob"))
	before := w.post("bob", "shop", "a < b & c")
	r := w.ask("ann", "shop", "which?", "bob", "shop-agent")
	input := w.input(r)
	expect(t, "how many messages", len(input), 2)
	expect(t, "the older", named(input[0], string(before.ID), "msg_1", before.CreatedAt.String(), "NOW"),
		`<message id="msg_1" spaceId="shop" senderId="bob" sender="Bob" senderType="human" at="NOW">a &lt; b &amp; c</message>`)
	if !strings.Contains(input[1], `mentions="bob,shop-agent"`) || !strings.HasSuffix(input[1], ">which?</message>") {
		t.Errorf("the trigger is %s", input[1])
	}
}

// The history is the newest before the trigger, never the oldest, and nothing of it
// comes after the trigger.
func TestInputTakesTheNewestHistory(t *testing.T) {
	w := newWorld(t)
	for i := range 60 {
		w.post("ann", "shop", fmt.Sprint(i+1))
	}
	r := w.ask("ann", "shop", "now")
	w.post("ann", "shop", "later")
	input := w.input(r)
	expect(t, "how many messages", len(input), 51)
	expect(t, "the first", bodies(input[:1]), "11")
	expect(t, "the last", bodies(input[49:]), "60 | now")
	r.Config.Context.History = 0
	expect(t, "without history", bodies(w.input(r)), "now")
}

// A message enters the conversation once.
func TestInputLeavesOutWhatTheConversationHolds(t *testing.T) {
	w := newWorld(t)
	w.post("ann", "shop", "zero")
	first := w.ask("ann", "shop", "one")
	expect(t, "the first input", bodies(w.input(first)), "zero | one")
	w.say(first, shoal.Text("my answer"))
	w.end(first)
	w.post("ann", "shop", "between")

	second := w.ask("ann", "shop", "two")
	expect(t, "the second input", bodies(w.input(second)), "between | two")

	t.Run("but what a run says that goes on beside it is new", func(t *testing.T) {
		w.say(second, shoal.Text("being said"))
		third := w.ask("ann", "shop", "three")
		expect(t, "the third input", bodies(w.input(third)), "between | two | being said | three")
		if third := w.input(third); !strings.Contains(third[2], `you="true"`) {
			t.Errorf("its own message is %s", third[2])
		}
		w.end(third)
	})
	t.Run("and an agent without a conversation gets all of it", func(t *testing.T) {
		w.end(second)
		forgetful := w.ask("ann", "shop", "four")
		expect(t, "with a conversation", bodies(w.input(forgetful)), "four")
		forgetful.Config.Context.Conversation = false
		expect(t, "without", bodies(w.input(forgetful)), "zero | one | my answer | between | two | being said | three | four")
	})
}

// What the agent says here in a run of another conversation is not in this one.
func TestInputHoldsWhatOtherConversationsSaid(t *testing.T) {
	w := newWorld(t)
	_, err := w.hub.Runs.Trigger(t.Context(), root, shoal.DefaultSession, "shop-agent", "billing", nil, "")
	w.must(err)
	service := w.claim()
	w.say(service, shoal.Text("the bill is paid"))
	w.end(service)
	expect(t, "the input", bodies(w.input(w.ask("ann", "shop", "paid?"))), "the bill is paid | paid?")
}

// A run that ended before it began left nothing in the conversation.
func TestInputHoldsTheTriggerOfARunThatNeverBegan(t *testing.T) {
	w := newWorld(t)
	_, err := w.hub.Messages.Post(t.Context(), as("ann"), shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("one")}}, "")
	w.must(err)
	queued, err := w.hub.Runs.List(t.Context(), root, shoal.DefaultSession, storage.RunFilter{})
	w.must(err)
	_, err = w.hub.Runs.Cancel(t.Context(), root, shoal.DefaultSession, queued[0].ID)
	w.must(err)
	expect(t, "the input", bodies(w.input(w.ask("ann", "shop", "two"))), "one | two")
}

func TestInputShowsParts(t *testing.T) {
	w := newWorld(t)
	w.must(w.setAdmin())
	w.host("stock-agent")
	w.must(w.join("shop", "stock-agent"))
	stock := w.ask("ann", "shop", "stock?", "stock-agent")
	w.say(stock, shoal.Part{ID: "prt_1", Type: shoal.TextPart, Text: "see", Status: shoal.PartDone},
		shoal.Part{ID: "prt_2", Type: shoal.ToolPart, ToolName: "showCard", ToolCallID: "c", Args: json.RawMessage(`{"a":"<b>"}`), Status: shoal.PartDone, Result: json.RawMessage(`"bought"`)},
		shoal.Part{ID: "prt_3", Type: shoal.ToolPart, ToolName: "hidden", ToolCallID: "d", Status: shoal.PartDone, Target: "ann"},
	)
	input := w.input(w.ask("ann", "shop", "and you?"))
	shown := input[len(input)-2]
	if strings.Contains(shown, "hidden") || !strings.Contains(shown, `>see`+"\n"+`<part>{"id":"prt_2"`) || !strings.Contains(shown, `"args":{"a":"&lt;b&gt;"},"result":"bought"`) {
		t.Errorf("the message is %s", shown)
	}
	if !strings.Contains(shown, `senderId="stock-agent"`) || !strings.Contains(shown, `senderType="agent"`) {
		t.Errorf("its sender is %s", shown)
	}
}

// The pictures among the files are pictures with their paths; the others, and
// what lies elsewhere, as texts alone.
func TestInputNamesPictures(t *testing.T) {
	w := newWorld(t)
	part := func(name, mediaType, url string) shoal.Part {
		return shoal.Part{Type: shoal.FilePart, Name: name, MediaType: mediaType, URL: url}
	}
	upload := func(name, mediaType string) shoal.Part {
		f, err := w.hub.Files.Upload(t.Context(), as("ann"), shoal.DefaultSession, shoal.File{Name: name, MediaType: mediaType}, []byte("data"),
			func(id shoal.FileID) string { return shoal.FilePath(shoal.DefaultSession, id) }, "")
		w.must(err)
		return part(name, mediaType, f.URL)
	}
	post := func(parts ...shoal.Part) {
		_, err := w.hub.Messages.Post(t.Context(), as("ann"), shoal.DefaultSession, "shop", shoal.Draft{Parts: parts}, "")
		w.must(err)
	}
	no, older := false, upload("older.webp", "image/webp")
	_, err := w.hub.Messages.Post(t.Context(), as("ann"), shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{older}, TriggerAgents: &no}, "")
	w.must(err)
	picture := upload("a.png", "image/png")
	post(shoal.Text("look"), picture, upload("a.svg", "image/svg+xml"), upload("a.pdf", "application/pdf"), part("b.png", "image/png", "https://example.com/b.png"))
	messages, err := spacetool.Input(t.Context(), w.claim())
	w.must(err)
	expect(t, "how many messages", len(messages), 2)
	var told []agent.File
	for _, m := range messages {
		for _, p := range m.Parts[1:] {
			told = append(told, *p.File)
		}
	}
	want := []agent.File{{Name: "older.webp", MediaType: "image/webp", URL: older.URL}, {Name: "a.png", MediaType: "image/png", URL: picture.URL}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"a.png", "a.svg", "a.pdf", "b.png"} {
		if !strings.Contains(messages[1].Text(), `"name":"`+name+`"`) {
			t.Errorf("%s is not named in %s", name, messages[1].Text())
		}
	}
}

// A long message is cut where it is history and whole where it is the trigger.
func TestInputCutsHistory(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("0123456789", 5000)
	w.post("ann", "shop", long)
	input := w.input(w.ask("ann", "shop", long))
	if len(input[0]) > 10<<10 || !strings.Contains(input[0], " …</message>") || !strings.Contains(input[1], long) {
		t.Errorf("the messages have %d and %d bytes", len(input[0]), len(input[1]))
	}
}

// A message reaches the agent that it starts completely, including data.
func TestInputHoldsAllOfTheTrigger(t *testing.T) {
	w := newWorld(t)
	data := `"` + strings.Repeat("0123456789", 20_000) + `"`
	_, err := w.hub.Messages.Post(t.Context(), as("ann"), shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{
		shoal.Text("look"), {Type: shoal.DataPart, Name: "chart", Data: json.RawMessage(data)},
	}}, "")
	w.must(err)
	r := w.claim()
	if input := w.input(r); !strings.Contains(input[0], data) {
		t.Errorf("the trigger has %d bytes", len(input[0]))
	}
	w.end(r)
	read := w.call(r, "readSpaceMessages", `{"spaceId":"shop"}`)
	expect(t, "whether a part that is too long has an end", len(read) < 170<<10 && strings.Contains(read, ` …"]`), true)
}

// An agent that has left the space receives only what the trigger contains.
func TestInputOfAStranger(t *testing.T) {
	w := newWorld(t)
	w.post("ann", "shop", "secret")
	r := w.ask("ann", "shop", "hello")
	w.must(w.leave())
	expect(t, "the input", bodies(w.input(r)), "hello")
}

func TestInputOfPlansAndServices(t *testing.T) {
	w := newWorld(t)
	r := w.ask("ann", "shop", "hello")
	for _, c := range []struct {
		trigger shoal.Trigger
		want    string
	}{
		{
			shoal.Trigger{Type: shoal.PlanTrigger, PlanID: "pln_1", PlanName: "Report", ScheduledAt: w.now, Instruction: "Report <now>."},
			`<plan id="pln_1" name="Report" scheduledAt="2026-11-20T10:00:00.000Z">Report &lt;now&gt;.</plan>`,
		},
		{
			shoal.Trigger{Type: shoal.ServiceTrigger, ServiceName: "billing", Payload: json.RawMessage(`{"a":"</service>"}`)},
			`<service name="billing">{"a":"&lt;/service&gt;"}</service>`,
		},
		{shoal.Trigger{Type: shoal.ServiceTrigger, ServiceName: "billing"}, `<service name="billing"></service>`},
	} {
		r.Run.Trigger = c.trigger
		if got := w.input(r); !slices.Equal(got, []string{c.want}) {
			t.Errorf("the input is %q, want %s", got, c.want)
		}
	}
}
