package httpapi

import (
	"encoding/base64"

	"github.com/shoal-dev/shoal"
)

// page is one page of a list. NextCursor is null on the last one.
type page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// pageOf makes a page of what was read, which is one more than limit if there
// is more. place names an item, so that the next page can start behind it.
func pageOf[T any](found []T, limit int, place func(T) string) page[T] {
	out := page[T]{Items: found}
	if len(found) > limit {
		out.Items = found[:limit]
		out.NextCursor = cursorOf(place(found[limit-1]))
	}
	if out.Items == nil {
		out.Items = []T{}
	}
	return out
}

// cursorOf writes a place as the cursor that clients see.
func cursorOf(place string) *string {
	cursor := base64.RawURLEncoding.EncodeToString([]byte(place))
	return &cursor
}

// cursor returns the place that the parameter cursor names, empty if it was
// not given.
func (c *call) cursor() (string, error) {
	text, _ := c.value("cursor")
	place, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", badCursor()
	}
	return string(place), nil
}

func badCursor() error {
	return shoal.Invalid("query.cursor", "must be the nextCursor of an earlier page, unchanged")
}

// page returns the place behind which a page starts and its length.
func (c *call) page(fallback int) (after string, limit int, err error) {
	if after, err = c.cursor(); err != nil {
		return "", 0, err
	}
	limit, err = c.limit(fallback)
	return after, limit, err
}

// idCursor is page for a list in the order of ids.
func idCursor[ID ~string](c *call) (after ID, limit int, err error) {
	place, limit, err := c.page(shoal.DefaultPage)
	if place != "" && shoal.CheckID("cursor", place) != nil {
		return "", 0, badCursor()
	}
	return ID(place), limit, err
}
