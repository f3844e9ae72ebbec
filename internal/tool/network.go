package tool

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shoal-dev/shoal"
)

// NetworkOptions determine where tools may connect to. The zero value permits every public
// address on ports 80 and 443.
type NetworkOptions struct {
	// Hosts, if not empty, are the only permitted hosts: names (api.example), names with
	// all subdomains (*.example), and addresses. An entry includes a port if it differs
	// from 80 and 443.
	Hosts []string
	// Private are networks that are permitted although they are not public, on any port.
	Private []netip.Prefix
	// Resolver resolves names. nil means Go's own resolver, never the C library's.
	Resolver *net.Resolver
}

// Network makes connections for tools whose URLs the operator does not control. It refuses
// loopback, private, link-local and metadata addresses and all others that are not public.
// It checks the address of every connection when it is dialled, after DNS, so a name that
// changes its address and a redirect are checked again. Proxies of the environment are not
// used. It is safe for concurrent use.
type Network struct {
	hosts     []host
	private   []netip.Prefix
	transport *http.Transport
}

type host struct {
	name  string // without *.
	below bool
	port  string // empty: 80 and 443
}

const (
	maxRedirects       = 3
	maxResponseHeaders = 64 << 10
	dialTimeout        = 10 * time.Second
)

// NewNetwork returns a network. The error is of kind InvalidArgument and names the invalid
// host.
func NewNetwork(o NetworkOptions) (*Network, error) {
	n := &Network{private: slices.Clone(o.Private)}
	for _, text := range o.Hosts {
		h, err := parseHost(text)
		if err != nil {
			return nil, err
		}
		n.hosts = append(n.hosts, h)
	}
	resolver := o.Resolver
	if resolver == nil {
		resolver = &net.Resolver{PreferGo: true}
	}
	dialer := &net.Dialer{Timeout: dialTimeout, Resolver: resolver, ControlContext: n.checkAddress}
	n.transport = &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
		TLSHandshakeTimeout: dialTimeout, MaxResponseHeaderBytes: maxResponseHeaders,
		MaxIdleConns: 100, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
	}
	return n, nil
}

func parseHost(text string) (host, error) {
	h := host{name: text}
	if name, port, err := net.SplitHostPort(text); err == nil {
		h.name, h.port = name, port
	}
	h.name, h.below = strings.CutPrefix(strings.ToLower(strings.Trim(h.name, "[]")), "*.")
	number, err := strconv.ParseUint(h.port, 10, 16)
	if (h.port != "" && (err != nil || number == 0)) || h.name == "" || strings.ContainsAny(h.name, "/@*? ") {
		return h, shoal.Invalid("hosts", fmt.Sprintf("has %q, which is not a host such as api.example, *.example or api.example:8443", text))
	}
	return h, nil
}

// Client returns a client whose requests stay within the network. It follows up to three
// redirects; headers are sent only to the host of the first request.
func (n *Network) Client() *http.Client {
	return &http.Client{Transport: guardedTransport{n}, CheckRedirect: checkRedirect}
}

// Close closes connections that are idle.
func (n *Network) Close() { n.transport.CloseIdleConnections() }

// refusedError is the reason why a request is not made. Its text is for the model and
// contains no address.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

var (
	errAddress   = &refusedError{"tools may not call this address"}
	errHost      = &refusedError{"tools may not call this host"}
	errPort      = &refusedError{"tools may not call this port"}
	errScheme    = &refusedError{"only http and https URLs can be called, without a user name in them"}
	errRedirects = &refusedError{"the server redirects too often"}
	errResend    = &refusedError{"the server wants the body sent to another host"}
)

// guardedTransport is the transport: it checks every request, including redirected ones.
type guardedTransport struct{ *Network }

// RoundTrip makes one request if the network permits it.
func (g guardedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.allows(req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a transport must close the body in every case
		}
		return nil, err
	}
	return g.transport.RoundTrip(req.WithContext(context.WithValue(req.Context(), listedKey{}, g.isListed(req))))
}

// listedKey is the context key that says whether the host and port of a new connection are
// listed. Idle connections were checked when they were made, and are reused by host and
// port.
type listedKey struct{}

func (g guardedTransport) allows(req *http.Request) error {
	u := req.URL
	if (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.Hostname() == "" {
		return errScheme
	}
	if looksNumeric(u.Hostname()) {
		return errHost
	}
	if len(g.hosts) > 0 && !g.isListed(req) {
		return errHost
	}
	return nil
}

// isListed reports whether the request's host and port are on the list.
func (g guardedTransport) isListed(req *http.Request) bool {
	name := strings.ToLower(strings.TrimSuffix(req.URL.Hostname(), "."))
	port := req.URL.Port()
	return slices.ContainsFunc(g.hosts, func(h host) bool {
		named := name == h.name && !h.below || h.below && strings.HasSuffix(name, "."+h.name)
		return named && (h.port == port || h.port == "" && isWebPort(port))
	})
}

func isWebPort(port string) bool { return port == "" || port == "80" || port == "443" }

// looksNumeric reports whether a host is an address in a notation that only some programs
// understand: 2130706433, 0x7f.1, 0177.0.0.1.
func looksNumeric(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Zone() != ""
	}
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	digits := strings.TrimPrefix(last, "0x")
	return digits == "" || strings.Trim(last, "0123456789") == "" ||
		(digits != last && strings.Trim(digits, "0123456789abcdef") == "")
}

// checkAddress checks the address of a connection before it is made.
func (n *Network) checkAddress(ctx context.Context, network, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return errAddress
	}
	addr := target.Addr().Unmap()
	switch { // neither a network nor the public internet has addresses with a zone
	case slices.ContainsFunc(n.private, func(p netip.Prefix) bool { return unmapPrefix(p).Contains(addr) && !isMetadata(addr, p) }):
		return nil
	case !isPublic(addr):
		return errAddress
	case ctx.Value(listedKey{}) != true && target.Port() != 80 && target.Port() != 443:
		return errPort
	}
	return nil
}

// unmapPrefix returns the IPv4 prefix of a prefix that is written as an IPv6 one.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// checkRedirect permits a redirect and removes headers that were meant for another host.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errRedirects
	}
	first := via[0]
	if req.URL.Scheme == first.URL.Scheme && req.URL.Host == first.URL.Host {
		return nil
	}
	if req.Body != nil || (req.Method != http.MethodGet && req.Method != http.MethodHead) {
		return errResend
	}
	for name := range req.Header {
		if !slices.Contains([]string{"User-Agent", "Accept", "Accept-Encoding", "Accept-Language"}, name) {
			req.Header.Del(name)
		}
	}
	return nil
}
