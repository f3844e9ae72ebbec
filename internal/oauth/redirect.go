package oauth

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const maxURI = 2048

// redirectRule says in messages which redirect URIs a client may register.
const redirectRule = "https://…, http:// with localhost or a loopback address, or the scheme of an app such as cursor://… or com.example.app:/…, without a fragment"

// parseRedirect parses a redirect URI that a client may register: HTTPS, plain HTTP of this machine, or
// the private-use scheme of an app (RFC 8252, 7.1).
func parseRedirect(text string) (*url.URL, bool) {
	if len(text) > maxURI || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return nil, false
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Opaque != "" || strings.Contains(text, "#") {
		return nil, false
	}
	switch u.Scheme {
	case "https":
		return u, u.Hostname() != ""
	case "http":
		return u, onThisMachine(u)
	}
	return u, privateUse.MatchString(u.Scheme) && !taken.MatchString(u.Scheme) && (u.Host != "" || strings.Contains(u.Scheme, ".") && len(u.Path) > 1)
}

var (
	privateUse = regexp.MustCompile(`^[a-z][a-z0-9.+-]{2,63}$`)
	// taken are schemes that mean something without an app that claims them: those with which a browser
	// runs scripts, or opens files, pages of its own and extensions, and those of systems and protocols.
	taken = regexp.MustCompile(`^(javascript|livescript|vbscript|data|file|filesystem|blob|about|view-source|jar|resource|cid|mid|mhtml|res|` +
		`content|intent|android-app|chrome.*|edge|brave|opera|devtools|moz-.*|ms-.*|search-ms|search|shell|safari-.*|x-apple.*|feed|web\+.*|` +
		`ftps?|sftp|wss?|mailto|tel|sms|callto|facetime.*|sip|sips|urn|ssh|telnet|ldaps?|smb|nfs|afp|dav|davs|gopher|git|news|nntp|irc|ircs|rtsp|rtmp|magnet|vnc|rdp|market|itms.*|help)$`)
)

// ofApp reports whether a redirect URI leads to an app on the machine of the browser, by its scheme.
func ofApp(u *url.URL) bool { return u.Scheme != "https" && u.Scheme != "http" }

// placeOf returns what people and records call the place of a redirect URI: host and port, or a scheme.
func placeOf(u *url.URL) string {
	if ofApp(u) {
		return u.Scheme + ":"
	}
	return u.Host
}

// validRedirects returns those URIs that a client may register, and their hosts or schemes.
func validRedirects(texts []string) (uris, hosts []string) {
	for _, text := range texts {
		u, valid := parseRedirect(text)
		if !valid {
			continue
		}
		uris = append(uris, text)
		host := u.Hostname()
		if ofApp(u) {
			host = placeOf(u)
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
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
