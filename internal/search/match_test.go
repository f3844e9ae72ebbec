package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/search"
)

func matcher(t *testing.T, query string) *search.Matcher {
	t.Helper()
	q, err := search.Parse("query", query)
	if err != nil {
		t.Fatal(err)
	}
	return search.NewMatcher(q)
}

// The requirements for the index are never stricter than the query: a matching message
// fulfils them, so the index misses nothing.
func FuzzNeeds(f *testing.F) {
	f.Add("foo_bar -x lap* from:ann has:link", "lapdog foo bar http://a.example")
	f.Add(`"a b"* kind:agent mentions:bob in:shop`, "a bc")
	f.Fuzz(func(t *testing.T, query, text string) {
		q, err := search.Parse("query", query)
		d := search.Document{Kind: shoal.Agent, Message: shoal.Message{
			SpaceID: "shop", EntityID: "ann", Mentions: []shoal.EntityID{"bob"}, Parts: []shoal.Part{shoal.Text(text)},
		}}
		if err != nil || !search.NewMatcher(q).Matches(d) {
			return
		}
		var has []string
		d.Index(func(key []byte) { has = append(has, string(key)) })
		for _, need := range q.Needs() {
			if !slices.ContainsFunc(need, func(key string) bool { return slices.Contains(has, key) }) {
				t.Fatalf("%q matches %q, which has none of %q", query, text, need)
			}
		}
		for _, prefix := range q.Prefixes() {
			if !slices.ContainsFunc(has, func(word string) bool { return strings.HasPrefix(word, prefix) }) {
				t.Fatalf("%q matches %q, in which no word starts with %q", query, text, prefix)
			}
		}
	})
}

// checkHighlight checks a highlight against its contract.
func checkHighlight(t *testing.T, m *search.Matcher, text string) (piece string, ranges [][2]int) {
	t.Helper()
	piece, ranges = m.Highlight(text)
	if !strings.Contains(text, piece) || len(piece) > 1000 || utf8.ValidString(text) && !utf8.ValidString(piece) {
		t.Fatalf("got the highlight %[2]q of %[1]q", text, piece)
	}
	end := -1
	for _, r := range ranges {
		if r[0] <= end || r[0] >= r[1] || r[1] > len(piece) || utf8.ValidString(text) && !utf8.ValidString(piece[r[0]:r[1]]) {
			t.Fatalf("got the highlight %[2]q of %[1]q with %[3]v", text, piece, ranges)
		}
		end = r[1]
	}
	return piece, ranges
}

func TestHighlights(t *testing.T) {
	long := strings.Repeat("words and words ", 40)
	for _, c := range []struct{ query, text, want string }{
		{"lap cheap", "two cheap laptops", "two [cheap] laptops"},
		{"cheap lap", "two cheap laptops", "two [cheap] [lap]tops"},
		{"creme", "Crème brûlée", "[Crème] brûlée"},
		{"cre", "Crème brûlée", "[Crè]me brûlée"},
		{"cre", "cre\u0300me", "[cre\u0300]me"},
		{"strasse", "die Straße", "die [Straße]"},
		{"stras", "die Straße", "die [Straß]e"},
		{"foo_bar", "call foo_bar() and foo, bar", "call [foo_bar]() and [foo, bar]"},
		{`"a b" b`, "a b c b", "[a b] c [b]"},
		{"売上", "売上の数字", "[売上]の数字"},
		{"<b>", "1 <b> 2", "1 <[b]> 2"},
		{"-x ok", "ok then", "[ok] then"},
		{"has:file", "no match", "no match"},
		{"needle", long + "here is the needle in it " + long, "words and words here is the [needle] in it words and words"},
		{"one two", long + "one " + long + "one and two " + long, "words and words [one] and [two] words"},
	} {
		piece, ranges := checkHighlight(t, matcher(t, c.query), c.text)
		marked := ""
		at := 0
		for _, r := range ranges {
			marked += piece[at:r[0]] + "[" + piece[r[0]:r[1]] + "]"
			at = r[1]
		}
		marked += piece[at:]
		if len(c.text) < 200 && marked != c.want || !strings.Contains(marked, c.want) {
			t.Errorf("%q in %.60q is shown as %q, want %q", c.query, c.text, marked, c.want)
		}
	}
}

func TestRank(t *testing.T) {
	for _, c := range []struct {
		query string
		texts []string
		want  []int
	}{
		{"tea", []string{"tea", "tea"}, []int{0, 1}},
		{"tea", []string{"tea and a great many other words that have nothing to do with it at all", "tea"}, []int{1, 0}},
		{"tea", []string{"a cup of teak", "a cup of tea"}, []int{1, 0}},
		{"tea", []string{"tea with milk and sugar", "tea, tea with more tea"}, []int{1, 0}},
		{"green tea", []string{"green" + strings.Repeat(" hills far away", 20) + " tea", "tea" + strings.Repeat(" leaves and more", 20) + " green tea"}, []int{1, 0}},
		{"from:ann", []string{"a", "b", "c"}, []int{0, 1, 2}},
		{"tea", nil, []int{}},
	} {
		if got := matcher(t, c.query).Rank(c.texts); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q ranks %.60q as %v, want %v", c.query, c.texts, got, c.want)
		}
	}
}
