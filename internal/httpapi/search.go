package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/httpapi/fields"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
)

// defaultHits is the default number of hits of a search.
const defaultHits = 20

func searchRoutes() []route {
	return []route{{
		method: http.MethodGet, path: sessionPath + "/search", do: search, id: "searchMessages", tag: "Messages",
		summary: "Search messages",
		about: "Returns messages of the caller's spaces that match all terms, newest first. `q` consists of words, of which the last one may be a prefix, " +
			"`\"exact phrases\"`, prefixes (`lap*`), `-excluded` words, and the filters `from:ID`, `in:SPACE`, `mentions:ID` (or `me`), " +
			"`has:file|image|link|code|tool|approval|data`, `kind:human|agent|system`, `before:` and `after:` a date. " +
			"`matches` are byte ranges in `highlight`, which is plain text. A page may have fewer hits than `limit`, even zero, and still have a `nextCursor`, because each call reads a bounded number of messages.",
		query: []param{
			{"q", "The query.", stringParam},
			{"space", "Only this space.", stringParam},
			{"kind", "Only messages of `human` or of `agent` senders.", stringParam},
			{"sort", "`newest` first, which is the default, or by `relevance`: best first among the newest 200 matches, then among the next 200.", stringParam},
			{"cursor", "The `nextCursor` of the previous page of the same search.", stringParam},
			{"limit", "The maximum number of hits, 1 to 200; a larger number counts as 200. The default is 20.", integerParam},
		},
		status: http.StatusOK, out: page[shoal.Hit]{},
	}}
}

func search(c *call) error {
	cursor, limit, err := c.page(defaultHits)
	if err != nil {
		return err
	}
	place, err := parseSearchCursor(cursor)
	if err != nil {
		return err
	}
	query, _ := c.value("q")
	space, _ := c.value("space")
	kind, _ := c.value("kind")
	sort, _ := c.value("sort")
	found, err := c.Hub.Messages.Search(c.ctx(), c.caller, c.session(), spaces.Search{
		Query: query, Space: shoal.SpaceID(space), SenderKind: shoal.EntityKind(kind), Sort: spaces.SearchSort(sort), Position: place, Limit: limit,
	})
	out := page[shoal.Hit]{Items: found.Hits}
	if next := found.Next; next != nil {
		out.NextCursor = cursorOf(strconv.FormatInt(next.Before, 10) + " " + strconv.Itoa(next.Skip))
	}
	return c.answerOr(fields.Rename(err, "query", "query.q"), http.StatusOK, out)
}

// parseSearchCursor parses the decoded cursors of search.
func parseSearchCursor(cursor string) (place spaces.SearchPosition, err error) {
	if cursor == "" {
		return place, nil
	}
	before, skip, _ := strings.Cut(cursor, " ")
	place.Before, err = strconv.ParseInt(before, 10, 64)
	if err == nil {
		place.Skip, err = strconv.Atoi(skip)
	}
	if err != nil || place.Before < 1 || place.Skip < 0 {
		return place, badCursor()
	}
	return place, nil
}
