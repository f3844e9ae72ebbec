// Package pebbletest starts Pebble, the certificate authority that Let's Encrypt tests ACME clients with.
package pebbletest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// Authority is a running Pebble, for which every name is that of the loopback address.
type Authority struct {
	// Directory is the URL of its directory, and RootsFile has the certificate by which it is trusted.
	Directory, RootsFile string

	pair       *tlstest.Pair
	management string
}

// startsWithin is the time within which Pebble must answer, on a busy machine.
const startsWithin = 30 * time.Second

// Start starts an authority until the end of the test, which must not be parallel. It looks for the servers
// of names at an address of the loopback interface, and its certificates are valid for the time. If Pebble is not
// built, the test fails with the command that builds it.
func Start(t *testing.T, server string, valid time.Duration) *Authority {
	t.Helper()
	binary := program.Installed(t, ".cache/bin/pebble")
	at, err := netip.ParseAddrPort(server)
	if err != nil {
		t.Fatal(err)
	}
	addr, management := program.FreeAddr(t), program.FreeAddr(t)
	pair := tlstest.New(t, "127.0.0.1")
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": addr, "managementListenAddress": management, "certificate": pair.CertFile, "privateKey": pair.KeyFile,
		"httpPort": 1, "tlsPort": at.Port(), "keyAlgorithm": "ecdsa", "retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles": map[string]any{"default": map[string]any{"description": "of a test", "validityPeriod": int(valid.Seconds())}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pebble.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	said := program.StartLines(t, binary, "-config", path, "-dnsserver", startDNS(t))
	go func() { // ends with Pebble
		for line := range said.Out {
			t.Logf("pebble: %s", line)
		}
	}()
	a := &Authority{"https://" + addr + "/dir", pair.CertFile, pair, "https://" + management}
	for began := time.Now(); a.answers(t) != nil; <-time.After(10 * time.Millisecond) {
		if time.Since(began) > startsWithin {
			t.Fatalf("Pebble does not answer: %v", a.answers(t))
		}
	}
	return a
}

func (a *Authority) answers(t *testing.T) error {
	t.Helper()
	res, err := a.pair.Client(t, false).Get(a.Directory)
	if err == nil {
		err = res.Body.Close()
	}
	return err
}

// RootPEM returns the certificate in PEM by which clients trust the certificates of the authority.
func (a *Authority) RootPEM(t *testing.T) []byte {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pair.Roots()}, DisableKeepAlives: true}}
	res, err := client.Get(a.management + "/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v: %s", err, text)
	}
	return text
}

// Roots returns a pool with the certificate of RootPEM.
func (a *Authority) Roots(t *testing.T) *x509.CertPool {
	t.Helper()
	roots, text := x509.NewCertPool(), a.RootPEM(t)
	if !roots.AppendCertsFromPEM(text) {
		t.Fatalf("no certificate: %s", text)
	}
	return roots
}

// startDNS starts a name server that answers with the loopback address for every name, until the end of the
// test, and returns its address. Pebble asks over TCP.
func startDNS(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { answer(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // ends the goroutine
		serving.Wait()
	})
	return listener.Addr().String()
}

// answer answers one query of a connection.
func answer(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // who asked asks again
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return
	}
	if text, err := resolve(query); err == nil {
		_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...)) // as above
	}
}

// resolve answers a query.
func resolve(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Response, m.Additionals = true, nil
	for _, q := range m.Questions {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
			})
		}
	}
	return m.Pack()
}
