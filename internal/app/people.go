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
	if c.OIDCIssuer == "" {
		if c.OIDCClientID != "" || c.OIDCSecretFile != "" || len(c.OIDCDomains)+len(c.OIDCGroups)+len(c.OIDCRoles) > 0 {
			return shoal.E(op, shoal.InvalidArgument, "--oidc-issuer is missing: name the OpenID provider, or leave its other settings out.")
		}
		return nil
	}
	u, err := url.Parse(c.OIDCIssuer)
	switch {
	case err != nil || u.Scheme != "https" && (u.Scheme != "http" || !Loopback(u.Hostname())) || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return shoal.E(op, shoal.InvalidArgument, fmt.Sprintf("--oidc-issuer %s is not an https:// URL as the OpenID provider writes it in its configuration.", c.OIDCIssuer))
	case c.OIDCClientID == "":
		return shoal.E(op, shoal.InvalidArgument, "--oidc-client-id is missing: register this server at the OpenID provider as a client that is a web application, and set the id that it gets there.")
	case len(c.OIDCDomains)+len(c.OIDCGroups) == 0:
		return shoal.E(op, shoal.InvalidArgument, "Who may sign in? Set --oidc-domain to the domain of their e-mail addresses, or --oidc-group to their group; --oidc-domain '*' admits every account of the provider.")
	case c.open():
		return shoal.E(op, shoal.InvalidArgument, "--auth off and --oidc-issuer contradict each other: with the one nobody signs in.")
	}
	if err := shoal.CheckID("--oidc-session", c.OIDCSession); err != nil {
		return err
	}
	for _, space := range c.OIDCSpaces {
		if err := shoal.CheckID("--oidc-space", space); err != nil {
			return err
		}
	}
	_, err = c.groupRoles()
	return err
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
	roles, err := c.groupRoles()
	if err != nil {
		return err
	}
	o := oidc.Options{
		People: s.Hub.Entities, Browsers: s.auth, Pages: s.guard, Log: c.Log,
		Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, Secret: secret, Name: c.OIDCName, PublicURL: c.PublicURL,
		Session: shoal.SessionID(c.OIDCSession), Domains: c.OIDCDomains, Groups: c.OIDCGroups, GroupsClaim: c.OIDCGroupsClaim, Roles: roles, Scopes: c.OIDCScopes,
	}
	for _, space := range c.OIDCSpaces {
		o.Spaces = append(o.Spaces, shoal.SpaceID(space))
	}
	if s.provider, err = oidc.New(o); err != nil {
		return err
	}
	s.provider.Check(ctx)
	return nil
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
