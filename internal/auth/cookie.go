package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub/access"
)

const (
	// signedIn is how long a browser stays signed in at most.
	signedIn = 30 * 24 * time.Hour
	// secureCookie is the cookie's name over TLS. Browsers take a cookie of such a
	// name from the host itself only, and send it to nobody else.
	secureCookie = "__Host-shoal"
	// signInPrefix begins the secrets of keys that a sign-in has made, and no
	// others: those end when the browser signs out, and are refused as Bearer.
	signInPrefix = "shoal-console_"
	// halfHeader carries the half of a sign-in that is not in the cookie.
	halfHeader = "X-Shoal-Sign-In"
)

// half is the half of a sign-in that the pages of the server keep where no other origin
// reads it. A cookie goes to every port of its host; alone it is of no use there.
type half string

func newHalf() half { return half(randomText()) }

// whole is the secret of a sign-in. The half of a request that sends none is empty.
func (h half) whole(cookie string) string { return cookie + " " + string(h) }

func halfOf(r *http.Request) half { return half(r.Header.Get(halfHeader)) }

// cookie returns the sign-in in a request's cookie, and whether it is the cookie that
// identifies the caller: the header Authorization wins, and with Off no caller has to
// identify itself.
func (a *Authenticator) cookie(r *http.Request) (secret string, sent bool) {
	if a.guard == nil || a.off || r.Header.Get("Authorization") != "" {
		return "", false
	}
	return a.kept(r)
}

// kept returns what the browser keeps for this server.
func (a *Authenticator) kept(r *http.Request) (secret string, found bool) {
	c, err := r.Cookie(a.cookieName(r))
	if err != nil || c.Value == "" {
		return "", false
	}
	return c.Value, true
}

// visitor recognises a browser that has signed in.
func (a *Authenticator) visitor(r *http.Request, secret string) (shoal.Principal, error) {
	if !a.guard.OwnPage(r) {
		return shoal.Principal{}, notOwnPage()
	}
	key, err := a.browser(r, secret)
	a.count(err)
	return principal(key), err
}

// browser returns the key that a browser acts with: the one that a link has made for
// it, or the one that a person has pasted. The latter is not in the cookie. Only its
// hash is, as a part of the secret of the browser's own key, and both must work.
func (a *Authenticator) browser(r *http.Request, secret string) (recognised, error) {
	if !strings.HasPrefix(secret, signInPrefix) {
		return recognised{}, denied("This is not the sign-in of a browser. Sign in again.")
	}
	if halfOf(r) == "" {
		return recognised{}, denied("The cookie is one half of this browser's sign-in. The other half, which the console sends in " + halfHeader + ", is missing. Sign in again.")
	}
	key, err := a.recognise(r, halfOf(r).whole(secret))
	if _, pasted, found := strings.Cut(secret, "."); err == nil && found {
		own := key.ID
		if key, err = a.recogniseHash(r, pasted); err == nil {
			key.signIn = own
			a.hub.Keys.RecordUse(key.Key, a.address(r))
		}
	}
	return key, err
}

// cookieName is the name of the cookie for the Host of a request. Browsers keep
// cookies by host and not by port; with the port in their names two servers on one
// machine do not sign each other's people out.
func (a *Authenticator) cookieName(r *http.Request) string {
	if a.guard.Secure(r) {
		return secureCookie
	}
	port := "80"
	if i := strings.LastIndexByte(r.Host, ':'); i > strings.LastIndexByte(r.Host, ']') {
		port = r.Host[i+1:]
	}
	return "shoal-" + port
}

// SignIn signs the browser of a request in with a key that a person has pasted. It
// returns the principal, and the half of the sign-in that the page has to store and to
// send in X-Shoal-Sign-In; the other half is in the cookie. A key that does not work is
// Unauthenticated. The sign-in lasts 30 days, or as long as the key, or 12 hours
// without use, and ends with SignOut, or when the browser signs in again.
func (a *Authenticator) SignIn(w http.ResponseWriter, r *http.Request, secret string) (caller shoal.Principal, pageHalf string, err error) {
	var key recognised
	err = notAKey()
	if !strings.HasPrefix(secret, signInPrefix) {
		key, err = a.recognise(r, secret)
	}
	a.count(err)
	if err != nil {
		a.Refuse(r, guard.RequestID(w), caller, "sign-in", err)
		return caller, "", err
	}
	if wait := a.signIns.Take(key.ID); wait > 0 {
		return caller, "", &shoal.Error{
			Op: "auth.SignIn", Kind: shoal.RateLimited, RetryAfter: wait,
			Msg: "Too many browsers have signed in with this key. Try again in a minute.",
		}
	}
	until := shoal.At(time.Now().Add(signedIn))
	if key.ExpiresAt != nil && key.ExpiresAt.Before(until.Time) {
		until = *key.ExpiresAt
	}
	_, pageHalf, err = a.signIn(w, r, key.Key, signInPrefix+randomText()+"."+Hash(secret), "", until)
	return principal(key), pageHalf, err
}

// SignInAdmin makes the browser of a request act with an admin key of its own,
// which lasts 30 days, or 12 hours without use, and ends with SignOut, or when the
// browser signs in again. The caller must have verified that the person is an admin. It
// returns the same values as SignIn.
func (a *Authenticator) SignInAdmin(w http.ResponseWriter, r *http.Request) (caller shoal.Principal, pageHalf string, err error) {
	key, pageHalf, err := a.signIn(w, r, shoal.Key{Role: shoal.RoleAdmin}, signInPrefix+randomText(), "", shoal.At(time.Now().Add(signedIn)))
	return principal(recognised{Key: key}), pageHalf, err
}

// SignInPerson makes the browser of a request act as a person whom an identity provider has
// identified, for as long as SignInAdmin. logoutToken is what [Authenticator.LogoutToken] returns when the
// sign-in ends. It returns the same values as SignIn.
func (a *Authenticator) SignInPerson(w http.ResponseWriter, r *http.Request, session shoal.SessionID, person shoal.EntityID, logoutToken string) (caller shoal.Principal, pageHalf string, err error) {
	of := shoal.Key{ID: access.ByProvider, Role: shoal.RoleEntity, SessionID: &session, EntityID: &person}
	key, pageHalf, err := a.signIn(w, r, of, signInPrefix+randomText(), logoutToken, shoal.At(time.Now().Add(signedIn)))
	return principal(recognised{Key: key}), pageHalf, err
}

// LogoutToken returns what SignInPerson was given for the sign-in that the browser of a request has, empty if there
// was nothing or the sign-in does not work.
func (a *Authenticator) LogoutToken(r *http.Request) string {
	secret, kept := a.kept(r)
	if !kept || !a.guard.OwnPage(r) {
		return ""
	}
	key, err := a.lookUp(r.Context(), Hash(halfOf(r).whole(secret)))
	if err != nil {
		return ""
	}
	logoutToken, err := a.hub.Keys.LogoutToken(r.Context(), key.ID)
	if err != nil {
		return ""
	}
	return logoutToken
}

// signIn ends the sign-in that the browser has, and gives it one with the rights of a
// key: the cookie, and the half that the page keeps.
func (a *Authenticator) signIn(w http.ResponseWriter, r *http.Request, of shoal.Key, cookie, logoutToken string, until shoal.Time) (made shoal.Key, pageHalf string, err error) {
	if _, err := a.endKept(w, r, a.endOne); err != nil {
		return made, "", err
	}
	h, device, address := newHalf(), deviceOf(r), a.address(r)
	of.Device, of.Address = &device, &address
	if made, err = a.hub.Keys.SignIn(a.signingIn(w, r), of, Hash(h.whole(cookie)), logoutToken, until); err != nil {
		return made, "", err
	}
	http.SetCookie(w, a.newCookie(r, cookie, max(1, int(time.Until(until.Time)/time.Second))))
	return made, string(h), nil
}

// SignOut makes the browser of a request forget its sign-in, and ends it, with all that
// the browser has open; a key that was pasted goes on working. It is not an error if
// the browser had no sign-in, or only the cookie of one: then the sign-in, which nobody can
// use, ends 12 hours after its last use.
func (a *Authenticator) SignOut(w http.ResponseWriter, r *http.Request) error {
	return a.signOut(w, r, a.endOne)
}

func (a *Authenticator) endOne(ctx context.Context, signIn shoal.Key) error {
	return a.hub.Keys.SignOut(ctx, signIn.ID)
}

// SignOutEverywhere is SignOut for every browser that has signed in with the same key, or
// by a link where this one has, or that acts as the person whom an identity provider has
// identified here.
func (a *Authenticator) SignOutEverywhere(w http.ResponseWriter, r *http.Request) error {
	return a.signOut(w, r, func(ctx context.Context, signIn shoal.Key) error {
		secret, _ := a.kept(r)
		_, pasted, found := strings.Cut(secret, ".")
		switch {
		case !found && signIn.EntityID != nil:
			return a.hub.Keys.SignOutPerson(ctx, *signIn.SessionID, *signIn.EntityID)
		case !found:
			return a.hub.Keys.SignOutEverywhere(ctx, "")
		}
		key, err := a.lookUp(ctx, pasted)
		if err != nil {
			return err // it was revoked, and its sign-ins work no more
		}
		return a.hub.Keys.SignOutEverywhere(ctx, key.ID)
	})
}

func (a *Authenticator) signOut(w http.ResponseWriter, r *http.Request, end func(context.Context, shoal.Key) error) error {
	kept, err := a.endKept(w, r, end)
	if err == nil && kept {
		http.SetCookie(w, a.newCookie(r, "", -1))
	}
	return err
}

// endKept ends the sign-in that the browser keeps, and reports whether it keeps one.
func (a *Authenticator) endKept(w http.ResponseWriter, r *http.Request, end func(context.Context, shoal.Key) error) (kept bool, err error) {
	secret, kept := a.kept(r)
	if !kept {
		return false, nil
	}
	if !a.guard.OwnPage(r) {
		return true, notOwnPage()
	}
	if !strings.HasPrefix(secret, signInPrefix) {
		return true, nil
	}
	key, err := a.lookUp(r.Context(), Hash(halfOf(r).whole(secret)))
	if err == nil {
		err = end(a.signingIn(w, r), key.Key)
	}
	if errors.Is(err, shoal.Unauthenticated) {
		err = nil // it has ended already
	}
	return true, err
}

// unused is for how long a key has not been used.
func unused(k shoal.Key) time.Duration {
	last := k.CreatedAt
	if k.LastUsedAt != nil {
		last = *k.LastUsedAt
	}
	return time.Since(last.Time)
}

// notAKey is the error for a sign-in's cookie value that was sent as a key.
func notAKey() error {
	return denied("This is the sign-in of a browser, not a key. An admin creates a key with \"shoal keys create\".")
}

func notOwnPage() error {
	return shoal.E("auth.Principal", shoal.Forbidden, "This call comes with the cookie of the console, but not from its pages. "+
		"A program sends its key in the header \"Authorization: Bearer KEY\".")
}

func (a *Authenticator) newCookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: a.cookieName(r), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: a.guard.Secure(r), SameSite: http.SameSiteStrictMode,
	}
}
