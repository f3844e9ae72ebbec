package e2e_test

import (
	"crypto/tls"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// trust makes the clients of a test, which must not be parallel, trust a new certificate of the loopback
// address.
func trust(t *testing.T) *tlstest.Pair {
	t.Helper()
	pair := tlstest.New(t, "127.0.0.1")
	t.Setenv("NODE_EXTRA_CA_CERTS", pair.CertFile)
	t.Setenv("SSL_CERT_FILE", pair.CertFile)
	usual := http.DefaultTransport
	own := usual.(*http.Transport).Clone() //nolint:forcetypeassert // nothing replaces it
	own.TLSClientConfig = &tls.Config{RootCAs: pair.Roots()}
	http.DefaultTransport = own
	t.Cleanup(func() {
		own.CloseIdleConnections()
		http.DefaultTransport = usual
	})
	return pair
}

// Every client waits over TLS, is woken by a message, and can give up.
func TestClientsOverTLS(t *testing.T) {
	pair := trust(t)
	s := serve(t, t.TempDir(), "--tls-cert", pair.CertFile, "--tls-key", pair.KeyFile)
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatalf("the server is up on %s", s.url)
	}
	for _, with := range append([]client{ts1Progress, ts2Progress}, everyKind()...) {
		t.Run(with.name, func(t *testing.T) {
			p := meet(t, s, with)
			wait := p.agent.begin(t, "wait_for_mentions", args{"timeoutMs": 600_000})
			p.untilWaiting(t, shoal.DefaultSession, p.id)
			p.post("wake up")
			var got shoal.WaitResult
			succeeded(t, wait, &got)
			if diff := cmp.Diff(map[string]int{"wake up": 1}, texts(got)); diff != "" {
				t.Errorf("the wait (-want +got):\n%s", diff)
			}
			wait = p.agent.begin(t, "wait_for_mentions", args{"timeoutMs": 600_000})
			p.untilWaiting(t, shoal.DefaultSession, p.id)
			wait.cancel()
			if o := <-wait.done; o.err == nil {
				t.Errorf("the call that was given up brought %+v", o.result)
			}
			p.until(t, shoal.DefaultSession, p.id, shoal.Connected)
		})
	}
}

// curl speaks HTTP/2 with the server, and reads how a wait ends.
func TestCurlOverTLS(t *testing.T) {
	pair := trust(t)
	s := serve(t, t.TempDir(), "--tls-cert", pair.CertFile, "--tls-key", pair.KeyFile)
	out, err := exec.CommandContext(bounded(t), "curl", "-sS", "--http2", "--cacert", pair.CertFile, "-w", " over HTTP/%{http_version}",
		"-H", "Authorization: Bearer "+s.admin, "-H", "X-Shoal-Entity: operator", "--json", `{"kind":"mentions","timeoutMs":300}`,
		s.url+"/v1/sessions/default/entities/operator/wait").CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, `"timedOut":true`) || !strings.HasSuffix(text, " over HTTP/2") {
		t.Errorf("%v: %s", err, text)
	}
}

// Commands find a server that speaks TLS by its data directory, whatever the names of its certificate and
// whether anybody has signed it.
func TestCommandsFindTheirServerOverTLS(t *testing.T) {
	pair := tlstest.New(t, "shoal.example")
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, data, "--tls-cert", pair.CertFile, "--tls-key", pair.KeyFile)
	if !strings.HasPrefix(s.url, "https://shoal.example:") {
		t.Errorf("the greeting says %s", s.url)
	}
	for _, c := range []struct {
		args, says string
	}{
		{"spaces", "welcome"},
		{"console --admin", "https://shoal.example:"},
		{"invite Ann", "https://shoal.example:"},
		{"doctor --ready", ""},
		{"doctor", "it answers at https://127.0.0.1:"},
		{"send welcome hello", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			cmd := exec.CommandContext(bounded(t), shoalBinary.Path(), append([]string{"--data", data}, strings.Fields(c.args)...)...)
			cmd.Env = cleanEnviron()
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.says) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
