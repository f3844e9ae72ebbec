package sqlstore_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/internal/sqlstore"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" .,;!? ":                       "",
		"Hello, World":                  "hello world",
		"foo_bar-baz.qux":               "foo bar baz qux",
		"don't":                         "don t",
		"4.2% of Q4":                    "4 2 of q4",
		"Crème BRÛLÉE":                  "creme brulee",
		"cre\u0300me":                   "creme",
		"ﬁnal Ⅷ ² ﾊﾝ":                   "final viii 2 ハ ン",
		"ГРУППА Ёж":                     "группа еж",
		"Ελλάδα":                        "ελλαδα",
		"한국어":                           "한국어",
		"売上の数字abc":                      "売 上 の 数 字 abc",
		"हिन्दी":                        "हिनदी",
		"👩‍👩‍👧 ok":                      "ok",
		"a\x00b\u2028c":                 "a b c",
		strings.Repeat("x", 1000):       strings.Repeat("x", 128),
		strings.Repeat("é", 1000):       strings.Repeat("e", 128),
		strings.Repeat("я", 1000):       strings.Repeat("я", 64),
		"x" + strings.Repeat("я", 1000): "x" + strings.Repeat("я", 64),
	} {
		got := sqlstore.Words(text)
		// Hangul is kept in its parts.
		if want := strings.Fields(decomposed(want)); !slices.Equal(got, want) {
			t.Errorf("the words of %.40q are %.60q, want %.60q", text, got, want)
		}
	}
}

// decomposed spells Hangul as words do.
func decomposed(s string) string {
	return strings.NewReplacer("한", "\u1112\u1161\u11ab", "국", "\u1100\u116e\u11a8", "어", "\u110b\u1165").Replace(s)
}

// What the databases get holds nothing that they could take for syntax, and a
// word is itself a text of that one word, so that what was found can be asked
// for.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"Hello, World", "Crème BRÛLÉE", "売上 abc\xff", "ﬁ \u0301 İIıi ß ſ K", "'a' | \"b\" * :c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, word := range sqlstore.Words(text) {
			if len(word) > 140 || !utf8.ValidString(word) || strings.ContainsAny(word, " '\"*&|!():\\\x00") {
				t.Fatalf("%q holds the word %q", text, word)
			}
			if again := sqlstore.Words(word); !slices.Equal(again, []string{word}) {
				t.Fatalf("%q holds the word %q, which holds %q", text, word, again)
			}
		}
	})
}
