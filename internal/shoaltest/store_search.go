package shoaltest

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/search"
)

// Words returns the parsed query of a text, or an empty query if the text is not valid.
func Words(text string) search.Query {
	q, err := search.Parse("query", text)
	if err != nil {
		return search.Query{Terms: []search.Term{{Words: []string{"nothing at all"}}}}
	}
	return q
}

// find returns the texts that a search finds, on however many pages.
func find(c *storeCase, query hub.SearchQuery) []string {
	c.Helper()
	texts := []string{}
	for _, f := range findAll(c, query) {
		texts = append(texts, f.Message.Text())
	}
	return texts
}

// findAll returns what a search finds: its first page, if the query has a limit,
// or else all.
func findAll(c *storeCase, query hub.SearchQuery) (all []hub.Found) {
	c.Helper()
	once := query.Limit > 0
	if !once {
		query.Limit = 1000
	}
	for {
		result := seen(c, func(tx hub.Tx) (hub.SearchResult, error) { return tx.Search(c.session, query) })
		all = append(all, result.Found...)
		if once || result.Next == 0 {
			return all
		}
		if query.Before > 0 && result.Next >= query.Before {
			c.Fatalf("the search goes on before %d and then before %d", query.Before, result.Next)
		}
		query.Before = result.Next
	}
}

// foundAt returns the positions of the hits.
func foundAt(c *storeCase, query hub.SearchQuery) (all []int64) {
	c.Helper()
	for _, f := range findAll(c, query) {
		all = append(all, f.Place)
	}
	return all
}

// feedIndex makes a store with an asynchronous index update it now.
func feedIndex(c *storeCase) {
	c.Helper()
	if store, ok := c.store.(interface{ CatchUp() error }); ok {
		if err := store.CatchUp(); err != nil {
			c.Fatal(err)
		}
	}
}

// searchTests specify which messages are found, from which time on, and in which order.
var searchTests = map[string]func(*storeCase){
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
		for _, when := range []string{"at once", "later"} {
			got := []string{}
			query := hub.SearchQuery{Query: Words("tea"), Limit: 5}
			for {
				page := seen(c, func(tx hub.Tx) (hub.SearchResult, error) { return tx.Search(c.session, query) })
				for _, f := range page.Found {
					got = append(got, f.Message.Text())
					query.Before = f.Place
				}
				if len(page.Found) < 5 {
					break
				}
			}
			same(c, "all pages "+when, got, want)
			feedIndex(c)
		}
	},

	"a result is the message with its space": func(c *storeCase) {
		c.space("shop")
		m := c.say("shop", "ann", "tea")
		found := findAll(c, hub.SearchQuery{Query: Words("tea"), Limit: 5})
		if len(found) != 1 || found[0].Place < 1 {
			c.Fatalf("found %+v", found)
		}
		found[0].Place = 0
		same(c, "the results", found, []hub.Found{{Space: shoal.SpaceRef{ID: "shop", Name: "The shop", Status: shoal.SpaceOpen}, Message: m}})
	},

	"by reader": func(c *storeCase) {
		c.entities("ann", "bob", "eve")
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
			query  string
			reader shoal.EntityID
			limit  int
			want   []string
		}{
			{"tea", "", 0, []string{"tea 4", "tea 3", "tea 2", "tea 1"}},
			{"tea", "bob", 0, []string{"tea 4", "tea 1"}},
			{"from:ann", "bob", 0, []string{"tea 1"}},
			{"-milk", "bob", 0, []string{"tea 4", "tea 1"}},
			{"before:2100", "bob", 0, []string{"tea 4", "tea 1"}},
			{"tea", "nobody", 0, []string{}},
			{"in:yard tea", "", 0, []string{"tea 3", "tea 2"}},
			{"in:yard tea", "bob", 0, []string{}},
			{"tea", "", 1, []string{"tea 4"}},
		}
		for _, when := range []string{"at once", "later"} {
			for _, s := range searches {
				query := hub.SearchQuery{Query: Words(s.query), Reader: s.reader, Limit: s.limit}
				same(c, fmt.Sprintf("what %+v finds %s", s, when), find(c, query), s.want)
			}
			feedIndex(c)
		}
	},

	"what is private to another member is not found": func(c *storeCase) {
		c.entities("ann", "bob", "bot")
		c.space("shop", "ann", "bob", "bot")
		m := c.wrote("shop", "r1")
		m.Status = shoal.MessageCompleted
		m.Parts = []shoal.Part{
			{ID: "p1", Type: shoal.TextPart, Text: "for all", Status: shoal.PartDone},
			{ID: "p2", Type: shoal.ToolPart, ToolName: "ask", ToolCallID: "c1", Status: shoal.PartRequiresAction, Target: "ann"},
		}
		c.update(func(tx hub.Tx) error { return tx.UpdateMessage(m, nil) })
		for _, when := range []string{"at once", "later"} {
			for reader, n := range map[shoal.EntityID]int{"": 1, "ann": 1, "bob": 0} {
				same(c, fmt.Sprintf("how many approvals %q finds %s", reader, when), len(find(c, hub.SearchQuery{Query: Words("has:approval"), Reader: reader})), n)
				same(c, fmt.Sprintf("how many calls %q finds %s", reader, when), len(find(c, hub.SearchQuery{Query: Words("has:tool all"), Reader: reader})), 1)
			}
			feedIndex(c)
		}
	},

	"a search that finds little among much ends, and goes on": func(c *storeCase) {
		c.space("shop")
		c.say("shop", "ann", "tea at last")
		c.update(func(tx hub.Tx) error {
			for range 1500 {
				if _, err := storePost(tx, c.message("shop", "ann", "tea that is green")); err != nil {
					return err
				}
			}
			return nil
		})
		feedIndex(c)
		query := hub.SearchQuery{Query: Words(`tea -green`)}
		same(c, "all pages", find(c, query), []string{"tea at last"})
		query.Limit = 10
		first := seen(c, func(tx hub.Tx) (hub.SearchResult, error) { return tx.Search(c.session, query) })
		if first.Next == 0 || len(first.Found) > 0 {
			c.Errorf("the first page of a long search is %d messages, and goes on before %d", len(first.Found), first.Next)
		}
	},

	"a message is found in the transaction that stores it, and from then on": func(c *storeCase) {
		c.space("shop")
		m := c.message("shop", "ann", "needle")
		query := hub.SearchQuery{Query: Words("needle"), Limit: 2}
		c.update(func(tx hub.Tx) error {
			if _, err := storePost(tx, m); err != nil {
				return err
			}
			found, err := tx.Search(c.session, query)
			if err == nil && len(found.Found) != 1 {
				err = fmt.Errorf("%d were found", len(found.Found))
			}
			return err
		})
		// An index may lag: this must not be visible at any time.
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
		for _, when := range []string{"at once", "later"} {
			same(c, "both texts "+when, len(find(c, hub.SearchQuery{Query: Words("second first")})), 1)
			same(c, "a name "+when, len(find(c, hub.SearchQuery{Query: Words("third")})), 0)
			same(c, "some data "+when, len(find(c, hub.SearchQuery{Query: Words("fourth")})), 0)
			feedIndex(c)
		}
	},
}
