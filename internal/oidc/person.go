package oidc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/access"
)

// admit returns the person that claims describe, created at the first sign-in, if such people may
// sign in. byToken says that the claims are of an access token.
func (p *Provider) admit(ctx context.Context, who claims, byToken bool) (person shoal.Entity, created bool, err error) {
	if err := p.mayEnter(who); err != nil {
		return person, false, err
	}
	return p.People.EnsurePerson(ctx, p.Session, access.Person{
		ExternalID: externalID(p.Issuer, who.text("sub")), Names: names(who), Role: p.roleOf(who), Spaces: p.Spaces, ByToken: byToken,
	})
}

// externalID names a person at all providers.
func externalID(issuer, subject string) string {
	id := issuer + "|" + subject
	if len(id) <= shoal.MaxName {
		return id
	}
	sum := sha256.Sum256([]byte(subject))
	return issuer + "|sha256-" + hex.EncodeToString(sum[:])
}

// names are how a person may be called, the best first.
func names(who claims) []string {
	local, _, _ := strings.Cut(who.text("email"), "@")
	return []string{who.text("name"), who.text("preferred_username"), local}
}

// mayEnter checks the e-mail address and the groups of a person against those that are allowed.
func (p *Provider) mayEnter(who claims) error {
	groups := who.list(p.GroupsClaim)
	if slices.Contains(p.Domains, "*") || slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(groups, g) }) {
		return nil
	}
	address := who.text("email")
	at := strings.LastIndexByte(address, '@')
	allowed := slices.ContainsFunc(p.Domains, func(d string) bool { return at > 0 && strings.EqualFold(d, address[at+1:]) })
	switch {
	case allowed && who.is("email_verified"):
		return nil
	case allowed:
		return refused("Your e-mail address " + short(address) + " is not verified at " + p.Name + ". Verify it there and sign in again, or ask the operator of this server.")
	case len(p.Domains) == 0:
		return refused("Your account at " + p.Name + " is in none of the groups that may sign in to this server. Ask its operator.")
	case address == "":
		return refused(p.Name + " does not say what your e-mail address is, so this server cannot check its domain. Ask its operator.")
	}
	return refused("Your account " + short(address) + " may not sign in to this server: its domain is not among those that are allowed. Sign in with another account, or ask the operator.")
}

// roleOf is the session role that the provider's claims give a person. It is empty where no claim
// is mapped: then the person keeps the role that the session has given. This is the only place
// where a claim becomes a right.
func (p *Provider) roleOf(who claims) shoal.SessionRole {
	if len(p.Roles) == 0 {
		return ""
	}
	groups := who.list(p.GroupsClaim)
	for _, r := range p.Roles {
		if slices.Contains(groups, r.Group) {
			return r.Role
		}
	}
	return shoal.SessionMember
}
