package shoal_test

import (
	"testing"

	"github.com/shoal-dev/shoal"
)

func TestCheckEmoji(t *testing.T) {
	for _, good := range []string{"👍", "👍🏽", "❤", "❤️", "🇩🇪", "1️⃣", "#⃣", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🧑🏿‍🚀", "🫡", "☺️", "🏳️‍🌈", "©️", "⭐"} {
		if err := shoal.CheckEmoji("emoji", good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "a", "1", "ok", "👍👍", "👍 ", " 👍", "👍a", "🇩", "🇩🇪🇫🇷", "\u200d", "👍\u200d", "\u200d👍", "🏽🏽", "é", "<b>", "\xff", "👍\xff", "🏴󠁧󠁢", "\u202e", "─",
		"👩‍👩‍👧‍👦‍👩‍👩‍👧‍👦‍👩‍👩‍👧‍👦",
	} {
		if err := shoal.CheckEmoji("emoji", bad); shoal.KindOf(err) != shoal.InvalidArgument {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzCheckEmoji(f *testing.F) {
	f.Add("👩‍👩‍👧‍👦")
	f.Add("1️⃣")
	f.Fuzz(func(t *testing.T, s string) {
		if shoal.CheckEmoji("emoji", s) == nil && (len(s) > shoal.MaxEmoji || shoal.CheckEmoji("emoji", s+s) == nil) {
			t.Errorf("%q is taken", s)
		}
	})
}
