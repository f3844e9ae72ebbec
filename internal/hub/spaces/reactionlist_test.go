package spaces

import (
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal"
)

func TestReactionsAreBounded(t *testing.T) {
	one := func(i int) string { return string(rune(0x1F600 + i)) }
	who := func(i int) shoal.EntityID { return shoal.EntityID(fmt.Sprintf("e%d", i)) }
	add := func(all []shoal.Reaction, by shoal.EntityID, with string) []shoal.Reaction {
		t.Helper()
		out, changed, err := withReaction(all, by, with)
		if err != nil || !changed {
			t.Fatalf("%s with %s: %v, changed: %v", by, with, err, changed)
		}
		return out
	}
	refused := func(all []shoal.Reaction, by shoal.EntityID, with string) {
		t.Helper()
		if out, changed, err := withReaction(all, by, with); shoal.KindOf(err) != shoal.Conflict || changed || len(out) != len(all) {
			t.Errorf("%s with %s: %v", by, with, err)
		}
	}
	var all []shoal.Reaction
	for i := range shoal.MaxOwnReactions {
		all = add(all, "ann", one(i))
	}
	refused(all, "ann", one(9))
	if _, changed, err := withReaction(all, "ann", one(0)); changed || err != nil {
		t.Errorf("again: %v, changed: %v", err, changed)
	}
	for i := shoal.MaxOwnReactions; i < shoal.MaxReactions; i++ {
		all = add(all, who(i), one(i))
	}
	refused(all, "bob", one(shoal.MaxReactions))
	for i := 1; i < shoal.MaxReactors; i++ {
		all = add(all, who(1000+i), one(0))
	}
	refused(all, "bob", one(0))
	less, changed := withoutReaction(all, "ann", one(0))
	if !changed || len(less) != shoal.MaxReactions || len(less[0].EntityIDs) != shoal.MaxReactors-1 || len(all[0].EntityIDs) != shoal.MaxReactors {
		t.Errorf("without ann's: %v", changed)
	}
	if _, changed := withoutReaction(less, "ann", one(0)); changed {
		t.Error("there is nothing to remove")
	}
	hearts := add(add(nil, "ann", "❤"), "bob", "❤️")
	if len(hearts) != 1 || len(hearts[0].EntityIDs) != 2 {
		t.Errorf("two ways to write one emoji are %v", hearts)
	}
	if rest, _ := withoutReaction(hearts[:1], "ann", "❤️"); len(rest) != 1 || rest[0].EntityIDs[0] != "bob" {
		t.Errorf("removed: %v", rest)
	}
}
