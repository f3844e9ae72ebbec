// Package token is how programs give short-lived access tokens to the providers of clouds:
// [Source] returns one, and the provider asks for the next before it expires.
//
//	source := token.OAuth2(creds.TokenSource) // of golang.org/x/oauth2
//	source := token.Func(func(ctx context.Context) (token.Token, error) {
//		t, err := credential.GetToken(ctx, options) // of Azure's azidentity
//		return token.Token{Value: t.Token, Expires: t.ExpiresOn}, err
//	})
//	model := vertex.Gemini("gemini-2.5-flash", vertex.Options{Project: "shop", Token: source})
//
// The package imports none of these libraries.
package token

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Token is an access token, without a scheme such as Bearer before it.
type Token struct {
	Value string
	// Expires is when the provider no longer accepts it. With the zero value it is used for
	// one call.
	Expires time.Time
}

// Source returns a token. It must be safe for concurrent use, and return when ctx has ended.
// A [*agent.ModelError] that it returns is the error of the call; every other error becomes
// one of class auth.
//
// [*agent.ModelError]: https://pkg.go.dev/github.com/shoal-dev/shoal/agent#ModelError
type Source interface {
	Token(ctx context.Context) (Token, error)
}

// Func is a function as a [Source].
type Func func(ctx context.Context) (Token, error)

// Token calls the function.
func (f Func) Token(ctx context.Context) (Token, error) { return f(ctx) }

// OAuth2 returns a Source from a TokenSource of golang.org/x/oauth2, or from another one
// whose tokens set the header Authorization. Such a source knows no context, so a call that
// is canceled returns at once but lets the source finish. It is asked for each call: those
// of golang.org/x/oauth2 keep a token until shortly before it expires.
func OAuth2[T interface{ SetAuthHeader(r *http.Request) }](source interface{ Token() (T, error) }) Source {
	return Func(func(ctx context.Context) (Token, error) {
		type answer struct {
			token T
			err   error
		}
		answers := make(chan answer, 1) // the source may answer after the call has ended
		go func() {
			t, err := source.Token()
			answers <- answer{t, err}
		}()
		select {
		case <-ctx.Done():
			return Token{}, context.Cause(ctx)
		case a := <-answers:
			if a.err != nil {
				return Token{}, a.err
			}
			r := &http.Request{Header: http.Header{}}
			a.token.SetAuthHeader(r)
			scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			if !strings.EqualFold(scheme, "Bearer") || value == "" {
				return Token{}, errors.New("the source returned no bearer token")
			}
			return Token{Value: value}, nil
		}
	})
}
