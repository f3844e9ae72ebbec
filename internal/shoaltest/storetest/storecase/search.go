package storecase

import (
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/search"
)

// Query returns the parsed query of a text, or a query that finds nothing if the text is
// invalid.
func Query(text string) search.Query {
	q, err := search.Parse("query", text)
	if err != nil {
		return search.Query{Terms: []search.Term{{Words: []string{"nothing at all"}}}}
	}
	return q
}

// Find returns the texts of the messages that a search finds.
func Find(c *Case, query storage.SearchQuery) []string {
	c.Helper()
	texts := []string{}
	for _, f := range FindAll(c, query) {
		texts = append(texts, f.Message.Text())
	}
	return texts
}

// FindAll returns what a search finds: one page if the query has a limit, otherwise all.
func FindAll(c *Case, query storage.SearchQuery) (all []storage.SearchHit) {
	c.Helper()
	once := query.Limit > 0
	if !once {
		query.Limit = 1000
	}
	for {
		result := Read(c, func(tx storage.Tx) (storage.SearchResult, error) { return tx.Search(c.Session, query) })
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

// UpdateIndex makes a store with an asynchronous index update it now.
func UpdateIndex(c *Case) {
	c.Helper()
	if store, ok := c.Store.(interface{ CatchUp() error }); ok {
		if err := store.CatchUp(); err != nil {
			c.Fatal(err)
		}
	}
}
