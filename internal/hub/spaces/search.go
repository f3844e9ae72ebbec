package spaces

import (
	"context"
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/roles"
	"github.com/shoal-dev/shoal/internal/scopes"
	"github.com/shoal-dev/shoal/internal/search"
)

// Search describes a search for messages.
type Search struct {
	// Query is the query as it was typed; see [search.Parse].
	Query string
	// Space and SenderKind narrow the search, if set.
	Space      shoal.SpaceID
	SenderKind shoal.EntityKind
	Sort       SearchSort
	// Position is where to continue; the zero value is the beginning.
	Position SearchPosition
	Limit    int
}

// SearchSort is the order of the results.
type SearchSort string

// The orders of a search. SortNewest, the default, returns the newest first. SortRelevance
// returns the best first among the newest [rankedMessages] that match, then among the next.
const (
	SortNewest    SearchSort = "newest"
	SortRelevance SearchSort = "relevance"
)

// SearchPosition is a position in the results of a search: below the message Before, after the
// best Skip results there.
type SearchPosition struct {
	Before int64
	Skip   int
}

// SearchPage is a page of the results of a search. Next is where the next page begins, or
// nil after the last. A page may contain fewer hits than the limit, or none, and still have
// a next page, because one call examines a bounded number of messages.
type SearchPage struct {
	Hits []shoal.Hit
	Next *SearchPosition
}

// rankedMessages is the number of matching messages that are ranked together.
const rankedMessages = shoal.MaxPage

// Search returns matching messages of the spaces that the caller may read, each with an
// excerpt of its text around the match. It fails with InvalidArgument for an invalid query.
func (m *Messages) Search(ctx context.Context, caller shoal.Principal, session shoal.SessionID, s Search) (page SearchPage, err error) {
	const op = "hub.Messages.Search"
	space, err := scopes.One(caller.Scopes, s.Space)
	if err != nil {
		return SearchPage{}, core.Wrap(op, err)
	}
	s.Space = space
	query, err := s.parse(caller)
	if err := errors.Join(core.Authorize(caller, session, roles.ReadSession), err); err != nil {
		return SearchPage{}, core.Wrap(op, core.FirstError(err))
	}
	match := search.NewMatcher(query)
	err = m.core.View(ctx, op, func(tx storage.Tx) error {
		for _, space := range query.Values(search.In) {
			if _, err := core.ReadableSpace(tx, caller, session, shoal.SpaceID(space)); err != nil {
				return err
			}
		}
		sq := storage.SearchQuery{Query: query, Reader: core.ReaderEntity(caller), Before: s.Position.Before, Limit: s.Limit}
		if s.Sort == SortRelevance {
			page, err = bestPage(tx, session, sq, s.Position.Skip, match)
		} else {
			page, err = newestPage(tx, session, sq, match)
		}
		return err
	})
	return page, err
}

// parse checks the search and returns its query.
func (s Search) parse(caller shoal.Principal) (search.Query, error) {
	query, err := search.Parse("query", s.Query)
	if err != nil {
		return query, err
	}
	if s.SenderKind != "" && s.SenderKind != shoal.Human && s.SenderKind != shoal.Agent {
		return query, shoal.Invalid("kind", `must be "human" or "agent"`)
	}
	if s.Sort != "" && s.Sort != SortNewest && s.Sort != SortRelevance {
		return query, shoal.Invalid("sort", `must be "newest" or "relevance"`)
	}
	if query.ContainsMe() {
		if caller.EntityID == "" {
			return query, shoal.Invalid("query", "contains \"me\", but this key does not act as an entity; name an entity by its id")
		}
		query = query.As(caller.EntityID)
	}
	if s.Space != "" {
		// The query may name a space too. Within intersects them, and no message is in
		// two different spaces.
		query = query.Within(search.In, string(s.Space))
	}
	if s.SenderKind != "" {
		query = query.Within(search.Kind, string(s.SenderKind))
	}
	return query, nil
}

// newestPage returns a page of results, the newest first.
func newestPage(tx Tx, session shoal.SessionID, sq storage.SearchQuery, match *search.Matcher) (SearchPage, error) {
	limit := sq.Limit
	sq.Limit++ // one more, to see whether there is a next page
	result, err := tx.Search(session, sq)
	if err != nil {
		return SearchPage{}, err
	}
	found, next := result.Found, result.Next
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].Position
	} else if len(found) == limit+1 {
		next = 0
	}
	page := SearchPage{Hits: toHits(found, sq.Reader, match)}
	if next > 0 {
		page.Next = &SearchPosition{Before: next}
	}
	return page, nil
}

// bestPage returns a page of the messages below a position, the best first. Messages that
// are posted in between do not change the order below the position.
func bestPage(tx Tx, session shoal.SessionID, sq storage.SearchQuery, skip int, match *search.Matcher) (SearchPage, error) {
	limit := sq.Limit
	sq.Limit = rankedMessages
	result, err := tx.Search(session, sq)
	if err != nil {
		return SearchPage{}, err
	}
	texts := make([]string, len(result.Found))
	for i, f := range result.Found {
		texts[i] = f.Message.For(sq.Reader).Text()
	}
	order := match.Rank(texts)
	order = order[min(skip, len(order)):]
	shown := make([]storage.SearchHit, 0, limit)
	for _, at := range order[:min(limit, len(order))] {
		shown = append(shown, result.Found[at])
	}
	page := SearchPage{Hits: toHits(shown, sq.Reader, match)}
	switch {
	case len(order) > limit:
		page.Next = &SearchPosition{Before: result.Found[0].Position + 1, Skip: skip + limit}
	case result.Next > 0:
		page.Next = &SearchPosition{Before: result.Next}
	}
	return page, nil
}

func toHits(found []storage.SearchHit, reader shoal.EntityID, match *search.Matcher) []shoal.Hit {
	out := make([]shoal.Hit, len(found))
	for i, f := range found {
		message := f.Message.For(reader)
		out[i] = shoal.Hit{Space: f.Space, Message: message}
		out[i].Highlight, out[i].Matches = match.Highlight(message.Text())
	}
	return out
}
