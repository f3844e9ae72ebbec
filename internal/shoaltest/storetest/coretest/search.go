package coretest

import (
	"fmt"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// foundAt returns the positions of the hits.
func foundAt(c *storecase.Case, query storage.SearchQuery) (all []int64) {
	c.Helper()
	for _, f := range storecase.FindAll(c, query) {
		all = append(all, f.Position)
	}
	return all
}

// searchTests specify which messages are found, from which time on, and in which order.
var searchTests = map[string]func(*storecase.Case){
	"the newest first, page by page": func(c *storecase.Case) {
		c.AddSpace("shop")
		c.AddSpace("yard")
		want := []string{}
		for i := range 23 {
			text := fmt.Sprintf("tea %d", i)
			m := c.NewMessage([]shoal.SpaceID{"shop", "yard"}[i%2], "ann", text)
			m.CreatedAt = storecase.Time(-i) // what was committed later is newer, whatever clocks say
			c.Post(m)
			want = append([]string{text}, want...)
		}
		for _, when := range []string{"at once", "later"} {
			got := []string{}
			query := storage.SearchQuery{Query: storecase.Query("tea"), Limit: 5}
			for {
				page := storecase.Read(c, func(tx storage.Tx) (storage.SearchResult, error) { return tx.Search(c.Session, query) })
				for _, f := range page.Found {
					got = append(got, f.Message.Text())
					query.Before = f.Position
				}
				if len(page.Found) < 5 {
					break
				}
			}
			storecase.Equal(c, "all pages "+when, got, want)
			storecase.UpdateIndex(c)
		}
	},

	"a result is the message with its space": func(c *storecase.Case) {
		c.AddSpace("shop")
		m := c.Say("shop", "ann", "tea")
		found := storecase.FindAll(c, storage.SearchQuery{Query: storecase.Query("tea"), Limit: 5})
		if len(found) != 1 || found[0].Position < 1 {
			c.Fatalf("found %+v", found)
		}
		found[0].Position = 0
		storecase.Equal(c, "the results", found, []storage.SearchHit{{Space: shoal.SpaceRef{ID: "shop", Name: "The shop", Status: shoal.SpaceStatusOpen}, Message: m}})
	},

	"by reader": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "eve")
		c.AddSpace("shop", "ann", "bob")
		c.AddSpace("yard", "ann", "eve")
		c.Say("shop", "ann", "tea 1")
		c.Say("yard", "ann", "tea 2")
		c.Say("yard", "eve", "tea 3")
		c.Say("shop", shoal.System, "tea 4")
		other := storecase.New(c.T, c.Store)
		other.AddSpace("shop")
		other.Say("shop", "ann", "tea elsewhere")
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
				query := storage.SearchQuery{Query: storecase.Query(s.query), Reader: s.reader, Limit: s.limit}
				storecase.Equal(c, fmt.Sprintf("what %+v finds %s", s, when), storecase.Find(c, query), s.want)
			}
			storecase.UpdateIndex(c)
		}
	},

	"what is private to another member is not found": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "bot")
		c.AddSpace("shop", "ann", "bob", "bot")
		m := c.AddComposite("shop", "r1")
		m.Status = shoal.MessageCompleted
		m.Parts = []shoal.Part{
			{ID: "p1", Type: shoal.TextPart, Text: "for all", Status: shoal.PartDone},
			{ID: "p2", Type: shoal.ToolPart, ToolName: "ask", ToolCallID: "c1", Status: shoal.PartRequiresAction, Target: "ann"},
		}
		c.Update(func(tx storage.Tx) error { return tx.UpdateMessage(m, nil) })
		for _, when := range []string{"at once", "later"} {
			for reader, n := range map[shoal.EntityID]int{"": 1, "ann": 1, "bob": 0} {
				storecase.Equal(c, fmt.Sprintf("how many approvals %q finds %s", reader, when), len(storecase.Find(c, storage.SearchQuery{Query: storecase.Query("has:approval"), Reader: reader})), n)
				storecase.Equal(c, fmt.Sprintf("how many calls %q finds %s", reader, when), len(storecase.Find(c, storage.SearchQuery{Query: storecase.Query("has:tool all"), Reader: reader})), 1)
			}
			storecase.UpdateIndex(c)
		}
	},

	"a search with few matches among many messages stops and can be continued": func(c *storecase.Case) {
		c.AddSpace("shop")
		c.Say("shop", "ann", "tea at last")
		c.Update(func(tx storage.Tx) error {
			for range 1500 {
				if _, err := storecase.Post(tx, c.NewMessage("shop", "ann", "tea that is green")); err != nil {
					return err
				}
			}
			return nil
		})
		storecase.UpdateIndex(c)
		query := storage.SearchQuery{Query: storecase.Query(`tea -green`)}
		storecase.Equal(c, "all pages", storecase.Find(c, query), []string{"tea at last"})
		query.Limit = 10
		first := storecase.Read(c, func(tx storage.Tx) (storage.SearchResult, error) { return tx.Search(c.Session, query) })
		if first.Next == 0 || len(first.Found) > 0 {
			c.Errorf("the first page of a long search is %d messages, and goes on before %d", len(first.Found), first.Next)
		}
	},

	"a message is found from the transaction that stores it on": func(c *storecase.Case) {
		c.AddSpace("shop")
		m := c.NewMessage("shop", "ann", "needle")
		query := storage.SearchQuery{Query: storecase.Query("needle"), Limit: 2}
		c.Update(func(tx storage.Tx) error {
			if _, err := storecase.Post(tx, m); err != nil {
				return err
			}
			found, err := tx.Search(c.Session, query)
			if err == nil && len(found.Found) != 1 {
				err = fmt.Errorf("%d were found", len(found.Found))
			}
			return err
		})
		// An index may lag: this must not be visible at any time.
		for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
			if got := storecase.Find(c, query); len(got) != 1 {
				c.Fatalf("later %d were found", len(got))
			}
		}
	},

	"text parts of every kind are searched, and nothing else": func(c *storecase.Case) {
		c.AddSpace("shop")
		m := c.NewMessage("shop", "ann", "")
		m.Parts = []shoal.Part{
			{ID: "p1", Type: shoal.TextPart, Text: "first", Status: shoal.PartDone},
			{ID: "p2", Type: shoal.DataPart, Name: "third", Data: []byte(`"fourth"`)},
			{ID: "p3", Type: shoal.TextPart, Text: "second", Status: shoal.PartInterrupted},
		}
		c.Post(m)
		for _, when := range []string{"at once", "later"} {
			storecase.Equal(c, "both texts "+when, len(storecase.Find(c, storage.SearchQuery{Query: storecase.Query("second first")})), 1)
			storecase.Equal(c, "a name "+when, len(storecase.Find(c, storage.SearchQuery{Query: storecase.Query("third")})), 0)
			storecase.Equal(c, "some data "+when, len(storecase.Find(c, storage.SearchQuery{Query: storecase.Query("fourth")})), 0)
			storecase.UpdateIndex(c)
		}
	},
}
