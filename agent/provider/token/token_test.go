package token_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/agent/provider/token"
)

// counted returns a source whose nth token is "n" and lives as long as life says.
func counted(calls *int, life time.Duration) token.Source {
	return token.Func(func(context.Context) (token.Token, error) {
		*calls++
		return token.Token{Value: fmt.Sprint(*calls), Expires: time.Now().Add(life)}, nil
	})
}

// A token is kept until shortly before it expires.
func TestTokensAreReplacedBeforeTheyExpire(t *testing.T) {
	for _, c := range []struct{ life, kept, replaced time.Duration }{
		{time.Hour, 57*time.Minute - time.Second, 57 * time.Minute},
		{10 * time.Minute, 9*time.Minute - time.Second, 9 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			cache := token.NewCache(token.NewCache(counted(&calls, c.life)))
			for _, step := range []struct {
				wait time.Duration
				want string
			}{{0, "1"}, {c.kept, "1"}, {c.replaced - c.kept, "2"}, {0, "2"}} {
				<-time.After(step.wait)
				if got, err := cache.Token(t.Context()); err != nil || got.Value != step.want {
					t.Errorf("life %v, after %v more: %q, %v, want %s", c.life, step.wait, got.Value, err, step.want)
				}
			}
		})
	}
}

// A token that says nothing about its end is used once.
func TestTokenWithoutAnEnd(t *testing.T) {
	calls := 0
	cache := token.NewCache(token.Func(func(context.Context) (token.Token, error) {
		calls++
		return token.Token{Value: "v"}, nil
	}))
	for range 2 {
		if _, err := cache.Token(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 2 {
		t.Errorf("the source was asked %d times, want 2", calls)
	}
}

// A failure of the source does not count as long as the token is valid.
func TestAFailedRefreshOfAValidToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("the source is down")
		calls := 0
		good := counted(&calls, time.Hour)
		cache := token.NewCache(token.Func(func(ctx context.Context) (token.Token, error) {
			if calls > 0 {
				return token.Token{}, down
			}
			return good.Token(ctx)
		}))
		for _, step := range []struct {
			wait time.Duration
			want string
			err  error
		}{{0, "1", nil}, {59 * time.Minute, "1", nil}, {2 * time.Minute, "", down}} {
			<-time.After(step.wait)
			if got, err := cache.Key(t.Context(), false); got != step.want || !errors.Is(err, step.err) {
				t.Errorf("after %v more: %q, %v, want %q, %v", step.wait, got, err, step.want, step.err)
			}
		}
	})
}

// Many calls whose token is refused at the same time ask the source once.
func TestRefusedTokenIsReplacedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		cache := token.NewCache(counted(&calls, time.Hour))
		if _, err := cache.Key(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got, err := cache.Key(t.Context(), true); got != "2" || err != nil {
					t.Errorf("%q, %v, want the second token", got, err)
				}
			})
		}
		wg.Wait()
	})
}

// A call that waits for the token of another call returns when its own context ends, and the
// other call gets its token.
func TestWaitingForATokenEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := token.NewCache(token.Func(func(context.Context) (token.Token, error) {
			<-time.After(time.Minute)
			return token.Token{Value: "late", Expires: time.Now().Add(time.Hour)}, nil
		}))
		first := make(chan string)
		go func() {
			got, err := cache.Key(context.Background(), false)
			first <- fmt.Sprint(got, err)
		}()
		synctest.Wait()
		because := errors.New("somebody said stop")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, because)
		defer cancel()
		if _, err := cache.Key(ctx, false); !errors.Is(err, because) {
			t.Errorf("error %v, want the cause of the context", err)
		}
		if got := <-first; got != "late<nil>" {
			t.Errorf("the other call got %s", got)
		}
	})
}

// header is a token of golang.org/x/oauth2 in miniature.
type header struct{ value string }

func (h *header) SetAuthHeader(r *http.Request) { r.Header.Set("Authorization", h.value) }

type headers func() (*header, error)

func (f headers) Token() (*header, error) { return f() }

func TestOAuth2(t *testing.T) {
	down := errors.New("down")
	for _, c := range []struct {
		value string
		err   error
		want  string
	}{{"Bearer abc", nil, "abc"}, {"bearer abc", nil, "abc"}, {"Basic abc", nil, ""}, {"", nil, ""}, {"", down, ""}} {
		got, err := token.OAuth2(headers(func() (*header, error) { return &header{c.value}, c.err })).Token(t.Context())
		if got.Value != c.want || (err == nil) != (c.want != "") || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%q, %v: %q, %v", c.value, c.err, got.Value, err)
		}
	}
	hang := make(chan struct{})
	defer close(hang)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := token.OAuth2(headers(func() (*header, error) { <-hang; return nil, down })).Token(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled call: %v", err)
	}
}
