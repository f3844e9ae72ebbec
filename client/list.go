package client

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"strconv"

	"github.com/shoal-dev/shoal"
)

// page is one page of a list.
type page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// list yields all items of a list. It fetches each page when the one before has been
// consumed, and ends after the first error.
func list[T any](ctx context.Context, c *Client, in call) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := url.Values{"limit": {strconv.Itoa(shoal.MaxPage)}}
		maps.Copy(query, in.query)
		for {
			var got page[T]
			in.query = query
			if err := c.do(ctx, in, &got); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range got.Items {
				if !yield(item, nil) {
					return
				}
			}
			if got.NextCursor == nil || *got.NextCursor == "" {
				return
			}
			query.Set("cursor", *got.NextCursor)
		}
	}
}

// filters are the parameters of a list that are set.
func filters(all map[string]string) url.Values {
	q := url.Values{}
	for name, value := range all {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}
