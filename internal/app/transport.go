package app

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/certificate"
)

// transport is how requests reach the server: over plain HTTP, or over TLS.
type transport struct {
	secure *tls.Config // nil for plain HTTP
	// authority is nil if the certificates come from elsewhere.
	authority *certificate.Authority
	local     *certificate.Local
	names     []string // the host names of the certificate
}

// checkTransport returns an error if the settings of the transport contradict each other.
func (c *Config) checkTransport() error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		given, missing := "--tls-cert", "--tls-key"
		if c.TLSCert == "" {
			given, missing = missing, given
		}
		return shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("%s is set without %s: set both to serve HTTPS, or none.", given, missing))
	}
	if c.TLSCert != "" && len(c.ACME) > 0 {
		return shoal.E("app.Config", shoal.InvalidArgument, "--acme and --tls-cert are two ways to have a certificate: choose one.")
	}
	if len(c.ACME) == 0 && (c.ACMEEmail != "" || c.ACMEDirectory != "" || c.ACMERoots != "") {
		return shoal.E("app.Config", shoal.InvalidArgument, "--acme is missing: name the domain of the certificate, or leave the other settings of ACME out.")
	}
	if _, readable := c.Transport(); readable && !c.Insecure {
		return shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("--addr %s is reached by other machines, and over plain HTTP keys and messages can be read on the way. "+
			"Serve HTTPS with --tls-cert and --tls-key or with --acme, or name the network of a proxy that does with --trust-proxy, or listen on 127.0.0.1; --insecure allows it as it is.", c.Addr))
	}
	return nil
}

// Transport says in one line how others reach a server with this configuration, and whether what
// they send can be read on the way.
func (c *Config) Transport() (text string, readable bool) {
	host, _, _ := net.SplitHostPort(c.Addr) // an invalid one is an error elsewhere
	switch {
	case len(c.ACME) > 0:
		return "HTTPS for " + strings.Join(c.ACME, ", "), false
	case c.secure():
		return "HTTPS with the certificate " + c.TLSCert, false
	case Loopback(host):
		return "plain HTTP on this machine only", false
	case len(c.TrustProxies) > 0:
		return "plain HTTP for the proxies in " + strings.Join(c.TrustProxies, ", "), false
	}
	return "plain HTTP for everybody", true
}

// secure reports whether the server speaks HTTPS.
func (c *Config) secure() bool { return c.TLSCert != "" || len(c.ACME) > 0 }

// openTransport reads the certificate.
func (s *Server) openTransport() error {
	c := s.config
	if !c.secure() {
		return nil
	}
	local, err := certificate.NewLocal()
	if err != nil {
		return fmt.Errorf("make the local certificate: %w", err)
	}
	t := transport{local: local, names: c.ACME}
	if len(c.ACME) > 0 {
		t.authority, err = certificate.New(certificate.AuthorityOptions{
			Domains: c.ACME, Email: c.ACMEEmail, Directory: c.ACMEDirectory, RootsFile: c.ACMERoots, Dir: filepath.Join(c.Data, "acme"), Log: c.Log,
		})
		if err != nil {
			return err
		}
		t.secure = certificate.Config(t.authority.Get, local)
	} else {
		files, err := certificate.Load(c.TLSCert, c.TLSKey, c.Log)
		if err != nil {
			return err
		}
		t.secure, t.names = certificate.Config(files.Get, local), files.Names()
	}
	s.transport = t
	return nil
}

// start obtains certificates, now that the server answers.
func (t *transport) start() {
	if t.authority != nil {
		t.authority.Start()
	}
}

// stop ends what start has begun. The first call only makes it end, so that the second one waits for less.
func (t *transport) stop(wait bool) {
	switch {
	case t.authority == nil:
	case wait:
		t.authority.Stop()
	default:
		t.authority.Cancel()
	}
}

// wrap returns a listener that speaks the transport.
func (t *transport) wrap(l net.Listener) net.Listener {
	if t.secure == nil {
		return l
	}
	return tls.NewListener(l, t.secure)
}

func (t *transport) scheme() string {
	if t.secure == nil {
		return "http"
	}
	return "https"
}

// strictly makes browsers use HTTPS only, for half a year from each response.
const strictly = "max-age=15768000"

// handler adds what responses over TLS have.
func (t *transport) handler(next http.Handler) http.Handler {
	if t.secure == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Browsers apply it to every port of a host, and other programs of this machine speak plain HTTP.
		if r.TLS != nil && r.TLS.ServerName != "" && !Loopback(r.TLS.ServerName) {
			w.Header().Set("Strict-Transport-Security", strictly)
		}
		next.ServeHTTP(w, r)
	})
}

// httpLog writes to the log what net/http has to say. What a client does wrong in a handshake concerns
// nobody else.
type httpLog struct{ log *slog.Logger }

// Write implements [io.Writer].
func (h httpLog) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if bytes.Contains(line, []byte("TLS handshake error")) {
		h.log.Debug(text)
	} else {
		h.log.Error(text)
	}
	return len(line), nil
}

// here is where programs on this machine reach the server.
func (s *Server) here() string {
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return s.transport.scheme() + "://" + net.JoinHostPort("localhost", port)
	}
	return s.URL()
}

// origin is where browsers reach the server: over TLS under a name of its certificate.
func (s *Server) origin() string {
	names := s.transport.names
	if len(names) == 0 {
		return s.here()
	}
	for _, allowed := range s.config.AllowOrigins {
		if at, err := url.Parse(allowed); err == nil && at.Scheme == "https" && slices.Contains(names, at.Hostname()) {
			return allowed
		}
	}
	_, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil || port == "443" {
		return "https://" + names[0]
	}
	return "https://" + net.JoinHostPort(names[0], port)
}

// publicOrigin is the origin for a guard, which has it only over TLS.
func (s *Server) publicOrigin() string {
	if len(s.transport.names) == 0 {
		return ""
	}
	return s.origin()
}
