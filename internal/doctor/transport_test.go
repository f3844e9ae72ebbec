package doctor_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/doctor"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// It says how others reach the server, and for how long its certificate is valid.
func TestTransport(t *testing.T) {
	for name, c := range map[string]struct {
		left   time.Duration // 0 for plain HTTP
		addr   string
		status doctor.Status
		says   string
	}{
		"this machine only": {0, "127.0.0.1:0", doctor.OK, "on this machine only"},
		"everybody":         {0, "0.0.0.0:0", doctor.Warn, "plain HTTP for everybody"},
		"TLS":               {time.Hour, "127.0.0.1:0", doctor.OK, "HTTPS, the certificate is valid until"},
		"TLS, ends soon":    {20 * time.Minute, "127.0.0.1:0", doctor.Warn, "HTTPS, and the certificate ends on"},
		"TLS, expired":      {-time.Minute, "127.0.0.1:0", doctor.Fail, "the certificate expired on"},
	} {
		t.Run(name, func(t *testing.T) {
			config := app.Config{Addr: c.addr, Insecure: true, Data: t.TempDir()}
			o := doctor.Options{Session: shoal.DefaultSession, Here: true, Version: "dev", Wait: 10 * time.Millisecond}
			if c.left != 0 {
				pair := tlstest.Until(t, time.Now().Add(c.left), "127.0.0.1")
				config.TLSCert, config.TLSKey = pair.CertFile, pair.KeyFile
				o.HTTP = pair.Client(t, true)
				// As for commands on the server's machine, whose trust is in the local certificate.
				o.HTTP.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true //nolint:forcetypeassert // it is tlstest's
			}
			s, key := apptest.Run(t, config)
			o.URL, o.Key, o.Config = strings.Replace(s.URL(), "[::]", "127.0.0.1", 1), key, config
			w := &world{t, s, o}
			w.expect("transport", c.status, c.says)
		})
	}
}
