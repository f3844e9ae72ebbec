package oauth

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const maxURI = 2048

// parseRedirect parses a redirect URI that a client may register: HTTPS, or plain HTTP of this machine.
// Other schemes would be those of any program that claims them.
func parseRedirect(text string) (*url.URL, bool) {
	if len(text) > maxURI || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return nil, false
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.User != nil || u.Opaque != "" || strings.Contains(text, "#") {
		return nil, false
	}
	return u, u.Scheme == "https" || u.Scheme == "http" && onThisMachine(u)
}

// validRedirects returns those URIs that a client may register, and their hosts.
func validRedirects(texts []string) (uris, hosts []string) {
	for _, text := range texts {
		u, valid := parseRedirect(text)
		if !valid {
			continue
		}
		uris = append(uris, text)
		if !slices.Contains(hosts, u.Hostname()) {
			hosts = append(hosts, u.Hostname())
		}
	}
	return uris, hosts
}

// onThisMachine reports whether a URI leads to the machine of the browser.
func onThisMachine(u *url.URL) bool {
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

// registered reports whether a client has registered a redirect URI: the same text, or for a URI of this
// machine the same but for the port (RFC 8252).
func registered(c storage.OAuthClient, uri string) bool {
	if slices.Contains(c.RedirectURIs, uri) {
		return true
	}
	asked, valid := parseRedirect(uri)
	if !valid || asked.Scheme != "http" {
		return false
	}
	return slices.ContainsFunc(c.RedirectURIs, func(known string) bool {
		u, valid := parseRedirect(known)
		return valid && u.Scheme == "http" && withoutPort(u) == withoutPort(asked)
	})
}

func withoutPort(u *url.URL) string {
	bare := *u
	bare.Host = u.Hostname()
	return bare.String()
}
