// Package certificate has the certificates of a server that speaks TLS: [Files] reads one from two files
// and reads them anew when they change, [Authority] gets them from an authority over ACME, and [Local] is one
// for programs on the server's own machine.
//
//	files, err := certificate.Load(certFile, keyFile, log)
//	local, err := certificate.NewLocal()
//	listener = tls.NewListener(listener, certificate.Config(files.Get, local))
//
// Guarantees:
//   - A pair of files that cannot be used never replaces one that can.
//   - Handshakes read files only when they have changed, and check that at most once a second.
//   - No private key leaves the process, except those from an authority, to files that only its owner can
//     read.
package certificate

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/shoal-dev/shoal"
)

// Get returns the certificate for a handshake.
type Get func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// Config returns the configuration of a listener for HTTP/2 and HTTP/1.1, with the versions of TLS and the
// ciphers that Go chooses. Programs that ask for the local certificate get it, all others what get returns.
// Challenges of an authority come over the protocol of ACME.
func Config(get Get, local *Local) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1", acme.ALPNProto},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName == localName {
				return &local.pair, nil
			}
			return get(hello)
		},
	}
}

// checkEvery is how long a check of the files holds.
const checkEvery = time.Second

// Files is a certificate with its private key in two files of PEM, which another program may renew. It is
// safe for concurrent use.
type Files struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	read    [2]fs.FileInfo // the files of current
	checked time.Time
	broken  int // how many checks in a row have found files that cannot be used
}

// Load reads a pair of files. The error, of kind InvalidArgument, says what to do. An expired certificate
// is used, with a warning: clients refuse it, but the server's own machine reaches the server.
func Load(cert, key string, log *slog.Logger) (*Files, error) {
	f := &Files{cert: cert, key: key, log: log}
	var err error
	if f.current, f.read, err = f.load(); err != nil {
		return nil, err
	}
	f.checked = time.Now()
	f.warnExpired()
	return f, nil
}

// load reads the files and checks that they belong together.
func (f *Files) load() (*tls.Certificate, [2]fs.FileInfo, error) {
	var read [2]fs.FileInfo
	var text [2][]byte
	for i, file := range []struct{ setting, path string }{{"--tls-cert", f.cert}, {"--tls-key", f.key}} {
		var err error
		if read[i], err = os.Stat(file.path); err == nil {
			text[i], err = os.ReadFile(file.path)
		}
		if err != nil {
			return nil, read, invalid(fmt.Sprintf("%s cannot be read: %v. Name a file of PEM that the user of the server may read.", file.setting, err))
		}
	}
	pair, err := tls.X509KeyPair(text[0], text[1])
	if err != nil {
		return nil, read, invalid(fmt.Sprintf("--tls-cert %s and --tls-key %s cannot be used: %v. Name the certificate with its chain, and the private key that belongs to it, both in PEM.", f.cert, f.key, err))
	}
	return &pair, read, nil
}

func invalid(text string) error { return shoal.E("certificate", shoal.InvalidArgument, text) }

// Get returns the certificate of the files as they are now, or as they were when they could last be used.
func (f *Files) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.checked) >= checkEvery {
		f.checked = now
		f.check()
	}
	return f.current, nil
}

// check reads the files if they have changed. mu must be held.
func (f *Files) check() {
	if f.broken == 0 && f.same() {
		return
	}
	pair, read, err := f.load()
	if err == nil {
		f.current, f.read, f.broken = pair, read, 0
		f.log.Info("the TLS certificate was read anew", "file", f.cert, "expires", pair.Leaf.NotAfter)
		f.warnExpired()
		return
	}
	// The first failure may have come between the writes of the two files.
	if f.broken++; f.broken == 2 {
		f.log.Warn("the changed TLS certificate cannot be used, and the server continues with the one before: correct the files, they are read again by themselves", "expires", f.current.Leaf.NotAfter, "error", err)
	}
}

// same reports whether the files are those that were read. mu must be held.
func (f *Files) same() bool {
	for i, path := range []string{f.cert, f.key} {
		info, err := os.Stat(path)
		if err != nil || !os.SameFile(info, f.read[i]) || info.Size() != f.read[i].Size() || !info.ModTime().Equal(f.read[i].ModTime()) {
			return false
		}
	}
	return true
}

func (f *Files) warnExpired() {
	if leaf := f.current.Leaf; time.Now().After(leaf.NotAfter) {
		f.log.Warn("the TLS certificate has expired, and clients refuse it: renew it, the files are read again by themselves", "file", f.cert, "expired", leaf.NotAfter)
	}
}

// Names returns the host names of the certificate, without those that stand for several.
func (f *Files) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.current.Leaf.DNSNames), func(name string) bool { return name == "" || name[0] == '*' })
}
