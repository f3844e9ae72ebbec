package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// Texts show members with look-alike names with their ids; structured results have the
// stored names.
func TestNamesThatReadAlikeCarryTheirIDs(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	for id, name := range map[shoal.EntityID]string{"ann": "Robin", "bob": "Rоbin"} { // the second with a Cyrillic o
		if _, err := w.hub.Entities.Update(t.Context(), adminWho, shoal.DefaultSession, id, shoal.EntityChange{Name: &name}); err != nil {
			t.Fatal(err)
		}
	}
	w.say("bob", "shop", "It is me.", "ann")
	got := w.join(transports[0], "ann").do("read_thread", inputs{"threadId": "shop"})
	for _, want := range []string{`name="Robin (@ann)"`, `name="Rоbin (@bob)"`} {
		if strings.Count(got.Text, want) == 0 {
			t.Errorf("the thread does not say %s:\n%s", want, got.Text)
		}
	}
	if structured := string(got.Structured); strings.Contains(structured, "(@") {
		t.Errorf("the result for programs has ids in names: %s", structured)
	}
}
