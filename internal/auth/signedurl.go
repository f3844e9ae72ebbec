package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// SignedParam is the query parameter that holds the signature of a signed URL.
const SignedParam = "signed"

// signedFor is how long a signed URL works.
const signedFor = 5 * time.Minute

// Sign returns a path with a signature: a holder of the path can read it with the
// rights of the principal, for five minutes or until its key is revoked. It is for paths that name one thing
// to read and have no query. Where nobody needs a key, the path needs no signature.
func (a *Authenticator) Sign(ctx context.Context, caller shoal.Principal, path string) (shoal.SignedURL, error) {
	if a.off {
		return shoal.SignedURL{URL: path}, nil
	}
	hash, err := a.hub.Keys.Hash(ctx, caller.KeyID)
	if errors.Is(err, shoal.NotFound) {
		return shoal.SignedURL{}, denied("This key was revoked. Ask an admin for a new one.")
	}
	if err != nil {
		return shoal.SignedURL{}, err
	}
	until := shoal.At(time.Now().Add(signedFor))
	s := signature{key: caller.KeyID, until: strconv.FormatInt(until.UnixMilli(), 10), as: caller.EntityID}
	return shoal.SignedURL{URL: path + "?" + SignedParam + "=" + s.text(s.mac(hash, path)), ExpiresAt: &until}, nil
}

// signature says which key has signed, until when it holds, in milliseconds, and as which
// entity its holder reads. Of the parts only the last one can hold a dot.
type signature struct {
	key   shoal.KeyID
	until string
	as    shoal.EntityID
}

func (s signature) text(mac []byte) string {
	return strings.Join([]string{string(s.key), s.until, base64.RawURLEncoding.EncodeToString(mac), string(s.as)}, ".")
}

// mac signs a path. The hash of a key's secret is known to this server and its
// database alone, and changes with the key.
func (s signature) mac(hash, path string) []byte {
	m := hmac.New(sha256.New, []byte(hash))
	m.Write([]byte(strings.Join([]string{"shoal signed url", path, string(s.key), s.until, string(s.as)}, "\n")))
	return m.Sum(nil)
}

// signed recognises the holder of a signed URL, and reports whether a request has one
// and no other identification of the caller.
func (a *Authenticator) signed(r *http.Request) (caller shoal.Principal, is bool, err error) {
	if a.off || !strings.Contains(r.URL.RawQuery, SignedParam+"=") || r.Header.Get("Authorization") != "" {
		return caller, false, nil
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return caller, false, nil
	}
	parts := strings.SplitN(r.URL.Query().Get(SignedParam), ".", 4)
	if len(parts) < 4 {
		return caller, true, notSigned()
	}
	s := signature{key: shoal.KeyID(parts[0]), until: parts[1], as: shoal.EntityID(parts[3])}
	until, err := strconv.ParseInt(s.until, 10, 64)
	mac, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || err2 != nil || shoal.CheckID("key", parts[0]) != nil {
		return caller, true, notSigned()
	}
	hash, err := a.hub.Keys.Hash(r.Context(), s.key)
	if errors.Is(err, shoal.NotFound) || err == nil && !hmac.Equal(mac, s.mac(hash, r.URL.EscapedPath())) || err == nil && time.Now().UnixMilli() >= until {
		return caller, true, notSigned()
	}
	if err != nil {
		return caller, true, err
	}
	key, err := a.recogniseHash(r, hash)
	if err != nil {
		return caller, true, err
	}
	caller, err = actAs(principal(key), s.as)
	return caller, true, err
}

func notSigned() error {
	return denied("The signature of this address does not hold, or holds no more: it works for five minutes. Ask for a new one.")
}
