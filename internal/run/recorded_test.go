package run_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// recordedTurns is how many turns testdata/recorded.txt has.
const recordedTurns = 200

var (
	whoIAm   = regexp.MustCompile(`Your entity id is ([a-z0-9-]+)\.`)
	myDuty   = regexp.MustCompile(`You look after the room (\d+)\.`)
	aMessage = regexp.MustCompile(`(?s)<message id="([^"]*)"[^>]* senderId="([^"]*)"(?: sender="([^"]*)")?[^>]*>(.*?)</message>`)
	aMember  = regexp.MustCompile(`<member id="([^"]*)" name="([^"]*)"`)
	aMemory  = regexp.MustCompile(`<memory>(.*?)</memory>`)
	aPrice   = regexp.MustCompile(`"price":(\d+)`)
)

// reader is a model that answers from what it was sent and from nothing else. It knows what a
// model knows: who it is and who the sender is, what was said, what it keeps in mind, and what its tools
// returned before.
func reader(req *agent.Request) script.Answer {
	all := req.Instructions
	var heard []string // sender: text, in the order of the space
	var price, question, asker string
	seen := map[string]bool{}
	me := ""
	for _, m := range req.Messages {
		all += "\n" + m.Text()
	}
	if found := whoIAm.FindStringSubmatch(all); found != nil {
		me = found[1]
	}
	names := map[string]string{}
	for _, found := range aMember.FindAllStringSubmatch(all, -1) {
		names[found[1]] = found[2]
	}
	var called bool
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Type == agent.TextPart && m.Role == agent.User:
				for _, found := range aMessage.FindAllStringSubmatch(p.Text, -1) {
					if seen[found[1]] {
						continue
					}
					seen[found[1]] = true
					heard = append(heard, found[2]+": "+found[4])
					asker, question, called = cmp.Or(found[3], names[found[2]]), found[4], false
				}
			case p.Type == agent.TextPart && p.Text != "Done.":
				heard = append(heard, me+": "+p.Text)
			case p.Type == agent.CallPart:
				called = true
				if p.Call.Name == "sendSpaceMessage" {
					_, text, _ := strings.Cut(p.Call.Arguments, `"text":"`)
					heard = append(heard, me+": "+strings.TrimSuffix(text, `"}`))
				}
			case p.Type == agent.ResultPart:
				if found := aPrice.FindStringSubmatch(p.Result.Text); found != nil {
					price = found[1]
				}
			}
		}
	}
	lastOf := func(who string) string {
		for i := len(heard) - 2; i >= 0; i-- {
			if text, found := strings.CutPrefix(heard[i], who+": "); found {
				return text
			}
		}
		return "nothing"
	}
	last := req.Messages[len(req.Messages)-1]
	if called && last.Role == agent.ToolRole && !strings.Contains(question, "Inspect the lamp") {
		return script.Answer{Text: "Done."}
	}
	short := func(text string) string { return text[:min(len(text), 60)] }
	switch {
	case strings.Contains(question, "Who am I"):
		return script.Answer{Text: "You are " + asker + "."}
	case strings.Contains(question, "Who are you"):
		return calls(send("c", "I am "+me+" of room "+myDuty.FindStringSubmatch(all)[1]+"."))
	case strings.Contains(question, "Remember"):
		_, what, _ := strings.Cut(question, "Remember ")
		return calls(call("c", "setMemories", fmt.Sprintf(`{"memories":[{"content":%q}],"clearExisting":true}`, what)), send("d", "I remember it."))
	case strings.Contains(question, "What do you keep"):
		kept := aMemory.FindStringSubmatch(all)
		if kept == nil {
			return script.Answer{Text: "I keep nothing in mind."}
		}
		return script.Answer{Text: "I keep in mind: " + kept[1]}
	case strings.Contains(question, "Inspect the lamp"):
		if !called {
			return calls(call("c", "lamp", `{}`))
		}
		return script.Answer{Text: "I have looked."}
	case strings.Contains(question, "What did the lamp cost"):
		return calls(send("c", "It cost "+price+"."))
	case strings.Contains(question, "What did you say"):
		return script.Answer{Text: "I said: " + short(lastOf(me))}
	case strings.Contains(question, "What did"):
		_, who, _ := strings.Cut(question, "What did ")
		who, _, _ = strings.Cut(who, " ")
		return calls(send("c", who+" said: "+short(lastOf(who))))
	}
	return script.Answer{Text: "I do not understand " + short(question)}
}

// What agents answer in 200 turns of two people and four agents is what they answered before
// their prompts had a common beginning: the order of what a model is sent takes nothing from what
// it knows of who it is and who the sender is, what was said, what it keeps in mind and did.
//
// The file was recorded with the order of prompts before decision 119.
func TestRecordedTurnsAreAnsweredAlike(t *testing.T) {
	w := newWorld(t)
	_, err := w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "bob", Kind: shoal.Human, Name: "Bob"}, "")
	w.must(err)
	w.join("shop", "bob")
	for i := range 4 {
		id := shoal.EntityID(fmt.Sprintf("agent-%d", i))
		w.hostsAs(id, fmt.Sprintf("You look after the room %d.", i), script.Func(reader), fmt.Sprintf(`"tools":[{"name":"lamp","execution":{"mode":"static","output":{"price":%d}}}]`, 5+i))
		w.join("shop", id)
		if i == 0 {
			_, err := w.hub.Spaces.Update(t.Context(), ann, session, "shop", shoal.SpaceChange{AdminAgentID: &id})
			w.must(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	var recorded strings.Builder
	looked := map[shoal.EntityID]int{} // the turn in which an agent last inspected the lamp
	for turn := range recordedTurns {
		people := []shoal.EntityID{"ann", "bob"}
		person := people[random.IntN(2)]
		id := shoal.EntityID(fmt.Sprintf("agent-%d", random.IntN(4)))
		questions := []string{
			"Who am I?", "Who are you?", fmt.Sprintf("Remember the number %d.", turn), "What do you keep in mind?", "Inspect the lamp.",
			"What did you say before?", "What did ann say before?", "What did bob say before?", fmt.Sprintf("What did agent-%d say before?", random.IntN(4)),
		}
		if at, has := looked[id]; has && turn-at < 20 {
			questions = append(questions, "What did the lamp cost?", "What did the lamp cost?")
		}
		question := questions[random.IntN(len(questions))]
		if strings.HasPrefix(question, "Inspect") {
			looked[id] = turn
		}
		asker := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: person}
		posted, err := w.hub.Messages.Post(t.Context(), asker, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(fmt.Sprintf("(%d) %s", turn, question))}, Mentions: []shoal.EntityID{id}}, "")
		w.must(err)
		w.reaches(posted.Runs[0].RunID, shoal.RunCompleted)
		answers, _ := w.timelineAfter("shop", posted.Seq)
		fmt.Fprintf(&recorded, "%s to %s: (%d) %s\n  %s\n", person, id, turn, question, strings.Join(answers, "\n  "))
	}
	const name = "testdata/recorded.txt"
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if recorded.String() == string(want) {
		return
	}
	got, old := strings.Split(recorded.String(), "\n"), strings.Split(string(want), "\n")
	different := 0
	for i := range min(len(got), len(old)) {
		if got[i] != old[i] {
			if different++; different < 5 {
				t.Errorf("line %d is\n%s\nand was\n%s", i+1, got[i], old[i])
			}
		}
	}
	t.Errorf("%d lines differ, of %d and %d", different, len(got), len(old))
	if dir := os.Getenv("SHOAL_RECORD"); dir != "" {
		w.must(os.WriteFile(dir, []byte(recorded.String()), 0o600))
	}
}
