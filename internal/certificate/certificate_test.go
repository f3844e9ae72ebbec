package certificate_test

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/certificate"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// What cannot work is refused at the start, with what to do.
func TestLoadRefusesWhatCannotWork(t *testing.T) {
	one, other := tlstest.New(t, "shoal.example"), tlstest.New(t, "shoal.example")
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for name, c := range map[string]struct{ cert, key, says string }{
		"no certificate":      {missing, one.KeyFile, "--tls-cert cannot be read"},
		"no key":              {one.CertFile, missing, "--tls-key cannot be read"},
		"the key of another":  {one.CertFile, other.KeyFile, "private key does not match public key"},
		"the two exchanged":   {one.KeyFile, one.CertFile, "Name the certificate with its chain"},
		"a directory, no PEM": {filepath.Dir(one.CertFile), one.KeyFile, "--tls-cert cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := certificate.Load(c.cert, c.key, slog.New(slog.DiscardHandler))
			if !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an invalid_argument with %q", err, c.says)
			}
		})
	}
}

// files are a pair in place, which a test replaces.
type files struct {
	*testing.T
	*certificate.Files
	cert, key string
	log       strings.Builder
}

func load(t *testing.T, first *tlstest.Pair) *files {
	t.Helper()
	dir := t.TempDir()
	f := &files{T: t, cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	f.replace(f.cert, first.CertFile)
	f.replace(f.key, first.KeyFile)
	var err error
	if f.Files, err = certificate.Load(f.cert, f.key, slog.New(slog.NewTextHandler(&f.log, nil))); err != nil {
		t.Fatal(err)
	}
	return f
}

// replace puts a copy of a file in the place of another.
func (f *files) replace(path, with string) {
	f.Helper()
	text, err := os.ReadFile(with)
	if err == nil {
		err = errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path))
	}
	if err != nil {
		f.Fatal(err)
	}
}

// expect compares the certificate of a handshake.
func (f *files) expect(want *tlstest.Pair, when string) {
	f.Helper()
	got, err := f.Get(&tls.ClientHelloInfo{})
	if err != nil || !got.Leaf.Equal(want.Leaf) {
		f.Errorf("%s: got another certificate, %v", when, err)
	}
}

// passSecond waits as long as files are used without being read anew.
func passSecond() { <-time.After(time.Second) }

// New files are used within a second, without a restart.
func TestChangedFilesAreReadAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := tlstest.New(t, "shoal.example"), tlstest.New(t, "shoal.example")
		f := load(t, first)
		f.expect(first, "at the start")
		f.replace(f.cert, second.CertFile)
		f.replace(f.key, second.KeyFile)
		f.expect(first, "within the second")
		passSecond()
		f.expect(second, "a second later")
		if !strings.Contains(f.log.String(), "was read anew") {
			t.Errorf("the log says %q", f.log.String())
		}
	})
}

// A pair that cannot be used leaves the old one, is warned about once, and is used when it is complete.
func TestBrokenFilesKeepTheOldPair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := tlstest.New(t, "shoal.example"), tlstest.New(t, "shoal.example")
		f := load(t, first)
		f.replace(f.cert, second.CertFile)
		passSecond()
		f.expect(first, "with the key of another")
		if f.log.Len() > 0 {
			t.Errorf("between two writes the log says %q", f.log.String())
		}
		for range 5 {
			passSecond()
			f.expect(first, "with the key of another")
		}
		if got := f.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") || !strings.Contains(got, "correct the files") {
			t.Errorf("the log says %q, want one warning", got)
		}
		f.replace(f.key, second.KeyFile)
		passSecond()
		f.expect(second, "with its own key")
		if err := os.Remove(f.cert); err != nil {
			t.Fatal(err)
		}
		passSecond()
		f.expect(second, "without a file")
		if _, err := os.Stat(f.cert); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file: %v", err)
		}
	})
}

// An expired certificate is used, and warned about.
func TestExpiredCertificateIsWarnedAbout(t *testing.T) {
	expired := tlstest.Until(t, time.Now().Add(-time.Minute), "shoal.example")
	f := load(t, expired)
	f.expect(expired, "after the end")
	if !strings.Contains(f.log.String(), "has expired") {
		t.Errorf("the log says %q", f.log.String())
	}
}

// Programs on the machine reach the server with its local certificate, others do not see it.
func TestLocalCertificate(t *testing.T) {
	pair := tlstest.New(t, "shoal.example", "127.0.0.1")
	f, err := certificate.Load(pair.CertFile, pair.KeyFile, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	local, err := certificate.NewLocal()
	if err != nil {
		t.Fatal(err)
	}
	other, err := certificate.NewLocal()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
		ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(tls.NewListener(listener, certificate.Config(f.Get, local))) })
	defer serving.Wait()
	defer server.Close()
	for name, c := range map[string]struct {
		client *http.Client
		works  bool
	}{
		"the public one":           {pair.Client(t, true), true},
		"the local one":            {certificate.LocalClient(local.PEM), true},
		"that of another process":  {certificate.LocalClient(other.PEM), false},
		"none":                     {certificate.LocalClient(""), false},
		"the public one, HTTP/1.1": {pair.Client(t, false), true},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := c.client.Get("https://" + listener.Addr().String())
			if (err == nil) != c.works {
				t.Fatalf("got %v, works %v", err, c.works)
			}
			if err == nil {
				_ = res.Body.Close() // it is empty
				if want := map[bool]int{true: 1, false: 2}[strings.Contains(name, "1.1")]; res.ProtoMajor != want || res.TLS.Version < tls.VersionTLS12 {
					t.Errorf("got HTTP/%d, TLS %x", res.ProtoMajor, res.TLS.Version)
				}
			}
			c.client.CloseIdleConnections()
		})
	}
}
