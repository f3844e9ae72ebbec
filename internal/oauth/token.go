package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/access"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// refreshPrefix begins refresh tokens. One is a part that all of a grant have in common, a dot, and a
// part of its own.
const refreshPrefix = "shoal-refresh_"

const (
	minVerifier = 43
	maxVerifier = 128
)

// tokens is the answer of the token endpoint.
type tokens struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"`
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope,omitempty"`
}

// form returns the parameters of a request, each of which is given once.
func form(r *http.Request) (url.Values, error) {
	in, err := url.ParseQuery(string(guard.Body(r)))
	if err != nil || strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil, refuse(badRequest, "Send the parameters as application/x-www-form-urlencoded.")
	}
	for name, values := range in {
		if len(values) > 1 {
			return nil, refuse(badRequest, name+" is given more than once.")
		}
	}
	return in, nil
}

// token is the token endpoint.
func (s *Server) token(r *http.Request) (int, any, error) {
	in, err := form(r)
	if err != nil {
		return 0, nil, err
	}
	if in.Get("client_id") == "" {
		return 0, nil, refuse(badRequest, "client_id is missing.")
	}
	if _, err := s.Grants.Client(r.Context(), in.Get("client_id")); err != nil {
		return 0, nil, unknownClient(err)
	}
	resource := ""
	if in.Get("resource") != "" {
		var ours bool
		if resource, ours = resourceOf(s.issuer(r), in.Get("resource")); !ours {
			return 0, nil, wrongResource(s.issuer(r))
		}
	}
	switch in.Get("grant_type") {
	case "authorization_code":
		return s.redeem(r, in, resource)
	case "refresh_token":
		return s.refresh(r, in, resource)
	}
	return 0, nil, refuse("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.")
}

func (s *Server) redeem(r *http.Request, in url.Values, resource string) (int, any, error) {
	verifier := in.Get("code_verifier")
	if len(verifier) < minVerifier || len(verifier) > maxVerifier {
		return 0, nil, refuse(badRequest, "code_verifier must have between 43 and 128 characters.")
	}
	sum := sha256.Sum256([]byte(verifier))
	token, family, own := "", auth.NewToken(""), auth.NewToken("")
	key, err := s.Grants.Redeem(r.Context(), access.Redemption{
		CodeHash: auth.Hash(in.Get("code")), FamilyHash: auth.Hash(family), ClientID: in.Get("client_id"), RedirectURI: in.Get("redirect_uri"),
		Challenge: base64.RawURLEncoding.EncodeToString(sum[:]), Resource: resource,
		New: access.NewTokens{Access: newToken(&token), Refresh: auth.Hash(own)},
	})
	return answer(key, token, family, own, err)
}

// newToken returns a function that makes an access token for a resource, keeps it in token, and returns
// its hash.
func newToken(token *string) func(resource string) string {
	return func(resource string) string {
		if *token = auth.NewAccessToken(); isAPI(resource) {
			*token = auth.NewLoginToken()
		}
		return auth.Hash(*token)
	}
}

func (s *Server) refresh(r *http.Request, in url.Values, resource string) (int, any, error) {
	family, used, valid := splitRefresh(in.Get("refresh_token"))
	if !valid {
		return 0, nil, refuse(badGrant, "The refresh token is not one of this server.")
	}
	token, own := "", auth.NewToken("")
	key, err := s.Grants.Refresh(r.Context(), access.Refreshing{
		FamilyHash: auth.Hash(family), RefreshHash: auth.Hash(used), ClientID: in.Get("client_id"), Resource: resource,
		New: access.NewTokens{Access: newToken(&token), Refresh: auth.Hash(own)},
	})
	return answer(key, token, family, own, err)
}

func splitRefresh(token string) (family, own string, valid bool) {
	rest, ours := strings.CutPrefix(token, refreshPrefix)
	family, own, cut := strings.Cut(rest, ".")
	return family, own, ours && cut
}

// answer is the answer with new tokens, of which only hashes are stored.
func answer(key shoal.Key, accessToken, family, own string, err error) (int, any, error) {
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, tokens{accessToken, "Bearer", int(time.Until(key.ExpiresAt.Time).Round(time.Second) / time.Second), refreshPrefix + family + "." + own, scopes.Text(key.Scopes)}, nil
}

// revoke is the revocation endpoint (RFC 7009). It says nothing about tokens that it does not know.
func (s *Server) revoke(r *http.Request) (int, any, error) {
	in, err := form(r)
	if err != nil {
		return 0, nil, err
	}
	token := in.Get("token")
	if token == "" || in.Get("client_id") == "" {
		return 0, nil, refuse(badRequest, "token or client_id is missing.")
	}
	if family, _, refresh := splitRefresh(token); refresh {
		token = family
	}
	return http.StatusOK, struct{}{}, s.Grants.Revoke(r.Context(), in.Get("client_id"), auth.Hash(token))
}
