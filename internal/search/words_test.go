package search_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/internal/search"
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
		"ΟΔΟΣ οδός":                     "οδοσ οδοσ",
		"Straße STRAẞE":                 "strasse strasse",
		"한국어":                           "한국어",
		"売上の数字abc":                      "売 上 の 数 字 abc",
		"हिन्दी":                        "हिनदी",
		"👩‍👩‍👧 ok":                      "👩 👩 👧 ok",
		"👍🏽❤️!":                         "👍 ❤",
		"a\x00b\u2028c":                 "a b c",
		"\u0301x":                       "x",
		strings.Repeat("x", 1000):       strings.Repeat("x", 128),
		strings.Repeat("é", 1000):       strings.Repeat("e", 128),
		strings.Repeat("я", 1000):       strings.Repeat("я", 64),
		"x" + strings.Repeat("я", 1000): "x" + strings.Repeat("я", 64),
	} {
		got := search.WordsOf(text)
		// Hangul stays decomposed.
		if want := strings.Fields(decomposed(want)); !slices.Equal(got, want) {
			t.Errorf("%.40q: got the words %.60q, want %.60q", text, got, want)
		}
	}
}

// decomposed decomposes Hangul as Words does.
func decomposed(s string) string {
	return strings.NewReplacer("한", "\u1112\u1161\u11ab", "국", "\u1100\u116e\u11a8", "어", "\u110b\u1165").Replace(s)
}

// Words are reported at their positions and in order, although characters such as ㍿ are
// several words. A word contains nothing that a database or a filter could interpret as
// syntax. A word is also a text that consists of this word, so results can be searched again.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"Hello, World", "Crème BRÛLÉE", "売上 abc\xff", "ﬁ \u0301 İIıi ß ſ K", "'a' | \"b\" * :c", "👍🏽 e\u0301\u0302"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		begin, end := 0, 0
		search.Words(text, func(b []byte, from, to int) bool {
			word := string(b)
			if len(word) > 140 || !utf8.ValidString(word) || strings.ContainsAny(word, " '\"*&|!():\\\x00") {
				t.Fatalf("%q has the word %q", text, word)
			}
			if from < 0 || from >= to || to > len(text) || from < begin || to < end {
				t.Fatalf("%q has %q at %d:%d, after %d:%d", text, word, from, to, begin, end)
			}
			begin, end = from, to
			if again := search.WordsOf(word); !slices.Equal(again, []string{word}) {
				t.Fatalf("%q has the word %q, which has the words %q", text, word, again)
			}
			return true
		})
	})
}
