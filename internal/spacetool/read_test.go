package spacetool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// shownMessage is one message in the result of readSpaceMessages.
type shownMessage struct {
	Sender, SenderID, Type, Text string
	Timestamp                    shoal.Time
	Parts                        []shoal.Part
}

func (w *world) messages(r *spacetool.Run, arguments string) (all []shownMessage) {
	w.t.Helper()
	text := w.call(r, "readSpaceMessages", arguments)
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return all
}

func TestReadSpaceMessages(t *testing.T) {
	w := newWorld(t)
	w.must(w.join("shop", "bob"))
	for i := range 60 {
		w.post("ann", "shop", fmt.Sprintf("number %d of laptops", i+1))
	}
	r := w.ask("bob", "shop", "the last")

	all := w.messages(r, `{"spaceId":"shop"}`)
	expect(t, "how many without a limit", len(all), 15)
	expect(t, "the oldest of them", all[0].Text, "number 47 of laptops")
	last := all[14]
	expect(t, "the newest", words(last.Sender, last.SenderID, last.Type, last.Text), "Bob bob human the last")
	for arguments, want := range map[string]int{
		`{"spaceId":"shop","limit":3}`: 3, `{"spaceId":"shop","limit":1000}`: 50, `{"spaceId":"shop","limit":0}`: 15, `{"spaceId":"shop","limit":null}`: 15,
		`{"spaceId":"shop","search":"number LAPTOPS 5"}`: 11, `{"spaceId":"shop","search":"nowhere"}`: 0,
	} {
		expect(t, arguments, len(w.messages(r, arguments)), want)
	}
	found := w.messages(r, `{"spaceId":"shop","search":"5","limit":2}`)
	expect(t, "a search finds the newest, the oldest first", found[0].Text+", "+found[1].Text, "number 58 of laptops, number 59 of laptops")

	for arguments, want := range map[string]string{
		`{"spaceId":"../x"}`:                                             "spaceId may contain only",
		`{"spaceId":"shop","search":"!?"}`:                               "search has neither a word",
		`{"spaceId":"shop","search":"` + strings.Repeat("a", 501) + `"}`: "search has 501 bytes",
		`{"spaceId":"shop","search":"` + strings.Repeat("a ", 21) + `"}`: "search has 21 words",
		`{}`:            "spaceId is missing",
		`{"spaceId":7}`: "spaceId",
	} {
		if text := w.call(r, "readSpaceMessages", arguments); !strings.HasPrefix(text, "failed: ") || !strings.Contains(text, want) {
			t.Errorf("%s gives %s, want %q", arguments, text, want)
		}
	}
}

// A space that the agent is not in, and one that does not exist, are the same to it.
func TestReadSpaceMessagesOfStrangers(t *testing.T) {
	w := newWorld(t)
	w.space("secret", "Secret", "ann")
	w.post("ann", "secret", "the code is 1234")
	r := w.ask("ann", "shop", "hello")
	there := w.call(r, "readSpaceMessages", `{"spaceId":"secret"}`)
	nowhere := w.call(r, "readSpaceMessages", `{"spaceId":"nowhere"}`)
	expect(t, "a space of others", there, `failed: Error: Space "secret" not found among those you are in. Your prompt lists them with their ids.`)
	expect(t, "a space that is not there", nowhere, strings.ReplaceAll(there, "secret", "nowhere"))
	w.must(w.leave())
	if text := w.call(r, "readSpaceMessages", `{"spaceId":"shop"}`); !strings.HasPrefix(text, "failed: ") {
		t.Errorf("after the agent has left: %s", text)
	}
}

// What is private to one member is shown only to that member.
func TestReadSpaceMessagesLeavesOutWhatIsPrivate(t *testing.T) {
	w := newWorld(t)
	w.must(w.setAdmin())
	w.host("stock-agent")
	w.must(w.join("shop", "stock-agent"))
	stock := w.ask("ann", "shop", "what is in stock?", "stock-agent")
	card := func(id shoal.PartID, target shoal.EntityID) shoal.Part {
		return shoal.Part{ID: id, Type: shoal.ToolPart, ToolName: "showCard", ToolCallID: string(id), Args: json.RawMessage(`{"for":"` + string(target) + `"}`), Status: shoal.PartDone, Target: target}
	}
	text := shoal.Text("see here")
	text.ID = "prt_1"
	w.say(stock, text, card("prt_2", "bob"), card("prt_3", "shop-agent"), card("prt_4", ""))
	w.say(stock, card("prt_1", "bob"))
	r := w.ask("ann", "shop", "and now?")

	all := w.messages(r, `{"spaceId":"shop"}`)
	expect(t, "how many messages", len(all), 3)
	var cards []string
	for _, p := range all[1].Parts {
		cards = append(cards, string(p.Args))
	}
	expect(t, "the cards", strings.Join(cards, " "), `{"for":"shop-agent"} {"for":""}`)
	expect(t, "the text", all[1].Text, "see here")
}

// However long the messages are, the newest is in the result.
func TestReadSpaceMessagesIsBounded(t *testing.T) {
	w := newWorld(t)
	for range 20 {
		w.post("ann", "shop", strings.Repeat("long ", 10_000))
	}
	r := w.ask("ann", "shop", "the last")
	text := w.call(r, "readSpaceMessages", `{"spaceId":"shop","limit":50}`)
	if len(text) > 200<<10 || !strings.Contains(text, "the last") || !strings.Contains(text, ` …","timestamp"`) {
		t.Errorf("the result has %d bytes and ends with %s", len(text), text[len(text)-200:])
	}
}

func (w *world) join(space shoal.SpaceID, id shoal.EntityID) error {
	_, err := w.hub.Spaces.Join(w.t.Context(), shoal.Principal{Role: shoal.RoleAdmin}, shoal.DefaultSession, space, id)
	return err
}

// leave has shop-agent leave shop.
func (w *world) leave() error {
	_, err := w.hub.Spaces.Leave(w.t.Context(), as("ann"), shoal.DefaultSession, "shop", "shop-agent")
	return err
}

// setAdmin makes shop-agent the admin agent of shop.
func (w *world) setAdmin() error {
	id := shoal.EntityID("shop-agent")
	_, err := w.hub.Spaces.Update(w.t.Context(), as("ann"), shoal.DefaultSession, "shop", shoal.SpaceChange{AdminAgentID: &id})
	return err
}
