package certificate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// AuthorityOptions configure an [Authority].
type AuthorityOptions struct {
	// Domains are the host names, of which each has a certificate of its own.
	Domains []string
	// Email is where the authority writes to when there is a problem. It may be empty.
	Email string
	// Directory is the URL of the authority, Let's Encrypt if empty. RootsFile has certificates in PEM
	// that the authority itself is trusted by; empty means those that the machine trusts.
	Directory, RootsFile string
	// Dir is a directory for the account and the certificates with their private keys.
	Dir string
	// Log receives what goes wrong.
	Log *slog.Logger
}

// Authority gets certificates from an authority over ACME, renews them, and keeps them in files that only
// its owner can read. It proves that it has the domains on the port of the server itself (TLS-ALPN-01).
// Only it decides when to order: handshakes cannot make it do so.
type Authority struct {
	o       AuthorityOptions
	manager *autocert.Manager
	over    http.RoundTripper
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	ready  map[string]bool // the domains that have a certificate
	warned time.Time       // when the last warning about a late renewal was written
}

var domain = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$`)

// New returns an authority, which orders nothing before Start. The error, of kind InvalidArgument, says
// what to do. The caller must call Stop.
func New(o AuthorityOptions) (*Authority, error) {
	for _, name := range o.Domains {
		if !domain.MatchString(name) {
			return nil, invalid(fmt.Sprintf("--acme %s is not a domain: write a whole name in lower case, such as shoal.example, without a port or *.", name))
		}
	}
	usual, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("certificate: the default transport is not that of net/http")
	}
	over := usual.Clone()
	if o.RootsFile != "" {
		text, err := os.ReadFile(o.RootsFile)
		roots := x509.NewCertPool()
		if err == nil && !roots.AppendCertsFromPEM(text) {
			err = errors.New("it has no certificate in PEM")
		}
		if err != nil {
			return nil, invalid(fmt.Sprintf("--acme-roots cannot be used: %v. Name a file of PEM with the certificate that has signed that of the authority.", err))
		}
		over.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	a := &Authority{o: o, over: over, ready: map[string]bool{}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(o.Dir), HostPolicy: autocert.HostWhitelist(o.Domains...), Email: o.Email,
		Client: &acme.Client{
			DirectoryURL: cmp.Or(o.Directory, autocert.DefaultACMEDirectory), HTTPClient: &http.Client{Transport: requests{a}}, UserAgent: "shoal", RetryBackoff: a.backoff,
		},
	}
	return a, nil
}

const (
	// pollEvery is how often the authority is asked at least while it works on an order: Stop waits for
	// the question.
	pollEvery = 2 * time.Second
	// mostTries is how often one request is repeated.
	mostTries = 5
	// firstPause and longestPause are between two failed orders. Let's Encrypt allows five in an hour.
	firstPause, longestPause = 5 * time.Minute, time.Hour
	// largestResponse bounds what is read from the authority.
	largestResponse = 1 << 20
)

func (a *Authority) backoff(n int, _ *http.Request, _ *http.Response) time.Duration {
	if a.ctx.Err() != nil || n > mostTries {
		return -1
	}
	return pollEvery
}

// requests makes the requests to the authority until Stop.
type requests struct{ *Authority }

// RoundTrip implements [http.RoundTripper]. The response is read completely.
func (a requests) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	res, err := a.over.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, largestResponse))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	if res.Header.Get("Retry-After") != "" {
		res.Header.Set("Retry-After", fmt.Sprint(int(pollEvery.Seconds())))
	}
	return res, nil
}

// Start obtains the certificates that are missing, without waiting for them: the server must be reachable
// for it.
func (a *Authority) Start() {
	for _, name := range a.o.Domains {
		a.running.Go(func() { a.obtain(name) })
	}
}

// obtain tries until a domain has a certificate.
func (a *Authority) obtain(name string) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		got, err := a.get(name, nil)
		if err == nil {
			a.mu.Lock()
			a.ready[name] = true
			a.mu.Unlock()
			a.o.Log.Info("the server has a certificate", "domain", name, "expires", got.Leaf.NotAfter)
			return
		}
		if a.ctx.Err() != nil {
			return
		}
		a.o.Log.Error("no certificate was obtained: the name must lead to this server, and the authority must reach it on port 443; it is tried again", "domain", name, "in", pause, "error", err)
		select {
		case <-a.ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// get returns the certificate of a domain, or that of a challenge of the authority.
func (a *Authority) get(name string, protocols []string) (*tls.Certificate, error) {
	return a.manager.GetCertificate(&tls.ClientHelloInfo{
		ServerName: name, SupportedProtos: protocols,
		CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}, // one kind of key for all clients
	})
}

// Get returns the certificate for a handshake: that of the first domain for clients that name none of them,
// such as the probes of a load balancer.
func (a *Authority) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := strings.TrimSuffix(strings.ToLower(hello.ServerName), ".")
	if !slices.Contains(a.o.Domains, name) {
		name = a.o.Domains[0]
	}
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return a.get(name, hello.SupportedProtos)
	}
	a.mu.Lock()
	ready := a.ready[name]
	a.mu.Unlock()
	if !ready {
		return nil, fmt.Errorf("the certificate of %s is not obtained yet", name)
	}
	got, err := a.get(name, nil)
	if err == nil {
		a.warnLate(name, got.Leaf)
	}
	return got, err
}

// warnLate warns about a certificate that should have been renewed, at most once an hour.
func (a *Authority) warnLate(name string, leaf *x509.Certificate) {
	a.mu.Lock()
	defer a.mu.Unlock()
	left, life := time.Until(leaf.NotAfter), leaf.NotAfter.Sub(leaf.NotBefore)
	if left > min(life/6, 15*24*time.Hour) || time.Since(a.warned) < time.Hour {
		return
	}
	a.warned = time.Now()
	a.o.Log.Warn("the certificate should have been renewed: the authority must reach this server on port 443", "domain", name, "expires", leaf.NotAfter)
}

// Cancel ends all requests to the authority. Later requests fail.
func (a *Authority) Cancel() { a.cancel() }

// Stop cancels, and waits until nothing runs.
func (a *Authority) Stop() {
	a.cancel()
	a.running.Wait()
}
