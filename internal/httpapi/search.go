package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// defaultHits is how many hits a search answers unless told otherwise.
const defaultHits = 20

func searchRoutes() []route {
	return []route{{
		method: http.MethodGet, path: sessionPath + "/search", do: search, id: "searchMessages", tag: "Messages",
		summary: "Search messages",
		about:   "Messages of the caller's spaces that hold all the words, the last one also as the beginning of a word; the newest first. `matches` are byte ranges in `highlight`.",
		query: []param{
			{"q", "The words.", stringParam},
			{"space", "Only this space.", stringParam},
			{"kind", "Only messages of `human` or of `agent` senders.", stringParam},
			{"cursor", "Where to go on: the `nextCursor` of the page before.", stringParam},
			{"limit", "How many at most, 1 to 200; more is cut. The default is 20.", integerParam},
		},
		status: http.StatusOK, out: page[shoal.Hit]{},
	}}
}

func search(c *call) error {
	place, limit, err := c.page(defaultHits)
	if err != nil {
		return err
	}
	before, err := searchPlace(place)
	if err != nil {
		return err
	}
	words, _ := c.value("q")
	space, _ := c.value("space")
	kind, _ := c.value("kind")
	hits, err := c.Hub.Messages.Search(c.ctx(), c.who, c.session(), hub.Search{
		Query: words, Space: shoal.SpaceID(space), SenderKind: shoal.EntityKind(kind), Before: before, Limit: limit + 1,
	})
	return c.answerOr(renamed(err, "query", "query.q"), http.StatusOK, pageOf(hits, limit, func(h shoal.Hit) string {
		return strings.Join([]string{
			strconv.FormatInt(h.Message.CreatedAt.UnixMicro(), 10), strconv.FormatInt(h.Message.Seq, 10), string(h.Space.ID),
		}, " ")
	}))
}

// searchPlace reads what search writes into a cursor.
func searchPlace(place string) (hub.SearchPlace, error) {
	if place == "" {
		return hub.SearchPlace{}, nil
	}
	words := strings.Split(place, " ")
	if len(words) != 3 || shoal.CheckID("cursor", words[2]) != nil {
		return hub.SearchPlace{}, badCursor()
	}
	at, atErr := strconv.ParseInt(words[0], 10, 64)
	seq, seqErr := strconv.ParseInt(words[1], 10, 64)
	if atErr != nil || seqErr != nil {
		return hub.SearchPlace{}, badCursor()
	}
	return hub.SearchPlace{At: shoal.At(time.UnixMicro(at)), Space: shoal.SpaceID(words[2]), Seq: seq}, nil
}
