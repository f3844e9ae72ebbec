package console

import (
	"net/http"
	"strings"
)

// policy lets a browser run the console's own scripts and load its own files, and
// nothing else. The scripts cannot turn a string into a program or into markup.
var policy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self' blob: data:",
	"font-src 'self'",
	"connect-src 'self'",
	"worker-src 'self'",
	"frame-src 'self'",
	"manifest-src 'self'",
	"frame-ancestors 'none'",
	"base-uri 'none'",
	"form-action 'self'",
	"require-trusted-types-for 'script'",
}, "; ")

// protect sets the headers of every answer.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}
