package token

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal/agent/provider/internal/renewed"
)

// Cache keeps the token of a source and asks for the next one three minutes before it
// expires, or when a tenth of its life is left if it lives for less than half an hour. Each
// model keeps the tokens of its source in one; a program whose models use the same source
// gives all of them the same Cache. It is safe for concurrent use: the source is asked by one
// call at a time, and the others wait for the answer or for the end of their context.
//
// If the source fails while the token is still valid, that token is used.
type Cache struct{ tokens *renewed.Value[Token] }

// NewCache returns an empty cache, or source itself if it is a cache.
func NewCache(source Source) *Cache {
	if c, ok := source.(*Cache); ok {
		return c
	}
	return &Cache{renewed.New(func(ctx context.Context) (Token, time.Time, error) {
		t, err := source.Token(ctx)
		if err == nil && t.Value == "" {
			err = errors.New("the source returned an empty token")
		}
		return t, t.Expires, err
	})}
}

// Token returns the token that is kept, or asks the source for one.
func (c *Cache) Token(ctx context.Context) (Token, error) { return c.tokens.Get(ctx, false) }

// Key returns the value of the token. With refresh the provider has refused the token: a
// new one is requested, unless the one that is kept is younger than ten seconds. Options.Key
// of the providers has this form.
func (c *Cache) Key(ctx context.Context, refresh bool) (string, error) {
	t, err := c.tokens.Get(ctx, refresh)
	return t.Value, err
}
