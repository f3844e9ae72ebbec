// Package tlstest makes the certificates of servers in tests.
package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Pair is a certificate that signs itself, with its private key, in two files of PEM.
type Pair struct {
	// CertFile and KeyFile are the paths of the files.
	CertFile, KeyFile string
	tls.Certificate
}

// New makes a pair that is valid for an hour for the names, of which addresses may be some. Its files
// are in a directory of the test.
func New(t testing.TB, names ...string) *Pair {
	t.Helper()
	return Until(t, time.Now().Add(time.Hour), names...)
}

// Until is [New] with the end of the validity.
func Until(t testing.TB, end time.Time, names ...string) *Pair {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Shoal, for a test"}, NotBefore: end.Add(-2 * time.Hour), NotAfter: end, BasicConstraintsValid: true, IsCA: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &Pair{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	certText := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	keyText := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	for path, text := range map[string][]byte{p.CertFile: certText, p.KeyFile: keyText} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if p.Certificate, err = tls.X509KeyPair(certText, keyText); err != nil {
		t.Fatal(err)
	}
	return p
}

// Roots returns a pool that trusts this certificate only.
func (p *Pair) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(p.Leaf)
	return roots
}

// Client returns a client that trusts this certificate only, with HTTP/2 or with HTTP/1.1 only. Its idle
// connections end with the test.
func (p *Pair) Client(t testing.TB, http2 bool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Roots()}, Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
