package coretest

import (
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// searchFor is a query and the texts, by their numbers, that it must find.
type searchFor struct {
	query string
	want  []int
}

// finds compares the results of queries with the expected ones, before and after the messages
// are indexed.
func finds(c *storecase.Case, texts []string, searches []searchFor) {
	c.Helper()
	for _, when := range []string{"at once", "later"} {
		for _, s := range searches {
			want := []string{}
			for _, i := range s.want {
				want = append(want, texts[i])
			}
			storecase.Equal(c, fmt.Sprintf("what %q finds %s", s.query, when), storecase.Find(c, storage.SearchQuery{Query: storecase.Query(s.query)}), want)
		}
		storecase.UpdateIndex(c)
	}
}

// queryTests specify the meaning of the words and filters of a query.
var queryTests = map[string]func(*storecase.Case){
	"all words, in any order, the last one also as a prefix": func(c *storecase.Case) {
		c.AddSpace("shop")
		texts := []string{
			"The final Q4 sales figures", "Sales fell", "A figure of speech; FINAL offer!", "foo_bar-baz don't 4.2% a1b2", "crème brûlée à l'Été",
			"ГРУППА товаров", "売上の数字", "e\u0301gal ﬁn Ⅷ", "C++ & C#", strings.Repeat("long", 60) + "word",
		}
		for _, text := range texts {
			c.Say("shop", "ann", text)
		}
		finds(c, texts, []searchFor{
			{"sales", []int{1, 0}},
			{"SALES", []int{1, 0}},
			{"sal", []int{1, 0}},
			{"sal figures", []int{}},
			{"figures sal", []int{0}},
			{"figure final", []int{2}},
			{"final fig", []int{2, 0}},
			{"the", []int{0}},
			{"q4", []int{0}},
			{"q", []int{0}},
			{"4", []int{3}},
			{"ales", []int{}},
			{"bar foo baz", []int{3}},
			{"foo_bar", []int{3}},
			{"don't", []int{3}},
			{"creme", []int{4}},
			{"CRÈME BRÛLÉE", []int{4}},
			{"ete", []int{4}},
			{"été", []int{4}},
			{"группа", []int{5}},
			{"売上", []int{6}},
			{"数字", []int{6}},
			{"数学", []int{}},
			{"égal", []int{7}},
			{"fin", []int{7, 2, 0}},
			{"viii", []int{7}},
			{"c", []int{8, 4}},
			{strings.Repeat("long", 60), []int{9}},
			{"nothing of that", []int{}},
			{"!?", []int{}},
			{"", []int{}},
			{`") OR 1=1 --`, []int{}},
			{`'a' | 'b'`, []int{4}},
		})
	},

	"code, paths, addresses, German, emoji": func(c *storecase.Case) {
		c.AddSpace("shop")
		texts := []string{
			"call foo_bar() in a.b.c", "bar foo, and c b a", "see src/hub/search.go:42", "https://example.com/a/b?c=d#e",
			"Die Straße nach Köln-Süd, Fußgängerübergänge", "running runs ran", "well done 👍🏽 🎉", "売上の数字 上売", "ΟΔΟΣ και οδός",
		}
		for _, text := range texts {
			c.Say("shop", "ann", text)
		}
		finds(c, texts, []searchFor{
			{"foo_bar", []int{0}},
			{"foo bar", []int{1, 0}},
			{"a.b.c", []int{3, 0}},
			{"b.a", []int{1}},
			{"src/hub/search.go", []int{2}},
			{"hub/search.go:42", []int{2}},
			{"https://example.com/a/b", []int{3}},
			{"example.com", []int{3}},
			{"strasse", []int{4}},
			{"STRASSE", []int{4}},
			{"koln", []int{4}},
			{"fussgangeruber", []int{4}},
			{"run", []int{5}},
			{"run ", []int{5}},
			{`"run"`, []int{}},
			{"running ran", []int{5}},
			{"👍", []int{6}},
			{"👍🏽", []int{6}},
			{"🎉 done", []int{6}},
			{"🚀", []int{}},
			{"売上", []int{7}},
			{"字売", []int{}},
			{"οδοσ", []int{8}},
		})
	},

	"phrases, prefixes, exclusions": func(c *storecase.Case) {
		c.AddSpace("shop")
		texts := []string{"final offer for laptops", "the offer is final", "lapdog on offer", "offering a final cut", "nothing else"}
		for _, text := range texts {
			c.Say("shop", "ann", text)
		}
		finds(c, texts, []searchFor{
			{`"final offer"`, []int{0}},
			{`"FINAL, offer!"`, []int{0}},
			{`"offer final"`, []int{}},
			{`"offer is fin"`, []int{}},
			{`"offer is fin"*`, []int{1}},
			{`lap* offer`, []int{2, 0}},
			{`lap* "offer"`, []int{2, 0}},
			{`offer -final`, []int{2}},
			{`offer -lap*`, []int{3, 1}},
			{`final -"final offer"`, []int{3, 1}},
			{`-offer -final`, []int{4}},
			{`"offer`, []int{2, 1, 0}},
			{`offer from:ann`, []int{3, 2, 1, 0}},
			{`-the offer`, []int{3, 2, 0}},
			{`final --offer`, []int{3, 1, 0}},
		})
	},

	"filters, alone and together": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.Update(func(tx storage.Tx) error {
			return tx.InsertEntity(shoal.Entity{SessionID: c.Session, ID: "eve", Kind: shoal.Human})
		})
		c.AddSpace("shop", "ann", "bob", "eve")
		c.AddSpace("yard", "ann", "eve")
		post := func(space shoal.SpaceID, who shoal.EntityID, day int, parts []shoal.Part, mentions ...shoal.EntityID) {
			m := c.NewMessage(space, who, "")
			m.CreatedAt = shoal.At(time.Date(2026, 1, day, 12, 0, 0, 0, time.UTC))
			m.Mentions, m.Parts = mentions, parts
			c.Post(m)
		}
		text := func(s string) []shoal.Part {
			return []shoal.Part{{ID: "p1", Type: shoal.TextPart, Text: s, Status: shoal.PartDone}}
		}
		texts := []string{"tea 0", "tea 1", "tea 2 http://a.example", "tea 3", "```tea 4```", "milk 5"}
		post("shop", "ann", 1, text(texts[0]))
		post("yard", "ann", 2, text(texts[1]), "eve", "bob")
		post("yard", "eve", 3, text(texts[2]), "ann")
		post("shop", shoal.System, 4, text(texts[3]))
		post("shop", "bob", 5, append(text(texts[4]), shoal.Part{ID: "p2", Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", URL: "https://a.example/a.png"}))
		post("shop", "eve", 6, append(text(texts[5]), shoal.Part{ID: "p2", Type: shoal.DataPart, Name: "n", Data: []byte(`1`)}))
		finds(c, texts, []searchFor{
			{"from:ann", []int{1, 0}},
			{"from:@ann tea", []int{1, 0}},
			{"from:ann from:bob", []int{4, 1, 0}},
			{"-from:ann tea", []int{4, 3, 2}},
			{"from:nobody", []int{}},
			{"in:yard", []int{2, 1}},
			{"in:#yard from:eve", []int{2}},
			{"in:yard in:shop", []int{5, 4, 3, 2, 1, 0}},
			{"mentions:bob", []int{1}},
			{"mentions:bob mentions:eve", []int{1}},
			{"mentions:bob mentions:ann", []int{}},
			{"kind:human", []int{5, 2}},
			{"kind:agent", []int{4, 1, 0}},
			{"kind:system", []int{3}},
			{"has:file", []int{4}},
			{"has:image has:code", []int{4}},
			{"has:link", []int{2}},
			{"has:data", []int{5}},
			{"has:tool", []int{}},
			{"has:approval", []int{}},
			{"before:2026-01-03", []int{1, 0}},
			{"after:2026-01-05", []int{5, 4}},
			{"after:2026-01-02 before:2026-01-04 tea", []int{2, 1}},
			{"after:2026-01-02T12:00:00Z before:2026-01-03T12:00:00Z", []int{1}},
			{"after:2026-02", []int{}},
			{"before:2027", []int{5, 4, 3, 2, 1, 0}},
			{"from:ann in:shop tea -milk before:2026-02 kind:agent", []int{0}},
			{`"from:ann"`, []int{}},
		})
	},
}
