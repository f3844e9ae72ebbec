package auth

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

const (
	// signedIn is how long a browser stays signed in at most.
	signedIn = 30 * 24 * time.Hour
	// mostUnused is how long a sign-in lasts without use.
	mostUnused = 12 * time.Hour
	// secureCookie is the cookie's name over TLS. Browsers take a cookie of such a
	// name from the host itself only, and send it to nobody else.
	secureCookie = "__Host-shoal"
	// signInPrefix begins the secrets of keys that a sign-in has made, and no
	// others: those end when the browser signs out, and are refused as Bearer.
	signInPrefix = "shoal-console_"
)

// cookie returns the sign-in in a request's cookie, and whether it is the cookie that
// says who calls: the header Authorization wins, and with Off nobody has to say.
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
	key, err := a.recognise(r, secret)
	if _, pasted, found := strings.Cut(secret, "."); err == nil && found {
		if key, err = a.recogniseHash(r, pasted); err == nil {
			a.hub.Keys.Used(key.ID)
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

// SignIn makes the browser of a request act with a key that a person has pasted,
// and returns who that is. A key that does not work is Unauthenticated. The browser
// keeps a sign-in of its own, which lasts 30 days, or as long as the key, or 12 hours
// without use, and ends with SignOut, or when the browser signs in again.
func (a *Authenticator) SignIn(w http.ResponseWriter, r *http.Request, secret string) (shoal.Principal, error) {
	var key recognised
	err := notAKey()
	if !strings.HasPrefix(secret, signInPrefix) {
		key, err = a.recognise(r, secret)
	}
	a.count(err)
	if err != nil {
		return shoal.Principal{}, err
	}
	if wait := a.signIns.Take(key.ID); wait > 0 {
		return shoal.Principal{}, &shoal.Error{
			Op: "auth.SignIn", Kind: shoal.RateLimited, RetryAfter: wait,
			Msg: "Too many browsers have signed in with this key. Try again in a minute.",
		}
	}
	if _, err := a.endKept(r); err != nil {
		return shoal.Principal{}, err
	}
	until := shoal.At(time.Now().Add(signedIn))
	if key.ExpiresAt != nil && key.ExpiresAt.Before(until.Time) {
		until = *key.ExpiresAt
	}
	own := signInPrefix + randomText() + "." + Hash(secret)
	if err := a.hub.Keys.SignIn(r.Context(), key.Key, Hash(own), until); err != nil {
		return shoal.Principal{}, err
	}
	a.keep(w, r, own, until)
	return principal(key), nil
}

// SignInAdmin makes the browser of a request act with an admin key of its own,
// which lasts 30 days, or 12 hours without use, and ends with SignOut, or when the browser signs in this way
// again. Whoever calls it has made sure that the person there is an admin.
func (a *Authenticator) SignInAdmin(w http.ResponseWriter, r *http.Request) (shoal.Principal, error) {
	if _, err := a.endKept(r); err != nil {
		return shoal.Principal{}, err
	}
	secret := signInPrefix + randomText()
	until := shoal.At(time.Now().Add(signedIn))
	key, _, err := a.hub.Keys.Create(r.Context(), signingIn, shoal.NewKey{Role: shoal.RoleAdmin, Name: "console", ExpiresAt: &until}, Hash(secret), "")
	if err != nil {
		return shoal.Principal{}, err
	}
	a.keep(w, r, secret, until)
	return principal(recognised{Key: key}), nil
}

// signingIn is the principal that makes the keys of sign-ins and ends them.
var signingIn = shoal.Principal{Role: shoal.RoleAdmin, KeyID: "console"}

// SignOut makes the browser of a request forget its key, and ends the
// browser's sign-in; a key that was pasted goes on working. It is no failure if the browser had none.
func (a *Authenticator) SignOut(w http.ResponseWriter, r *http.Request) error {
	kept, err := a.endKept(r)
	if err == nil && kept {
		http.SetCookie(w, a.newCookie(r, "", -1))
	}
	return err
}

// endKept ends the sign-in that the browser keeps, and reports whether it keeps one.
func (a *Authenticator) endKept(r *http.Request) (kept bool, err error) {
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
	key, err := a.lookUp(r.Context(), Hash(secret))
	if err == nil {
		err = a.hub.Keys.Revoke(r.Context(), signingIn, key.ID)
	}
	if errors.Is(err, shoal.Unauthenticated) || errors.Is(err, shoal.NotFound) {
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

// notAKey refuses what a sign-in has left in a cookie where a key belongs.
func notAKey() error {
	return denied("This is the sign-in of a browser, not a key. An admin mints a key with \"shoal keys create\".")
}

func notOwnPage() error {
	return shoal.E("auth.Principal", shoal.Forbidden, "This call comes with the cookie of the console, but not from its pages. "+
		"A program sends its key in the header \"Authorization: Bearer KEY\".")
}

// keep gives the browser a sign-in to keep until it ends.
func (a *Authenticator) keep(w http.ResponseWriter, r *http.Request, secret string, until shoal.Time) {
	http.SetCookie(w, a.newCookie(r, secret, max(1, int(time.Until(until.Time)/time.Second))))
}

func (a *Authenticator) newCookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: a.cookieName(r), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: a.guard.Secure(r), SameSite: http.SameSiteStrictMode,
	}
}
