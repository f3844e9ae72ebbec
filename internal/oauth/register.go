package oauth

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/naming"
)

const (
	maxRedirects = 10
	// nameless is the name of a client that gives none that can be shown.
	nameless = "Unnamed program"
	// maxClientName bounds a name, so that the rest of the page is seen.
	maxClientName = 60
)

// registration is what a client says when it registers (RFC 7591). Other members are ignored.
type registration struct {
	RedirectURIs []string `json:"redirect_uris"`
	Name         string   `json:"client_name"`
	Grants       []string `json:"grant_types"`
	Responses    []string `json:"response_types"`
}

// registration returns the client as it was registered. All clients are public: no program of a person
// keeps a secret from that person.
type registeredClient struct {
	ID           string   `json:"client_id"`
	At           int64    `json:"client_id_issued_at"`
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	Grants       []string `json:"grant_types"`
	Responses    []string `json:"response_types"`
	Method       string   `json:"token_endpoint_auth_method"`
}

// register is the registration endpoint.
func (s *Server) register(r *http.Request) (int, any, error) {
	var in registration
	if err := json.Unmarshal(guard.Body(r), &in); err != nil {
		return 0, nil, refuse(badMetadata, "Send the metadata of the client as JSON, such as {\"client_name\": \"My agent\", \"redirect_uris\": [\"http://127.0.0.1/callback\"]}.")
	}
	if len(in.RedirectURIs) == 0 || len(in.RedirectURIs) > maxRedirects {
		return 0, nil, refuse(badRedirect, "redirect_uris must list between 1 and 10 URIs.")
	}
	uris, hosts := validRedirects(in.RedirectURIs)
	if len(uris) < len(in.RedirectURIs) {
		return 0, nil, refuse(badRedirect, "A redirect URI must be "+redirectRule+".")
	}
	if !in.usesCodes() {
		return 0, nil, refuse(badMetadata, "This server offers the grant type authorization_code with the response type code only.")
	}
	if wait := s.registrations.Take(s.Auth.Address(r)); wait > 0 {
		return 0, nil, &shoal.Error{Op: "oauth.register", Kind: shoal.RateLimited, RetryAfter: wait, Msg: "Too many clients have registered from your address. Try again in a minute."}
	}
	made, err := s.Grants.Register(r.Context(), cleanName(in.Name), in.RedirectURIs, hosts)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, registeredClient{
		made.ID, made.CreatedAt.Unix(), made.Name, made.RedirectURIs, []string{"authorization_code", "refresh_token"}, []string{"code"}, "none",
	}, nil
}

// usesCodes reports whether a client wants what this server offers. What it does not say is that.
func (r *registration) usesCodes() bool {
	return (len(r.Grants) == 0 || slices.Contains(r.Grants, "authorization_code")) && (len(r.Responses) == 0 || slices.Contains(r.Responses, "code"))
}

// cleanName makes a name that a client gives itself fit to be shown to people.
func cleanName(name string) string {
	name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "")), " ")
	if runes := []rune(name); len(runes) > maxClientName {
		name = strings.TrimSpace(string(runes[:maxClientName-1])) + "…"
	}
	if name == "" || naming.CheckReserved("client_name", name) != nil {
		return nameless
	}
	return name
}
