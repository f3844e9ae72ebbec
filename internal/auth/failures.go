package auth

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/limit"
)

// count counts a caller that is not let in.
func (a *Authenticator) count(err error) {
	if err != nil {
		a.refused.With(string(shoal.KindOf(err))).Add(1)
	}
}

// try is lookUp for a key that may be a guess. A valid key is never refused because
// of invalid ones from the same address: it is looked up all the same, which costs one
// read of an index.
func (a *Authenticator) try(r *http.Request, hash string) (recognised, error) {
	key, err := a.lookUp(r.Context(), hash)
	return key, a.refuse(r, err)
}

// refuse returns err, or RateLimited if it is Unauthenticated and too many such failures came
// from the address of the request.
func (a *Authenticator) refuse(r *http.Request, err error) error {
	var failure *shoal.Error
	if a.failures == nil || !errors.Is(err, shoal.Unauthenticated) || !errors.As(err, &failure) {
		return err
	}
	if wait := a.failures.Take(a.address(r)); wait > 0 {
		return &shoal.Error{
			Op: "auth.Principal", Kind: shoal.RateLimited, RetryAfter: wait,
			Msg: failure.Msg + " Too many keys and invitations that do not work came from your address: try again in a moment.",
		}
	}
	return err
}

// Admit returns the caller of a request, before anything of its body is read. For
// requests that need no key, that is the address. It is for guard.Options.Admit.
func (a *Authenticator) Admit(r *http.Request) (limit.Caller, error) {
	var caller shoal.Principal
	var err error
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1/"):
		caller, err = a.identify(r)
	case r.URL.Path == "/mcp", r.URL.Path == "/sse", strings.HasPrefix(r.URL.Path, "/agui/"), strings.HasPrefix(r.URL.Path, "/openai/"):
		caller, err = a.bearer(r)
	default:
		return limit.From(a.address(r)), nil
	}
	if err != nil {
		a.Refuse(r, r.Header.Get("X-Request-Id"), caller, r.Method+" "+transportOf(r.URL.Path), err)
	}
	return limit.Of(caller), err
}

// transportOf returns the first segment of a path: the transport, and nothing that the client has chosen
// of a path that is served.
func transportOf(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return "/" + first
}

// address is where a request comes from, as far as one sender can choose: of an
// IPv6 address its network. What a trusted proxy has noted in X-Forwarded-For counts,
// from the right up to the first address that is not a trusted proxy's.
func (a *Authenticator) address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // the listener is not a TCP listener
	}
	ip := at.Addr().Unmap()
	noted := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(noted) - 1; i >= 0 && a.trusts(ip); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(noted[i]))
		if err != nil {
			break
		}
		ip = before.Unmap()
	}
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return ip.String()
	}
	return network.String()
}

// trusts reports whether a proxy at this address is believed.
func (a *Authenticator) trusts(ip netip.Addr) bool {
	return slices.ContainsFunc(a.proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}
