package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/shoal-dev/shoal/internal/app"
)

// renewSoon is how long before its end a certificate should have been renewed.
const renewSoon = 7 * 24 * time.Hour

// transport checks whether what is sent to the server can be read on the way, and for how long its
// certificate is valid.
func (x *examination) transport(ctx context.Context) {
	const check = "transport"
	at, err := url.Parse(x.URL)
	if err != nil {
		return // the check of the server has said so
	}
	if at.Scheme == "https" {
		x.certificate(ctx, at)
		return
	}
	if !app.Loopback(at.Hostname()) {
		x.warn(check, "plain HTTP to another machine: keys and messages can be read on the way", "call it by https, through its own TLS or that of a proxy")
		return
	}
	text, readable := "plain HTTP on this machine only", false
	if x.Here && x.Config.Addr != "" {
		text, readable = x.Config.Transport()
	}
	if readable {
		x.warn(check, text+": keys and messages can be read on the way", "serve TLS with --tls-cert and --tls-key, or listen on 127.0.0.1")
		return
	}
	x.ok(check, text)
}

// certificate checks the certificate that others see. Nothing but the handshake is sent.
func (x *examination) certificate(ctx context.Context, at *url.URL) {
	const check, renew = "transport", "renew the certificate; the server reads its files again by itself"
	leaf, err := shownCertificate(ctx, at)
	if err != nil {
		x.fail(check, "the certificate cannot be read: "+err.Error(), "check the server's log")
		return
	}
	left, until := time.Until(leaf.NotAfter), leaf.NotAfter.UTC().Format(time.DateOnly)
	life := leaf.NotAfter.Sub(leaf.NotBefore)
	switch {
	case left <= 0:
		x.fail(check, "HTTPS, but the certificate expired on "+until, renew)
	case left < min(renewSoon, life/4):
		x.warn(check, "HTTPS, and the certificate ends on "+until, renew)
	default:
		x.ok(check, fmt.Sprintf("HTTPS, the certificate is valid until %s", until))
	}
}

// shownCertificate returns the certificate that a server shows, whether or not it is trusted.
func shownCertificate(ctx context.Context, at *url.URL) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	port := at.Port()
	if port == "" {
		port = "443"
	}
	dial := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, ServerName: at.Hostname(), InsecureSkipVerify: true}} //nolint:gosec // it is only read
	conn, err := dial.DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), port))
	if err != nil {
		return nil, err
	}
	defer conn.Close()                                                 //nolint:errcheck // nothing was sent
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil //nolint:forcetypeassert // which the Dialer promises
}
