package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"time"
)

// localName is the server name in handshakes of programs that want the local certificate. No name server
// answers for it.
const localName = "local.shoal.internal"

// localLife is longer than a process runs.
const localLife = 10 * 365 * 24 * time.Hour

// Local is a certificate of one process, with which programs on its machine recognise it: that of other
// clients need not be valid for an address of the machine, and may not be obtained yet.
type Local struct {
	pair tls.Certificate
	// PEM is the certificate as a text, without the private key, for [LocalClient].
	PEM string
}

// NewLocal makes a local certificate. Its private key stays in memory.
func NewLocal() (*Local, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: localName}, DNSNames: []string{localName}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(localLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	return &Local{
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private},
		PEM:  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
	}, nil
}

// LocalClient returns a client for the one server with the local certificate. It trusts no other and goes
// through no proxy. A text without a certificate trusts none.
func LocalClient(text string) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(text))
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: localName},
		ForceAttemptHTTP2: true, MaxIdleConns: 100, MaxIdleConnsPerHost: 100, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
	}}
}
