package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/oidc"
)

// secretVariable holds the client secret for the OpenID provider.
const secretVariable = "SHOAL_OIDC_CLIENT_SECRET"

// checkPeople returns an error if the settings for the sign-in of people are incomplete or contradict
// each other, and makes the public address an origin of the server's own.
func (c *Config) checkPeople() error {
	const op = "app.Config"
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--public-url %s is not an origin, such as https://shoal.example.com.", c.PublicURL))
		}
		if c.PublicURL = u.Scheme + "://" + strings.ToLower(u.Host); !slices.Contains(c.AllowOrigins, c.PublicURL) {
			c.AllowOrigins = append(slices.Clone(c.AllowOrigins), c.PublicURL)
		}
	}
	if c.JWTIssuer == "" && c.JWTAudience != "" {
		return shoal.E(op, shoal.InvalidArgument, "--jwt-issuer is missing: name the issuer of the tokens, or leave --jwt-audience out.")
	}
	if c.OIDCIssuer == "" && c.JWTIssuer == "" {
		if c.OIDCClientID != "" || c.OIDCSecretFile != "" || len(c.OIDCDomains)+len(c.OIDCGroups)+len(c.OIDCRoles) > 0 {
			return shoal.E(op, shoal.InvalidArgument, "--oidc-issuer is missing: name the OpenID provider, or leave its other settings out.")
		}
		return nil
	}
	switch {
	case c.OIDCIssuer != "" && !isIssuer(c.OIDCIssuer):
		return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--oidc-issuer %s is not an https:// URL as the OpenID provider writes it in its configuration.", c.OIDCIssuer))
	case c.JWTIssuer != "" && !isIssuer(c.JWTIssuer):
		return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--jwt-issuer %s is not an https:// URL as the issuer writes it in its tokens.", c.JWTIssuer))
	case c.OIDCIssuer != "" && c.OIDCClientID == "":
		return shoal.E(op, shoal.InvalidArgument, "--oidc-client-id is missing: register this server at the OpenID provider as a client that is a web application, and set the id that it gets there.")
	case c.JWTIssuer != "" && c.JWTAudience == "":
		return shoal.E(op, shoal.InvalidArgument, "--jwt-audience is missing: without it, tokens that the issuer has made for other servers would count here.")
	case c.JWTIssuer != "" && c.JWTIssuer == c.OIDCIssuer && c.JWTAudience == c.OIDCClientID:
		return shoal.E(op, shoal.InvalidArgument, "--jwt-audience and --oidc-client-id are the same: the ID token of every sign-in would be a key. Give the API a name of its own at the issuer.")
	case len(c.OIDCDomains)+len(c.OIDCGroups) == 0:
		return shoal.E(op, shoal.InvalidArgument, "Who may sign in? Set --oidc-domain to the domain of their e-mail addresses, or --oidc-group to their group; --oidc-domain '*' admits every account of the provider.")
	case c.open() && c.OIDCIssuer != "":
		return shoal.E(op, shoal.InvalidArgument, "--auth off and --oidc-issuer contradict each other: with the one nobody signs in.")
	case c.open():
		return shoal.E(op, shoal.InvalidArgument, "--auth off and --jwt-issuer contradict each other: with the one nobody is asked who they are.")
	}
	if err := shoal.CheckID("--oidc-session", c.OIDCSession); err != nil {
		return err
	}
	for _, space := range c.OIDCSpaces {
		if err := shoal.CheckID("--oidc-space", space); err != nil {
			return err
		}
	}
	_, err := c.groupRoles()
	return err
}

// isIssuer reports whether a text can be the issuer of tokens.
func isIssuer(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http" && Loopback(u.Hostname())) && u.Host != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
}

// groupRoles parses OIDCRoles.
func (c *Config) groupRoles() (out []oidc.GroupRole, _ error) {
	for _, text := range c.OIDCRoles {
		at := strings.LastIndexByte(text, '=')
		role := shoal.SessionRole(text[at+1:])
		if at < 1 || (shoal.NewEntity{ID: "x", SessionRole: role}).Validate() != nil || role == "" {
			return nil, shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("--oidc-role %s is not GROUP=ROLE with the role owner, admin, member, guest or auditor, such as shoal-admins=owner.", text))
		}
		out = append(out, oidc.GroupRole{Group: text[:at], Role: role})
	}
	return out, nil
}

// openProvider creates the sign-in of people with an OpenID provider, if there is one. A provider that
// does not answer is only reported.
func (s *Server) openProvider(ctx context.Context) error {
	c := s.config
	if s.tokens != nil {
		s.tokens.Check(ctx)
	}
	if c.OIDCIssuer == "" {
		return nil
	}
	secret := c.Keys(secretVariable)
	if c.OIDCSecretFile != "" {
		text, err := os.ReadFile(c.OIDCSecretFile)
		if err != nil {
			return shoal.E("app.Start", shoal.InvalidArgument, "--oidc-client-secret-file cannot be read: "+err.Error())
		}
		secret = strings.TrimSpace(string(text))
	}
	o, err := s.peopleOf(c.OIDCIssuer)
	if err != nil {
		return err
	}
	o.Browsers, o.Pages, o.ClientID, o.Secret, o.Name, o.PublicURL, o.Scopes = s.auth, s.guard, c.OIDCClientID, secret, c.OIDCName, c.PublicURL, c.OIDCScopes
	if s.provider, err = oidc.New(o); err != nil {
		return err
	}
	s.provider.Check(ctx)
	return nil
}

// peopleOf returns how the people of an issuer are admitted.
func (s *Server) peopleOf(issuer string) (o oidc.Options, err error) {
	c := s.config
	o = oidc.Options{
		People: s.Hub.Entities, Issuer: issuer, Log: c.Log,
		Session: shoal.SessionID(c.OIDCSession), Domains: c.OIDCDomains, Groups: c.OIDCGroups, GroupsClaim: c.OIDCGroupsClaim,
	}
	for _, space := range c.OIDCSpaces {
		o.Spaces = append(o.Spaces, shoal.SpaceID(space))
	}
	o.Roles, err = c.groupRoles()
	return o, err
}

// openTokens creates what recognises people by access tokens, if there is an issuer of some. An issuer that does
// not answer is only reported, later.
func (s *Server) openTokens() (auth.Tokens, error) {
	if s.config.JWTIssuer == "" {
		return nil, nil //nolint:nilnil // most servers have no issuer
	}
	o, err := s.peopleOf(s.config.JWTIssuer)
	if err == nil {
		s.tokens, err = oidc.NewTokens(o, s.config.JWTAudience)
	}
	return s.tokens, err
}

// signOutURL returns where the OpenID provider signs people out, see [oidc.Provider.LogoutURL].
func (s *Server) signOutURL(ctx context.Context, logoutToken, origin string) string {
	if s.provider == nil {
		return ""
	}
	return s.provider.LogoutURL(ctx, logoutToken, origin)
}

// providerHandler serves the sign-in with the OpenID provider, also for a server that has not got one.
func (s *Server) providerHandler() http.Handler {
	if s.provider == nil {
		return oidc.None()
	}
	return s.provider.Handler()
}
