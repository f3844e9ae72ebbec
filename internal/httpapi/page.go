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

// pageOf makes a page of found, which has limit+1 items if there is another page. position returns
// the position of an item; the next page starts after the last one.
func pageOf[T any](found []T, limit int, position func(T) string) page[T] {
	out := page[T]{Items: found}
	if len(found) > limit {
		out.Items = found[:limit]
		out.NextCursor = cursorOf(position(found[limit-1]))
	}
	if out.Items == nil {
		out.Items = []T{}
	}
	return out
}

// cursorOf encodes a position as a cursor for clients.
func cursorOf(position string) *string {
	cursor := base64.RawURLEncoding.EncodeToString([]byte(position))
	return &cursor
}

// cursor decodes the parameter cursor to a position, empty without the parameter.
func (c *call) cursor() (string, error) {
	text, _ := c.value("cursor")
	position, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", badCursor()
	}
	return string(position), nil
}

func badCursor() error {
	return shoal.Invalid("query.cursor", "must be an unchanged nextCursor of an earlier page")
}

// page returns the position after which the requested page starts, and its length.
func (c *call) page(fallback int) (after string, limit int, err error) {
	if after, err = c.cursor(); err != nil {
		return "", 0, err
	}
	limit, err = c.limit(fallback)
	return after, limit, err
}

// idCursor is page for a list that is ordered by id.
func idCursor[ID ~string](c *call) (after ID, limit int, err error) {
	position, limit, err := c.page(shoal.DefaultPage)
	if position != "" && shoal.CheckID("cursor", position) != nil {
		return "", 0, badCursor()
	}
	return ID(position), limit, err
}
