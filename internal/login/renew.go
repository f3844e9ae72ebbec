package login

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// early is how long before its end a token is renewed.
const early = 10 * time.Minute

// Session uses an account. It is safe for concurrent use.
type Session struct {
	Account
	store *Store
	http  *http.Client

	mu     sync.Mutex
	tokens Tokens
	first  string // the access token that Key has returned
}

// Session returns a Session of an account of the store. h reaches the server of the account, nil in the
// usual way. It fails with Unauthenticated if the keychain does not return the tokens.
func (s *Store) Session(ctx context.Context, a Account, h *http.Client) (*Session, error) {
	t, err := s.Tokens(ctx, a)
	if err != nil {
		return nil, err
	}
	return &Session{Account: a, store: s, http: reaching(h), tokens: t, first: t.Access}, nil
}

// Key returns an access token. Requests with it that go through Client get the newest one instead.
func (s *Session) Key() string { return s.first }

// renew replaces the token used, if it is still the newest one and ends soon: by one that another process has got
// meanwhile, or by a new one. Where none is to be had the old one stays; the server then says what is wrong with it.
func (s *Session) renew(ctx context.Context, used string) (access string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens.Access != used || time.Until(s.tokens.Ends) > early {
		return s.tokens.Access
	}
	// A refresh token works once: an answer that was not kept would end the sign-in.
	ctx = context.WithoutCancel(ctx)
	_ = s.store.change(ctx, func(c *contents) error {
		kept := c.find(s.URL)
		if kept == nil || kept.ClientID != s.ClientID {
			return errors.New("it was signed out, or in again")
		}
		newest, err := s.store.Tokens(ctx, *kept)
		if err != nil {
			return err
		}
		if newest.Access != used {
			s.tokens = newest
			return errors.New("another process has renewed it")
		}
		server := &Server{http: s.http, url: s.URL}
		t, err := server.tokens(ctx, url.Values{"grant_type": {"refresh_token"}, "client_id": {s.ClientID}, "refresh_token": {newest.Refresh}})
		if errors.Is(err, shoal.Unauthenticated) {
			s.tokens.Ends = time.Now().Add(24 * time.Hour) // it is not asked again
		}
		if err != nil {
			return err
		}
		s.tokens = t
		kept.keep(ctx, s.store.keys, t)
		return nil
	})
	return s.tokens.Access
}

// Keep renews the token before it ends, as long as ctx lasts: what is open with it stays open. It returns
// when ctx has ended.
func (s *Session) Keep(ctx context.Context) {
	for {
		s.mu.Lock()
		access, wait := s.tokens.Access, max(time.Until(s.tokens.Ends)-early, time.Minute)
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			s.renew(ctx, access)
		}
	}
}

// Client returns a client like base, nil for the usual one, that sends the newest token in place of the one that
// Key has returned. Other requests pass unchanged.
func (s *Session) Client(base *http.Client) *http.Client {
	out := *reaching(base)
	if out.Transport == nil {
		out.Transport = http.DefaultTransport
	}
	out.Transport = &renewing{out.Transport, s}
	return &out
}

type renewing struct {
	base    http.RoundTripper
	session *Session
}

// RoundTrip implements [http.RoundTripper].
func (t *renewing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") != "Bearer "+t.session.first {
		return t.base.RoundTrip(r)
	}
	t.session.mu.Lock()
	access := t.session.tokens.Access
	t.session.mu.Unlock()
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.session.renew(r.Context(), access))
	return t.base.RoundTrip(r)
}
