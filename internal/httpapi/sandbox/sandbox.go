// Package sandbox is what browsers let the pages of renderers do.
package sandbox

import (
	"net/http"
	"strings"
)

// policy lets a page run its own scripts and styles without an origin: it cannot load
// anything, and communicates with the console, which shows it, only by messages. `sandbox` also
// applies when the page is opened directly. `webrtc` is blocked separately because the
// directives for fetching do not cover it, and a page could send data through it.
var policy = strings.Join([]string{
	"sandbox allow-scripts",
	"default-src 'none'",
	"script-src 'unsafe-inline'",
	"style-src 'unsafe-inline'",
	"img-src data:",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'self'",
	"webrtc 'block'",
}, "; ")

// Protect sets the headers of a response with such a page.
func Protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-DNS-Prefetch-Control", "off") // DNS queries can carry data, too
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}
