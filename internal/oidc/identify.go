package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// leeway is how much earlier than this server's clock the provider's may be.
	leeway = time.Minute
	// ahead is how much later it may be.
	ahead = 5 * time.Minute
)

// claims are what the provider says about a person.
type claims map[string]any

func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return strings.TrimSpace(s)
}

// is reports whether a claim is true; some providers write it as a string.
func (c claims) is(name string) bool { return c[name] == true || c.text(name) == "true" }

// list returns the texts of a claim that is a list, or one text.
func (c claims) list(name string) (out []string) {
	switch v := c[name].(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// identify exchanges the code of a sign-in, and returns what the provider says about the person,
// with the ID token that proves it.
func (p *Provider) identify(ctx context.Context, a attempt, in finishing) (who claims, idToken string, err error) {
	m, err := p.discover(ctx)
	if err != nil {
		return nil, "", err
	}
	if in.Iss != "" && in.Iss != p.Issuer || in.Iss == "" && m.more.NamesItself {
		return nil, "", p.untrusted("the answer names the issuer "+in.Iss, nil)
	}
	ctx, cancel := context.WithTimeout(gooidc.ClientContext(ctx, p.client), patience)
	defer cancel()
	conf := p.oauth(m, a.Redirect)
	token, err := conf.Exchange(ctx, in.Code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return nil, "", p.exchangeFailed(err)
	}
	idToken, ok := token.Extra("id_token").(string)
	if !ok || idToken == "" {
		return nil, "", p.untrusted("it contains no ID token", nil)
	}
	proved, err := m.verifier.Verify(ctx, idToken)
	if err != nil {
		return nil, "", p.notVerified(err)
	}
	if err := proved.Claims(&who); err != nil {
		return nil, "", p.untrusted("its claims cannot be read", err)
	}
	if err := p.forThisSignIn(proved, who, a); err != nil {
		return nil, "", err
	}
	if proved.AccessTokenHash != "" {
		if err := proved.VerifyAccessToken(token.AccessToken); err != nil {
			return nil, "", p.untrusted("its access token belongs to another ID token", err)
		}
	}
	return who, idToken, p.complete(ctx, m, conf.TokenSource(ctx, token), proved.Subject, who)
}

// forThisSignIn checks what the verifier does not: the nonce, the party, the subject, and a clock that is ahead.
func (p *Provider) forThisSignIn(proved *gooidc.IDToken, who claims, a attempt) error {
	switch azp := who.text("azp"); {
	case subtle.ConstantTimeCompare([]byte(proved.Nonce), []byte(a.Nonce)) != 1:
		return p.untrusted("its nonce is that of another sign-in", nil)
	case azp != "" && azp != p.ClientID, azp == "" && len(proved.Audience) > 1:
		return p.untrusted("it was made for another client", nil)
	case proved.Subject == "":
		return p.untrusted("it names no subject", nil)
	case proved.IssuedAt.After(time.Now().Add(ahead)):
		return p.skewed("was issued in the future, at " + proved.IssuedAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// complete adds what the ID token leaves out and the provider says when it is asked.
func (p *Provider) complete(ctx context.Context, m *metadata, source oauth2.TokenSource, subject string, who claims) error {
	wanted := []string{"name", "email", "email_verified"}
	if len(p.Groups)+len(p.Roles) > 0 {
		wanted = append(wanted, p.GroupsClaim)
	}
	missing := false
	for _, name := range wanted {
		_, has := who[name]
		missing = missing || !has
	}
	if !missing || m.provider.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := m.provider.UserInfo(ctx, source)
	if err != nil {
		return p.unreachable(err)
	}
	var more claims
	if err := info.Claims(&more); err != nil || info.Subject != subject {
		return p.untrusted("it is about two people", err)
	}
	// An address and whether it is verified belong together, so they come from one source.
	if _, has := who["email"]; !has {
		delete(who, "email_verified")
	}
	for _, name := range append(wanted, "preferred_username") {
		if _, has := who[name]; !has && (name != "email_verified" || who["email"] == more["email"]) {
			if v, said := more[name]; said {
				who[name] = v
			}
		}
	}
	return nil
}

// exchangeFailed explains why the provider gives nothing for a code.
func (p *Provider) exchangeFailed(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.Response != nil && refused.Response.StatusCode >= 500 {
		return p.unreachable(err)
	}
	switch refused.ErrorCode {
	case "invalid_grant":
		return stale("The code of "+p.Name+" was used already, has expired, or belongs to another redirect URI.", err)
	case "invalid_client", "unauthorized_client":
		return p.misconfigured("does not accept this server's client id or secret", "Check --oidc-client-id and the client secret.", err)
	}
	return p.misconfigured("refuses to give an ID token ("+short(refused.ErrorCode)+")", "Check how the client is registered there: authorization code flow, and the redirect URI of the console.", err)
}

// notVerified explains an ID token that proves nothing.
func (p *Provider) notVerified(err error) error {
	var expired *gooidc.TokenExpiredError
	if errors.As(err, &expired) {
		return p.skewed("expired at " + expired.Expiry.UTC().Format(time.RFC3339))
	}
	if strings.Contains(err.Error(), "nbf") {
		return p.skewed("is not valid yet")
	}
	if strings.Contains(err.Error(), "fetching keys") {
		return p.unreachable(err)
	}
	return p.untrusted("its ID token does not have the issuer, the audience or the signature that it must have", err)
}
