package app_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/shoaltest/pebbletest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// acmeServer is a server with a certificate of Pebble.
type acmeServer struct {
	t         *testing.T
	authority *pebbletest.Authority
	config    app.Config
	log       lockedText
}

// lockedText is a text that several goroutines write.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newACME(t *testing.T, valid time.Duration, domains ...string) *acmeServer {
	t.Helper()
	addr := program.FreeAddr(t)
	s := &acmeServer{t: t, authority: pebbletest.Start(t, addr, valid)}
	s.config = app.Config{
		Data: t.TempDir(), Addr: addr, ACME: domains, ACMEEmail: "ops@shoal.example", ACMEDirectory: s.authority.Directory, ACMERoots: s.authority.RootsFile,
		Keys: func(string) string { return "" }, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	}
	return s
}

func (s *acmeServer) start() *app.Server {
	s.t.Helper()
	running, err := app.Start(s.t.Context(), s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	return running
}

// await returns the certificate for a server name when there is one that wanted accepts.
func (s *acmeServer) await(serverName string, wanted func(*x509.Certificate) bool) *x509.Certificate {
	s.t.Helper()
	dial := &tls.Dialer{Config: &tls.Config{RootCAs: s.authority.Roots(s.t), ServerName: serverName}}
	for began := time.Now(); ; <-time.After(20 * time.Millisecond) {
		conn, err := dial.DialContext(s.t.Context(), "tcp", s.config.Addr)
		if err == nil {
			leaf := conn.(*tls.Conn).ConnectionState().PeerCertificates[0] //nolint:forcetypeassert // which the Dialer promises
			_ = conn.Close()                                               // it was for its handshake
			if wanted(leaf) {
				return leaf
			}
		}
		if time.Since(began) > time.Minute {
			s.t.Fatalf("no such certificate of %s: %v\n%s", serverName, err, s.log.String())
		}
	}
}

func anyOf(*x509.Certificate) bool { return true }

// A certificate is obtained for each domain, kept over a restart, and hidden from other users.
func TestACMEObtainsAndKeeps(t *testing.T) {
	s := newACME(t, 90*24*time.Hour, "shoal.example", "www.shoal.example")
	running := s.start()
	first := s.await("shoal.example", anyOf)
	s.await("www.shoal.example", anyOf)
	if !strings.HasPrefix(running.URL(), "https://") {
		t.Errorf("the URL is %s", running.URL())
	}
	running.Stop()
	err := filepath.WalkDir(filepath.Join(s.config.Data, "acme"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	s.config.ACMEDirectory = "https://127.0.0.1:1/nobody" // an order would fail
	again := s.start()
	defer again.Stop()
	if second := s.await("shoal.example", anyOf); !bytes.Equal(first.Raw, second.Raw) {
		t.Error("after a restart the certificate is another one")
	}
}

// A certificate that ends soon is renewed, without a restart.
func TestACMERenews(t *testing.T) {
	s := newACME(t, 6*time.Second, "shoal.example")
	running := s.start()
	defer running.Stop()
	first := s.await("shoal.example", anyOf)
	next := s.await("shoal.example", func(c *x509.Certificate) bool { return !bytes.Equal(c.Raw, first.Raw) })
	if !next.NotAfter.After(first.NotAfter) {
		t.Errorf("the next certificate ends at %v, the first one at %v", next.NotAfter, first.NotAfter)
	}
}

// An authority that cannot be reached is reported with what to do, and the server ends at once.
func TestACMEWithoutAuthority(t *testing.T) {
	var log lockedText
	s, err := app.Start(t.Context(), app.Config{
		Data: t.TempDir(), Addr: "127.0.0.1:0", ACME: []string{"shoal.example"}, ACMEDirectory: "https://127.0.0.1:1/nobody",
		Log: slog.New(slog.NewTextHandler(&log, nil)), Keys: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); !strings.Contains(log.String(), "no certificate was obtained"); <-time.After(5 * time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the log says %s", log.String())
		}
	}
	s.Stop()
}
