package spacetool_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/spacetool"
)

// The sender of a mention cannot read, through a hosted agent, spaces that it is not in.
func TestARunReadsForThoseWhomItActsFor(t *testing.T) {
	w := newWorld(t)
	w.must(w.join("shop", "bob"))
	w.space("office", "Office", "ann", "shop-agent")
	w.post("ann", "office", "the salaries")
	const office = `{"spaceId":"office"}`
	reads := func(r *spacetool.Run, space string) bool {
		t.Helper()
		text := w.call(r, "readSpaceMessages", `{"spaceId":"`+space+`"}`)
		if refused := strings.HasPrefix(text, "failed: Error: You may not read"); refused || strings.Contains(text, "not everybody that you act for") {
			if strings.Contains(text, "salaries") {
				t.Errorf("the refusal holds what is not to be read: %s", text)
			}
			return false
		}
		return true
	}
	forAnn := w.ask("ann", "shop", "what is in the office?")
	expect(t, "for a member of the other space", reads(forAnn, "office"), true)
	w.end(forAnn)
	forBob := w.ask("bob", "shop", "what is in the office?")
	expect(t, "for somebody else", reads(forBob, "office"), false)
	expect(t, "the space of the trigger", reads(forBob, "shop"), true)
	forBob.Config.Access.Read = "agent"
	expect(t, "for somebody else, of an agent that reads for anybody", reads(forBob, "office"), true)
	w.end(forBob)
	_, err := w.hub.Runs.Trigger(t.Context(), root, shoal.DefaultSession, "shop-agent", "billing", nil, "")
	w.must(err)
	service := w.claim()
	expect(t, "for a service", reads(service, "office"), true)
	w.end(service)
	if text := w.call(forAnn, "readSpaceMessages", office); !strings.Contains(text, "salaries") {
		t.Errorf("the member reads %s", text)
	}
}

// What an agent keeps in mind is shown to runs that may read the space that it is from.
func TestMemoriesAreOfTheirSpace(t *testing.T) {
	w := newWorld(t)
	w.must(w.join("shop", "bob"))
	w.space("office", "Office", "ann", "shop-agent")
	kept := w.ask("ann", "office", "keep that")
	w.call(kept, "setMemories", `{"memories":[{"content":"the salaries"}]}`)
	w.end(kept)
	forBob := w.ask("bob", "shop", "what do you know?")
	prompt := w.prompt(forBob)
	if strings.Contains(prompt, "salaries") {
		t.Error("the prompt for somebody else holds the memory")
	}
	for call, arguments := range map[string]string{"setMemories": `{"memories":[{"match":"salaries","content":"x"}]}`, "deleteMemories": `{"matches":["salaries"]}`} {
		if text := w.call(forBob, call, arguments); !strings.Contains(text, "not_found") && !strings.Contains(text, "notFound") || strings.Contains(text, "the salaries") {
			t.Errorf("%s for somebody else: %s", call, text)
		}
	}
	w.call(forBob, "setMemories", `{"memories":[{"content":"bob likes mice"}],"clearExisting":true}`)
	w.end(forBob)
	forAnn := w.ask("ann", "shop", "and I?")
	prompt = w.prompt(forAnn)
	for _, want := range []string{"the salaries", "bob likes mice"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt for who may read both spaces lacks %q", want)
		}
	}
	w.end(forAnn)
	var spaces []string
	w.must(w.hub.Work.Read(t.Context(), func(tx storage.Tx) error {
		all, err := tx.Memories(shoal.DefaultSession, "shop-agent")
		for _, m := range all {
			spaces = append(spaces, string(*m.SpaceID))
		}
		return err
	}))
	expect(t, "the spaces of the memories", strings.Join(spaces, " "), "office shop")
}
