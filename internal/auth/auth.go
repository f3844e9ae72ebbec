// Package auth authenticates callers: it creates keys, recognises them, and turns a
// request into a [shoal.Principal].
//
//	a := auth.New(h, auth.Options{})
//	caller, err := a.Principal(r) // Unauthenticated, EntityRequired, …
//
// Guarantees:
//   - A secret holds 256 random bits and is stored as its SHA-256 only. It is
//     read from the Authorization header, or without this header from the cookie
//     of a browser that has signed in, never from a URL, and appears in no log
//     and no error.
//   - No key is in a cookie. What a sign-in leaves there, by link or by a key that was
//     pasted, works there only: as Bearer it is refused, and it signs no other browser
//     in. It ends after 12 hours without use.
//   - What is in the cookie is one half of the sign-in. Calls send the other one in
//     X-Shoal-Sign-In, and only the server's own pages have it: a server on another
//     port of the host, which receives the cookie, can do nothing with it.
//   - A signed URL names one thing to read, as one principal, for five minutes, and ends
//     with the key that it was made with. Nothing in it works anywhere else.
//   - A cookie counts only in REST calls that the server's own pages make: a page
//     of somebody else cannot use it. MCP and AG-UI know no cookies.
//   - A token of another issuer, if [Options].Tokens accepts it, is the secret of a key of its person until it ends.
//   - Every request is checked. A revoked key is refused as soon as Revoke has
//     returned on this node, and within two seconds elsewhere.
//   - Only this package decides which entity a request acts as.
package auth

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/scopes"
)

// Headers and parameters that name an actor.
const (
	entityHeader  = "X-Shoal-Entity"
	sessionHeader = "X-Shoal-Session"
	agentParam    = "agent"
	sessionParam  = "session"
)

// Options configure an [Authenticator].
type Options struct {
	// Off accepts every caller as an admin that names the acting entity. It is for loopback
	// listeners only; the composition root sees to that.
	Off bool
	// Guard knows the server's own pages. Without it no cookie counts, and nobody
	// can sign in or out.
	Guard *guard.Guard
	// Failures is how many keys that do not work may come from one address a
	// second, for ever, and ten times as many at once; 0 means no limit. Above it,
	// they are refused with RateLimited. Keys that work are not counted.
	Failures float64
	// Proxies are the networks of proxies whose header X-Forwarded-For says where a
	// request comes from.
	Proxies []netip.Prefix
	// Tokens recognises people by tokens of others; nil accepts none.
	Tokens Tokens
	// Metrics counts rejected callers; nil is allowed.
	Metrics *metrics.Set
}

// Authenticator recognises callers. It is safe for concurrent use.
type Authenticator struct {
	hub   *hub.Hub
	off   bool
	guard *guard.Guard

	proxies  []netip.Prefix
	failures *limit.Rates[string]      // of addresses
	signIns  *limit.Rates[shoal.KeyID] // of keys that are pasted
	tokens   Tokens
	// tokenSignIns are the rates of people whose tokens are new.
	tokenSignIns *limit.Rates[madeEntity]
	refused      metrics.Counters

	mu    sync.RWMutex
	known map[string]knownKey
	made  map[madeEntity]int64 // entities that existed at a revocation count, with Off
}

type madeEntity struct {
	session shoal.SessionID
	entity  shoal.EntityID
}

// Bounds of what is remembered.
const (
	knownFor = 2 * time.Second
	knownMax = 20_000
	// addresses is how many addresses of failures are remembered at least.
	addresses = 10_000
	// mostSignIns is how often one key signs browsers in at once, and how many new tokens of one person count at
	// once; it goes on at one a minute. Each sign-in is a row of the database.
	mostSignIns = 100
)

// New returns an Authenticator over the keys of h.
func New(h *hub.Hub, o Options) *Authenticator {
	return &Authenticator{
		hub: h, off: o.Off, guard: o.Guard, proxies: o.Proxies, known: map[string]knownKey{}, made: map[madeEntity]int64{},
		failures: limit.NewRates[string](o.Failures, int(o.Failures*10), addresses),
		signIns:  limit.NewRates[shoal.KeyID](1.0/60, mostSignIns, addresses),
		tokens:   o.Tokens, tokenSignIns: limit.NewRates[madeEntity](1.0/60, mostSignIns, addresses),
		refused: o.Metrics.Counters("shoal_callers_refused_total", "Calls that were refused because of who made them or how often, by why.", "code"),
	}
}

// Principal recognises the caller of a REST request by the key in its header, or
// else in its cookie. An admin may name the acting entity with the header
// X-Shoal-Entity; anybody else may only name itself there.
func (a *Authenticator) Principal(r *http.Request) (shoal.Principal, error) {
	caller, err := a.identify(r)
	if err != nil {
		return shoal.Principal{}, err
	}
	return actElsewhere(caller, r)
}

// actElsewhere is actAs for the doors that call no tools of MCP, which a key with a scope tools:…
// does not reach.
func actElsewhere(caller shoal.Principal, r *http.Request) (shoal.Principal, error) {
	if err := scopes.Tool(caller.Scopes, ""); err != nil {
		return caller, err
	}
	return actAs(caller, shoal.EntityID(r.Header.Get(entityHeader)))
}

// identify returns the owner of the key that a REST request carries.
func (a *Authenticator) identify(r *http.Request) (shoal.Principal, error) {
	if caller, signed, err := a.signed(r); signed {
		a.count(err)
		return caller, err
	}
	if secret, sent := a.cookie(r); sent {
		return a.visitor(r, secret)
	}
	return a.bearer(r)
}

// Bearer is like Principal for transports that browsers do not sign in to: it ignores
// cookies.
func (a *Authenticator) Bearer(r *http.Request) (shoal.Principal, error) {
	caller, err := a.bearer(r)
	if err != nil {
		return shoal.Principal{}, err
	}
	return actElsewhere(caller, r)
}

// MCP recognises the caller of an MCP request and the session it is in. An admin
// names the acting entity with X-Shoal-Entity and the session with
// X-Shoal-Session, or, with Off, by the URL's agent and session; then an unknown
// agent is registered.
func (a *Authenticator) MCP(r *http.Request) (shoal.Principal, shoal.SessionID, error) {
	caller, err := a.bearer(r)
	if err != nil {
		return shoal.Principal{}, "", err
	}
	entity, session := r.Header.Get(entityHeader), r.Header.Get(sessionHeader)
	if a.off {
		query := r.URL.Query()
		entity, session = orElse(entity, query.Get(agentParam)), orElse(session, query.Get(sessionParam))
	}
	if caller.SessionID != "" {
		if session != "" && shoal.SessionID(session) != caller.SessionID {
			return shoal.Principal{}, "", shoal.E("auth.MCP", shoal.NotFound, "Your key belongs to another session; leave X-Shoal-Session out.")
		}
		session = string(caller.SessionID)
	}
	if caller, err = actAs(caller, shoal.EntityID(entity)); err != nil {
		return shoal.Principal{}, "", err
	}
	at := shoal.SessionID(orElse(session, string(shoal.DefaultSession)))
	if a.off && caller.EntityID != "" {
		if err := a.ensure(r.Context(), at, caller.EntityID); err != nil {
			return shoal.Principal{}, "", err
		}
	}
	a.hub.Entities.RecordCall(caller, at)
	return caller, at, nil
}

// RecordCall records that an authenticated caller made a call in a session. The REST transports
// call it once they know the session.
func (a *Authenticator) RecordCall(caller shoal.Principal, session shoal.SessionID) {
	a.hub.Entities.RecordCall(caller, session)
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// actAs lets a principal name the acting entity, if it may.
func actAs(caller shoal.Principal, entity shoal.EntityID) (shoal.Principal, error) {
	switch {
	case entity == "" || entity == caller.EntityID:
		return caller, nil
	case caller.Admin():
		if err := shoal.CheckID(entityHeader, string(entity)); err != nil {
			return caller, err
		}
		caller.EntityID = entity
		return caller, nil
	case caller.EntityID != "":
		return caller, shoal.E("auth.actAs", shoal.IdentityMismatch, "Your key acts as \""+string(caller.EntityID)+"\"; only an admin names another entity in X-Shoal-Entity.")
	}
	return caller, shoal.E("auth.actAs", shoal.Forbidden, "A service key acts as no entity; leave X-Shoal-Entity out or use an entity key.")
}

// The answers to a caller without a key.
const (
	noKey        = "No key was sent. Send yours in the header \"Authorization: Bearer KEY\"; an admin creates one with \"shoal keys create\"."
	noKeyOverMCP = "No key was sent. If your client can sign in, let it: \"claude mcp login shoal\", \"codex mcp login shoal\". Or send a key in the header \"Authorization: Bearer KEY\"; an admin creates one with \"shoal keys create\"."
)

// overMCP reports whether a request is for MCP, where clients can also sign in with OAuth.
func overMCP(r *http.Request) bool { return r.URL.Path == "/mcp" || r.URL.Path == "/sse" }

// bearer recognises the key of a request.
func (a *Authenticator) bearer(r *http.Request) (caller shoal.Principal, err error) {
	defer func() { a.count(err) }()
	header := r.Header.Get("Authorization")
	if header == "" {
		if a.off {
			return shoal.Principal{Role: shoal.RoleAdmin, KeyID: "open"}, nil
		}
		if overMCP(r) {
			return shoal.Principal{}, denied(noKeyOverMCP)
		}
		return shoal.Principal{}, denied(noKey)
	}
	scheme, secret, _ := strings.Cut(header, " ")
	secret = strings.TrimSpace(secret)
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return shoal.Principal{}, denied("The header Authorization must read \"Bearer KEY\".")
	}
	if strings.HasPrefix(secret, signInPrefix) {
		return shoal.Principal{}, notAKey()
	}
	if strings.HasPrefix(secret, tokenPrefix) && !overMCP(r) {
		return shoal.Principal{}, denied("This token was issued for MCP, and works at /mcp and /sse only. Use a key here; an admin creates one with \"shoal keys create\".")
	}
	var key recognised
	if a.tokens != nil && isForeign(secret) {
		key, err = a.recogniseToken(r, secret)
	} else {
		key, err = a.recognise(r, secret)
	}
	return principal(key), err
}

// ensure registers an agent that names itself, which only Off allows.
func (a *Authenticator) ensure(ctx context.Context, session shoal.SessionID, id shoal.EntityID) error {
	e, revocations := madeEntity{session, id}, a.hub.Keys.Revocations()
	a.mu.RLock()
	at, made := a.made[e]
	a.mu.RUnlock()
	if made && at == revocations {
		return nil
	}
	if _, err := a.hub.Entities.Ensure(ctx, session, shoal.NewEntity{ID: id}); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.made) >= knownMax {
		clear(a.made)
	}
	a.made[e] = revocations
	return nil
}
