package token

import (
	"context"
	"errors"
	"time"
)

const (
	// early is how long before its end a token is replaced. Google's metadata server
	// returns the same token until about four minutes before its end.
	early = 3 * time.Minute
	// settled is the age at which a token that was refused is replaced: a younger one
	// was most likely made after the call that was refused with another.
	settled = 10 * time.Second
)

// Cache keeps the token of a source and asks for the next one three minutes before it
// expires, or when a tenth of its life is left if it lives for less than half an hour. Each
// model keeps the tokens of its source in one; a program whose models use the same source
// gives all of them the same Cache. It is safe for concurrent use: the source is asked by one
// call at a time, and the others wait for the answer or for the end of their context.
//
// If the source fails while the token is still valid, that token is used.
type Cache struct {
	source Source
	lock   chan struct{} // holds one value while somebody reads or writes what follows
	token  Token
	since  time.Time // when the token was received
}

// NewCache returns an empty cache, or source itself if it is a cache.
func NewCache(source Source) *Cache {
	if c, ok := source.(*Cache); ok {
		return c
	}
	return &Cache{source: source, lock: make(chan struct{}, 1)}
}

// Token returns the token that is kept, or asks the source for one.
func (c *Cache) Token(ctx context.Context) (Token, error) { return c.get(ctx, false) }

// Key returns the value of the token. With refresh the provider has refused the token: a
// new one is requested, unless the one that is kept is younger than ten seconds. Options.Key
// of the providers has this form.
func (c *Cache) Key(ctx context.Context, refresh bool) (string, error) {
	t, err := c.get(ctx, refresh)
	return t.Value, err
}

func (c *Cache) get(ctx context.Context, refused bool) (Token, error) {
	select {
	case c.lock <- struct{}{}:
		defer func() { <-c.lock }()
	case <-ctx.Done():
		return Token{}, context.Cause(ctx)
	}
	now := time.Now()
	if refused && now.Sub(c.since) >= settled {
		c.token = Token{}
	}
	left := c.token.Expires.Sub(now)
	if c.token.Value != "" && left > min(early, c.token.Expires.Sub(c.since)/10) {
		return c.token, nil
	}
	t, err := c.source.Token(ctx)
	switch {
	case err == nil && t.Value == "":
		err = errors.New("the source returned an empty token")
	case err == nil:
		c.token, c.since = t, now
		return t, nil
	}
	if c.token.Value != "" && left > 0 {
		return c.token, nil
	}
	return Token{}, err
}
