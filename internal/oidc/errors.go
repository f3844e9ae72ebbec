package oidc

import (
	"errors"
	"strings"

	"github.com/shoal-dev/shoal"
)

// maxShown bounds what is shown of a text of others.
const maxShown = 200

// short makes a text of others fit to be shown in a sentence.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '�' {
			return -1
		}
		return r
	}, text)
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// cause is an error as it is logged, with what its message for people leaves out.
func cause(err error) string {
	if inner := errors.Unwrap(err); inner != nil && shoal.KindOf(inner) == shoal.Internal {
		return err.Error() + ": " + inner.Error()
	}
	return err.Error()
}

func stale(why string, err error) error {
	return &shoal.Error{Op: "oidc.finish", Kind: shoal.Unauthenticated, Err: err, Msg: why + " Sign in again."}
}

func refused(msg string) error { return shoal.E("oidc.admit", shoal.Forbidden, msg) }

func notOwnPage() error {
	return shoal.E("oidc", shoal.Forbidden, "Only a page of the console signs in. Open the console.")
}

func (p *Provider) unreachable(err error) error {
	return &shoal.Error{Op: "oidc", Kind: shoal.Busy, Err: err, RetryAfter: pause, Msg: p.Name + " cannot be reached from this server, or does not answer as an OpenID provider must. Try again in a moment, or sign in with a key."}
}

func (p *Provider) misconfigured(what, remedy string, err error) error {
	return &shoal.Error{Op: "oidc", Kind: shoal.Forbidden, Err: err, Msg: p.Name + " " + what + ". For the operator of this server: " + remedy}
}

func (p *Provider) untrusted(why string, err error) error {
	return &shoal.Error{Op: "oidc", Kind: shoal.Unauthenticated, Err: err, Msg: "The answer of " + p.Name + " is not valid: " + short(why) + ". Sign in again; if it happens again, ask the operator of this server."}
}

func (p *Provider) skewed(how string) error {
	return shoal.E("oidc", shoal.Unauthenticated, "The ID token of "+p.Name+" "+how+". The clocks of this server and the provider differ: its operator has to set them.")
}

// refusedBy explains an error that the provider sends instead of a code.
func (p *Provider) refusedBy(code, about string) error {
	switch code {
	case "access_denied":
		return refused("The sign-in at " + p.Name + " was cancelled, or your account may not use this server. Sign in again, or ask the operator.")
	case "temporarily_unavailable", "server_error":
		return p.unreachable(errors.New(short(code + ": " + about)))
	}
	return p.misconfigured("refuses the sign-in ("+short(code)+")", "Check how the client is registered there, and --oidc-scope.", errors.New(short(about)))
}
