package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

const (
	// patience bounds each request to a server, maxAnswer its answer.
	patience  = 15 * time.Second
	maxAnswer = 1 << 20
)

// Server is a Shoal server that signs programs in.
type Server struct {
	http     *http.Client
	url      string
	metadata struct {
		Issuer    string `json:"issuer"`
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
		Register  string `json:"registration_endpoint"`
		Revoke    string `json:"revocation_endpoint"`
	}
}

// Origin returns the origin of the URL of a server, under which its account is kept.
func Origin(text string) (string, error) {
	u, err := url.Parse(text)
	if err == nil && u.Scheme == "" && !strings.Contains(text, "://") {
		u, err = url.Parse("https://" + text)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", shoal.E("", shoal.InvalidArgument, fmt.Sprintf("%q is not the address of a server, such as https://shoal.example.com", text))
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// reaching returns the client that reaches a server.
func reaching(h *http.Client) *http.Client {
	if h == nil {
		return &http.Client{}
	}
	return h
}

// Discover asks a server how it signs programs in; h reaches it, nil in the usual way. It fails with
// client.ErrUnreachable without an answer, and with NotFound, and what to do, for a server that does not
// sign programs in.
func Discover(ctx context.Context, h *http.Client, at string) (*Server, error) {
	s := &Server{http: reaching(h), url: at}
	var resource struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	status, err := s.get(ctx, at+"/.well-known/oauth-protected-resource/v1", &resource)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK || resource.Resource == "" {
		return nil, s.signsNobodyIn(ctx)
	}
	if public, ours := strings.CutSuffix(resource.Resource, "/v1"); !ours || public != at {
		return nil, shoal.E("", shoal.InvalidArgument, fmt.Sprintf("the server at %s says that its address is %s: `shoal login %s`", at, public, public))
	}
	status, err = s.get(ctx, at+"/.well-known/oauth-authorization-server", &s.metadata)
	if err != nil {
		return nil, err
	}
	m := &s.metadata
	for _, endpoint := range []string{m.Authorize, m.Token, m.Register, m.Revoke} {
		if status != http.StatusOK || m.Issuer != at || !strings.HasPrefix(endpoint, at+"/") {
			return nil, s.strange(status)
		}
	}
	return s, nil
}

// signsNobodyIn finds out why a server does not say how it signs programs in.
func (s *Server) signsNobodyIn(ctx context.Context) error {
	c, err := client.New(client.Options{URL: s.url, HTTP: s.http, RetryFor: -1})
	if err != nil {
		return err
	}
	_, err = c.Me(ctx)
	switch {
	case err == nil:
		return shoal.E("", shoal.NotFound, fmt.Sprintf("the server at %s runs with --auth off and signs nobody in: use it without signing in, with --url %s", s.url, s.url))
	case errors.Is(err, shoal.Unauthenticated):
		return shoal.E("", shoal.NotFound, fmt.Sprintf("the server at %s is of a version that does not sign in the command line: use a key, with --key or SHOAL_KEY, or ask its operator to upgrade", s.url))
	}
	return err
}

func (s *Server) strange(status int) error {
	return shoal.E("", shoal.Internal, fmt.Sprintf("the server at %s (status %d) does not answer as a Shoal server must", s.url, status))
}

func (s *Server) get(ctx context.Context, at string, out any) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return 0, err
	}
	return s.do(r, out)
}

// post sends a form, or JSON.
func (s *Server) post(ctx context.Context, at, kind string, body io.Reader, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	var answer struct {
		Code   string `json:"error"`
		About  string `json:"error_description"`
		Detail string `json:"detail"` // of an error that is not one of OAuth
	}
	var raw json.RawMessage
	status, err := s.do(r, &raw)
	if err != nil {
		return err
	}
	if status/100 == 2 {
		if len(raw) == 0 || json.Unmarshal(raw, out) != nil {
			return s.strange(status)
		}
		return nil
	}
	_ = json.Unmarshal(raw, &answer) // an answer in another form has no reason
	switch {
	case answer.Code == "invalid_grant":
		return shoal.E("", shoal.Unauthenticated, answer.About)
	case answer.About+answer.Detail != "":
		return shoal.E("", shoal.Forbidden, fmt.Sprintf("%s answers: %s", s.url, answer.About+answer.Detail))
	}
	return s.strange(status)
}

// do makes a request, and decodes the answer if it is JSON.
func (s *Server) do(r *http.Request, out any) (int, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	answer, err := s.http.Do(r.WithContext(ctx))
	if err != nil {
		var request *url.Error // which repeats the URL
		if errors.As(err, &request) {
			err = request.Err
		}
		if cause := context.Cause(r.Context()); cause != nil {
			return 0, cause
		}
		return 0, &shoal.Error{Kind: client.ErrUnreachable, Err: err, Msg: fmt.Sprintf("no server answers at %s (%v)", s.url, err)}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err == nil {
		_ = json.Unmarshal(text, out) // the caller checks what it got
	}
	return answer.StatusCode, err
}

// Attempt is a sign-in that has begun.
type Attempt struct {
	// URL is the address that the person opens in a browser.
	URL      string
	server   *Server
	clientID string
	redirect string
	state    string
	verifier string
}

// Begin begins a sign-in: it registers this program under a name. The browser returns to the listener on
// this machine; without one, with nil, the server shows the person a code.
func (s *Server) Begin(ctx context.Context, name string, back net.Listener) (*Attempt, error) {
	a := &Attempt{server: s, redirect: s.url + "/oauth/code", state: rand.Text(), verifier: rand.Text() + rand.Text()}
	if back != nil {
		a.redirect = "http://" + back.Addr().String() + callback
	}
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{"http://127.0.0.1" + callback}, "token_endpoint_auth_method": "none"})
	if err != nil {
		return nil, err
	}
	var made struct {
		ID string `json:"client_id"`
	}
	if err := s.post(ctx, s.metadata.Register, "application/json", strings.NewReader(string(body)), &made); err != nil {
		return nil, err
	}
	a.clientID = made.ID
	sum := sha256.Sum256([]byte(a.verifier))
	a.URL = s.metadata.Authorize + "?" + url.Values{
		"response_type": {"code"}, "client_id": {a.clientID}, "redirect_uri": {a.redirect}, "state": {a.state}, "resource": {s.resource()},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
	return a, nil
}

// resource is the API, with all that a person may do.
func (s *Server) resource() string { return s.url + "/v1" }

// Finish exchanges a code for tokens, and returns the account that they are for. It fails with Unauthenticated
// for a code that has expired, or was used.
func (a *Attempt) Finish(ctx context.Context, code string) (Account, Tokens, error) {
	t, err := a.server.tokens(ctx, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {a.clientID}, "code": {code}, "redirect_uri": {a.redirect}, "code_verifier": {a.verifier},
	})
	if err != nil {
		if errors.Is(err, shoal.Unauthenticated) {
			err = shoal.E("", shoal.Unauthenticated, "the code does not count: it works once, for two minutes, for the sign-in that asked for it. Start again with `shoal login "+a.server.url+"`")
		}
		return Account{}, t, err
	}
	c, err := client.New(client.Options{URL: a.server.url, HTTP: a.server.http, Key: t.Access, RetryFor: -1})
	if err != nil {
		return Account{}, t, err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return Account{}, t, err
	}
	out := Account{URL: a.server.url, ClientID: a.clientID}
	if me.SessionID != nil && me.EntityID != nil {
		out.Session, out.Entity = *me.SessionID, *me.EntityID
	}
	return out, t, nil
}

// tokens asks for tokens.
func (s *Server) tokens(ctx context.Context, form url.Values) (t Tokens, err error) {
	form.Set("resource", s.resource())
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Expires int    `json:"expires_in"`
	}
	at := time.Now()
	if err := s.post(ctx, s.url+"/oauth/token", formType, strings.NewReader(form.Encode()), &got); err != nil {
		return t, err
	}
	if got.Access == "" || got.Refresh == "" || got.Expires <= 0 {
		return t, s.strange(http.StatusOK)
	}
	return Tokens{got.Access, got.Refresh, at.Add(time.Duration(got.Expires) * time.Second)}, nil
}

const formType = "application/x-www-form-urlencoded"

// Revoke ends an account at its server, with everything that is open with it; h is that of Discover.
func Revoke(ctx context.Context, h *http.Client, a Account, t Tokens) error {
	s := &Server{http: reaching(h), url: a.URL}
	var nothing struct{}
	return s.post(ctx, a.URL+"/oauth/revoke", formType, strings.NewReader(url.Values{"client_id": {a.ClientID}, "token": {t.Refresh}}.Encode()), &nothing)
}
