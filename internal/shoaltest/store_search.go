package shoaltest

import (
	"fmt"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// find returns the texts that a search finds.
func find(c *storeCase, query hub.SearchQuery) []string {
	c.Helper()
	if query.Limit == 0 {
		query.Limit = 1000
	}
	texts := []string{}
	for _, f := range seen(c, func(tx hub.Tx) ([]hub.Found, error) { return tx.Search(c.session, query) }) {
		texts = append(texts, f.Message.Text())
	}
	return texts
}

// feedIndex lets a store that feeds its index behind the messages do so now.
func feedIndex(c *storeCase) {
	c.Helper()
	if store, ok := c.store.(interface{ CatchUp() error }); ok {
		if err := store.CatchUp(); err != nil {
			c.Fatal(err)
		}
	}
}

var searchTests = map[string]func(*storeCase){
	"all words, in any order, the last one also as a beginning": func(c *storeCase) {
		c.space("shop")
		texts := []string{
			"The final Q4 sales figures", "Sales fell", "A figure of speech; FINAL offer!", "foo_bar-baz don't 4.2% a1b2", "crème brûlée à l'Été",
			"ГРУППА товаров", "売上の数字", "e\u0301gal ﬁn Ⅷ", "C++ & C#", strings.Repeat("long", 60) + "word",
		}
		for _, text := range texts {
			c.say("shop", "ann", text)
		}
		searches := []struct {
			words string
			want  []int
		}{
			{"sales", []int{1, 0}},
			{"SALES", []int{1, 0}},
			{"sal", []int{1, 0}},
			{"sal figures", []int{}},
			{"figures sal", []int{0}},
			{"figure final", []int{2}},
			{"final fig", []int{2, 0}},
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
		}
		for _, when := range []string{"at once", "later"} {
			for _, s := range searches {
				want := []string{}
				for _, i := range s.want {
					want = append(want, texts[i])
				}
				same(c, fmt.Sprintf("what %q finds %s", s.words, when), find(c, hub.SearchQuery{Words: strings.Fields(s.words)}), want)
			}
			feedIndex(c)
		}
	},

	"the newest first, page by page": func(c *storeCase) {
		c.space("shop")
		c.space("yard")
		want := []string{}
		for i := range 23 {
			text := fmt.Sprintf("tea %d", i)
			m := c.message([]shoal.SpaceID{"shop", "yard"}[i%2], "ann", text)
			m.CreatedAt = storeTime(-i) // what was committed later is newer, whatever clocks say
			c.post(m)
			want = append([]string{text}, want...)
		}
		got := []string{}
		query := hub.SearchQuery{Words: []string{"tea"}, Limit: 5}
		for {
			page := seen(c, func(tx hub.Tx) ([]hub.Found, error) { return tx.Search(c.session, query) })
			for _, f := range page {
				got = append(got, f.Message.Text())
				query.Before = hub.SearchPlace{At: f.Message.CreatedAt, Space: f.Space.ID, Seq: f.Message.Seq}
			}
			if len(page) < 5 {
				break
			}
		}
		same(c, "all pages", got, want)
	},

	"a result is the message with its space": func(c *storeCase) {
		c.space("shop")
		m := c.say("shop", "ann", "tea")
		same(c, "the results", seen(c, func(tx hub.Tx) ([]hub.Found, error) {
			return tx.Search(c.session, hub.SearchQuery{Words: []string{"tea"}, Limit: 5})
		}), []hub.Found{{Space: shoal.SpaceRef{ID: "shop", Name: "The shop", Status: shoal.SpaceOpen}, Message: m}})
	},

	"by reader, space and kind of sender": func(c *storeCase) {
		c.entities("ann", "bob")
		c.update(func(tx hub.Tx) error {
			return tx.InsertEntity(shoal.Entity{SessionID: c.session, ID: "eve", Kind: shoal.Human})
		})
		c.space("shop", "ann", "bob")
		c.space("yard", "ann", "eve")
		c.say("shop", "ann", "tea 1")
		c.say("yard", "ann", "tea 2")
		c.say("yard", "eve", "tea 3")
		c.say("shop", shoal.System, "tea 4")
		other := newStoreCase(c.T, c.store)
		other.space("shop")
		other.say("shop", "ann", "tea elsewhere")
		searches := []struct {
			query hub.SearchQuery
			want  []string
		}{
			{hub.SearchQuery{}, []string{"tea 4", "tea 3", "tea 2", "tea 1"}},
			{hub.SearchQuery{Reader: "bob"}, []string{"tea 4", "tea 1"}},
			{hub.SearchQuery{Reader: "nobody"}, []string{}},
			{hub.SearchQuery{Space: "yard"}, []string{"tea 3", "tea 2"}},
			{hub.SearchQuery{Space: "yard", Reader: "bob"}, []string{}},
			{hub.SearchQuery{SenderKind: shoal.Human}, []string{"tea 3"}},
			{hub.SearchQuery{SenderKind: shoal.Agent, Reader: "ann", Space: "yard"}, []string{"tea 2"}},
			{hub.SearchQuery{Limit: 1}, []string{"tea 4"}},
		}
		for _, when := range []string{"at once", "later"} {
			for _, s := range searches {
				s.query.Words = []string{"tea"}
				same(c, fmt.Sprintf("what %+v finds %s", s.query, when), find(c, s.query), s.want)
			}
			feedIndex(c)
		}
	},

	"a message is found in the transaction that stores it, and from then on": func(c *storeCase) {
		c.space("shop")
		m := c.message("shop", "ann", "needle")
		query := hub.SearchQuery{Words: []string{"needle"}, Limit: 2}
		c.update(func(tx hub.Tx) error {
			if _, err := storePost(tx, m); err != nil {
				return err
			}
			found, err := tx.Search(c.session, query)
			if err == nil && len(found) != 1 {
				err = fmt.Errorf("%d were found", len(found))
			}
			return err
		})
		// An index may be fed behind the messages: no moment of that may show.
		for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
			if got := find(c, query); len(got) != 1 {
				c.Fatalf("later %d were found", len(got))
			}
		}
	},

	"every kind of text part counts, and nothing else": func(c *storeCase) {
		c.space("shop")
		m := c.message("shop", "ann", "")
		m.Parts = []shoal.Part{
			{ID: "p1", Type: shoal.TextPart, Text: "first", Status: shoal.PartDone},
			{ID: "p2", Type: shoal.DataPart, Name: "third", Data: []byte(`"fourth"`)},
			{ID: "p3", Type: shoal.TextPart, Text: "second", Status: shoal.PartInterrupted},
		}
		c.post(m)
		same(c, "both texts", len(find(c, hub.SearchQuery{Words: []string{"second", "first"}})), 1)
		same(c, "a name", len(find(c, hub.SearchQuery{Words: []string{"third"}})), 0)
		same(c, "some data", len(find(c, hub.SearchQuery{Words: []string{"fourth"}})), 0)
	},
}
