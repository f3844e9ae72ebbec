package auth

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/shoal-dev/shoal"
)

// count counts a caller that is not let in.
func (a *Authenticator) count(err error) {
	if err != nil {
		a.refused.With(string(shoal.KindOf(err))).Add(1)
	}
}

// try is lookUp for what somebody sends who may only be trying. Keys that have
// worked are looked up whatever else comes from their address.
func (a *Authenticator) try(r *http.Request, hash string) (shoal.Key, error) {
	a.mu.RLock()
	_, worked := a.known[hash]
	a.mu.RUnlock()
	if worked || a.failures == nil {
		return a.lookUp(r.Context(), hash)
	}
	from := address(r)
	if wait := a.failures.Look(from); wait > 0 {
		return shoal.Key{}, &shoal.Error{
			Op: "auth.Principal", Kind: shoal.RateLimited, RetryAfter: wait,
			Msg: "Too many keys that do not work came from your address. Try again in a moment.",
		}
	}
	key, err := a.lookUp(r.Context(), hash)
	if errors.Is(err, shoal.Unauthenticated) {
		a.failures.Take(from)
	}
	return key, err
}

// address is where a request comes from, as far as one sender can choose: of an
// IPv6 address its network.
func address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // of a listener that is no TCP listener
	}
	ip := at.Addr().Unmap()
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return ip.String()
	}
	return network.String()
}
