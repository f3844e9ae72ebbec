package guard

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/shoal-dev/shoal"
)

// checkHost refuses a request that calls the server by a name that is not its
// own: a web page that points its own name at the server's address (DNS
// rebinding) would otherwise be of the same origin as the server.
func (g *Guard) checkHost(r *http.Request) *shoal.Error {
	name, port, ok := splitHost(r.Host)
	switch {
	case ok && (isLoopback(name) || g.hosts[name] || g.hosts[joinHost(name, port)]):
		return nil
	case g.public && len(g.hosts) == 0:
		return nil
	}
	return shoal.E("guard.checkHost", shoal.Forbidden, "This server does not answer to the host "+quoted(r.Host)+
		". Call it by a host that its operator has allowed, or on its own machine as localhost.")
}

// checkOrigin refuses requests that a web page of a foreign origin makes a browser send.
// Programs other than browsers send neither header and pass. This is
// stricter than http.CrossOriginProtection, which lets every GET pass (an event
// stream is one) and does not compare the scheme.
func (g *Guard) checkOrigin(r *http.Request, mcp bool) *shoal.Error {
	if sent, ok := r.Header["Origin"]; ok {
		own, allowed := g.judge(r, sent)
		if allowed {
			return nil
		}
		if !own {
			return shoal.E("guard.checkOrigin", shoal.Forbidden, "Web pages of the origin "+quoted(sent[0])+
				" may not call this server. Its operator can allow the origin.")
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	if !mcp && isNavigation(r) {
		return nil
	}
	return shoal.E("guard.checkOrigin", shoal.Forbidden,
		"Web pages of other origins may not call this server. Its operator can allow an origin.")
}

// judge reports whether the Origin that a request sends is the server's own, and
// whether it is one of those that its operator allows.
func (g *Guard) judge(r *http.Request, sent []string) (own, allowed bool) {
	origin, valid := normalOrigin(sent[0])
	if !valid || len(sent) > 1 {
		return false, false
	}
	mine, _ := normalOrigin(scheme(r) + "://" + r.Host)
	return origin == mine, g.origins[origin]
}

// OwnPage reports whether a request that a browser has signed with its cookies can
// only come from a page of the server itself, or of an origin that its operator
// allows; any other page could make the browser send it just as well. What
// changes something has to say its origin.
func (g *Guard) OwnPage(r *http.Request) bool {
	sent, named := r.Header["Origin"]
	if named {
		if own, allowed := g.judge(r, sent); !own && !allowed {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin":
		return true
	case "", "none": // an old browser, or a person who typed the address
		return named || r.Method == http.MethodGet || r.Method == http.MethodHead
	case "same-site":
		return named
	}
	return false
}

// Secure reports whether browsers reach the server by TLS under the Host of this
// request: its own, or that of a proxy whose origin the operator allows.
func (g *Guard) Secure(r *http.Request) bool {
	proxied, valid := normalOrigin("https://" + r.Host)
	return r.TLS != nil || valid && g.origins[proxied]
}

// Origin returns the origin under which a browser reaches the server when it
// calls it as this request does.
func (g *Guard) Origin(r *http.Request) string {
	if name, _, ok := splitHost(r.Host); r.TLS != nil && g.origin != nil && ok && isLoopback(name) {
		if public := g.origin(); public != "" {
			return public
		}
	}
	if g.Secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// isNavigation reports whether a person follows a link to here: the page that
// holds the link sees nothing of the answer, and reading changes nothing.
func isNavigation(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// splitHost splits a Host header into its name, in lower case and without
// brackets and final dot, and its port, and reports whether it has that form.
func splitHost(host string) (name, port string, ok bool) {
	name = host
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name, port = host[:i], host[i+1:]
	}
	for _, c := range []byte(port) {
		if c < '0' || c > '9' {
			return "", "", false
		}
	}
	if inner, bracketed := strings.CutPrefix(name, "["); bracketed {
		inner, bracketed = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		return inner, port, bracketed && err == nil && addr.Is6()
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), port, !strings.ContainsAny(name, ":[]")
}

func joinHost(name, port string) string {
	if port == "" {
		return name
	}
	return net.JoinHostPort(name, port)
}

// isLoopback reports whether a name from splitHost always means this machine.
func isLoopback(name string) bool {
	if name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}

// normalOrigin returns an origin in lower case and without the port that its
// scheme implies, and reports whether it is a scheme and a host and no more.
func normalOrigin(origin string) (string, bool) {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || strings.Contains(u.Host, "*") ||
		!strings.EqualFold(origin, u.Scheme+"://"+u.Host) {
		return "", false
	}
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host, true
}
