package app_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// secureServer is a server over TLS, with clients that speak one version of HTTP.
type secureServer struct {
	*app.Server
	http   *http.Client
	key    string
	admin  *client.Client
	writer *client.Session // of another entity in the space welcome
}

// overTLS runs a test with HTTP/1.1, where waits are detached, and with HTTP/2, where they are not.
func overTLS(t *testing.T, test func(t *testing.T, s *secureServer)) {
	t.Helper()
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			s := startSecure(t, http2)
			t.Cleanup(s.Stop)
			test(t, s)
		})
	}
}

// startSecure starts a server, which the caller must stop.
func startSecure(t *testing.T, http2 bool) *secureServer {
	t.Helper()
	pair := tlstest.New(t, "127.0.0.1", "shoal.example")
	config := app.Config{
		Data: t.TempDir(), Addr: "127.0.0.1:0", DetachAfter: time.Millisecond, Keys: func(string) string { return "" },
		TLSCert: pair.CertFile, TLSKey: pair.KeyFile,
	}
	running, err := app.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	s := &secureServer{Server: running, http: pair.Client(t, http2)}
	if s.key, err = app.ReadAdminKey(config.Data); err != nil {
		t.Fatal(err)
	}
	s.admin = s.client(t, s.key, shoal.Operator)
	s.writer = s.client(t, apptest.Key(t, s.admin, "writer"), "").Session(shoal.DefaultSession)
	if _, err := s.admin.Session(shoal.DefaultSession).AddMember(t.Context(), app.Welcome, "writer"); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *secureServer) client(t *testing.T, key string, as shoal.EntityID) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: s.URL(), Key: key, As: as, HTTP: s.http, RetryFor: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call makes a call as the operator and returns its response, and its body as a text.
func (s *secureServer) call(t *testing.T, host, method, path, body string) (status, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("X-Shoal-Entity", string(shoal.Operator))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.Status, string(answer)
}

// A wait is answered with the message, and the next calls on its connection are known to be secure.
func TestWaitOverTLS(t *testing.T) {
	overTLS(t, func(t *testing.T, s *secureServer) {
		for range 3 {
			waited := make(chan string, 1)
			go func() {
				_, text := s.call(t, "", "POST", "/v1/sessions/default/entities/operator/wait", `{"kind":"mentions","timeoutMs":60000}`)
				waited <- text
			}()
			awaitState(t, s.admin, shoal.Waiting)
			draft := shoal.Draft{Parts: []shoal.Part{shoal.Text("wake up")}, Mentions: []shoal.EntityID{shoal.Operator}}
			if _, err := s.writer.Post(t.Context(), app.Welcome, draft); err != nil {
				t.Fatal(err)
			}
			select {
			case text := <-waited:
				if !strings.Contains(text, "wake up") {
					t.Errorf("the wait is answered with %s", text)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("the wait is not answered")
			}
			for range 4 { // on whichever connection is idle
				if status, text := s.call(t, "", "POST", "/console/links", ""); !strings.Contains(text, "https://shoal.example:") {
					t.Errorf("%s: the link is %s", status, text)
				}
			}
		}
	})
}

// awaitState returns when the operator has a state.
func awaitState(t *testing.T, admin *client.Client, want shoal.State) {
	t.Helper()
	for began := time.Now(); ; <-time.After(5 * time.Millisecond) {
		e, err := admin.Session(shoal.DefaultSession).Entity(t.Context(), shoal.Operator)
		if err != nil {
			t.Fatal(err)
		}
		if e.State == want {
			return
		}
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the operator is %s, want %s", e.State, want)
		}
	}
}

// Strict transport security is for names that others share with nobody, and only over TLS.
func TestStrictTransportSecurity(t *testing.T) {
	pair := tlstest.New(t, "127.0.0.1", "localhost", "shoal.example")
	secure, _ := apptest.Run(t, app.Config{TLSCert: pair.CertFile, TLSKey: pair.KeyFile})
	plain, _ := apptest.Run(t, app.Config{})
	for name, c := range map[string]struct {
		url, serverName string
		want            bool
	}{
		"TLS, a name of its own":   {secure.URL(), "shoal.example", true},
		"TLS, an address":          {secure.URL(), "127.0.0.1", false},
		"TLS, that of any machine": {secure.URL(), "localhost", false},
		"plain HTTP":               {plain.URL(), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			over := pair.Client(t, true)
			over.Transport.(*http.Transport).Protocols.SetHTTP1(true) //nolint:forcetypeassert // it is tlstest's
			over.Transport.(*http.Transport).TLSClientConfig.ServerName = c.serverName
			res, err := over.Get(c.url + "/healthz")
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close() // only its headers matter
			if got := res.Header.Get("Strict-Transport-Security"); (got != "") != c.want || res.StatusCode != http.StatusOK {
				t.Errorf("got %q with %s", got, res.Status)
			}
		})
	}
}

// Settings of TLS that cannot work are refused before anything is opened.
func TestTLSSettingsAreChecked(t *testing.T) {
	one, other := tlstest.New(t, "shoal.example"), tlstest.New(t, "shoal.example")
	for name, c := range map[string]struct {
		config app.Config
		says   string
	}{
		"no key":             {app.Config{TLSCert: one.CertFile}, "--tls-cert is set without --tls-key"},
		"no certificate":     {app.Config{TLSKey: one.KeyFile}, "--tls-key is set without --tls-cert"},
		"the key of another": {app.Config{TLSCert: one.CertFile, TLSKey: other.KeyFile}, "the private key that belongs to it"},
		"two ways":           {app.Config{TLSCert: one.CertFile, TLSKey: one.KeyFile, ACME: []string{"shoal.example"}}, "choose one"},
		"a domain with *":    {app.Config{ACME: []string{"*.shoal.example"}}, "--acme *.shoal.example is not a domain"},
		"an address":         {app.Config{ACME: []string{"10.0.0.1"}}, "--acme 10.0.0.1 is not a domain"},
		"no domain":          {app.Config{ACMEEmail: "ann@shoal.example"}, "--acme is missing"},
		"no roots":           {app.Config{ACME: []string{"shoal.example"}, ACMERoots: "missing.pem"}, "--acme-roots cannot be used"},
		"no file":            {app.Config{TLSCert: "missing.pem", TLSKey: one.KeyFile}, "--tls-cert cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Data, c.config.Addr = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0"
			_, err := app.Start(t.Context(), c.config)
			if !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an invalid_argument with %q", err, c.says)
			}
		})
	}
}

// Plain HTTP to a server that speaks TLS is answered in a way that people understand, and what clients do
// wrong in a handshake does not fill the log.
func TestPlainHTTPToTLS(t *testing.T) {
	var log strings.Builder
	pair := tlstest.New(t, "127.0.0.1")
	running, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Addr: "127.0.0.1:0", TLSCert: pair.CertFile, TLSKey: pair.KeyFile, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Get("http" + strings.TrimPrefix(running.URL(), "https") + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // it is read
	if err != nil || res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "HTTP request to an HTTPS server") {
		t.Errorf("got %s %s, %v", res.Status, text, err)
	}
	if res, err := http.Get(running.URL() + "/healthz"); err == nil {
		t.Error("a certificate that nobody has signed is trusted")
		_ = res.Body.Close() // the test has failed
	}
	running.Stop()
	if strings.Contains(log.String(), "handshake") {
		t.Errorf("the log says %s", log.String())
	}
}

// Plain HTTP that others can read on the way is refused, unless somebody accepts that.
func TestPlainHTTPForOthersIsRefused(t *testing.T) {
	pair := tlstest.New(t, "shoal.example")
	for name, c := range map[string]struct {
		config          app.Config
		refused, warned bool
	}{
		"this machine only":   {app.Config{Addr: "127.0.0.1:0"}, false, false},
		"everybody":           {app.Config{Addr: "0.0.0.0:0"}, true, false},
		"every address":       {app.Config{Addr: ":0"}, true, false},
		"a name":              {app.Config{Addr: "shoal.example:0"}, true, false},
		"through a proxy":     {app.Config{Addr: "0.0.0.0:0", TrustProxies: []string{"10.0.0.0/8"}}, false, false},
		"over TLS":            {app.Config{Addr: "0.0.0.0:0", TLSCert: pair.CertFile, TLSKey: pair.KeyFile}, false, false},
		"everybody, accepted": {app.Config{Addr: "0.0.0.0:0", Insecure: true}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			c.config.Data, c.config.Log = t.TempDir(), slog.New(slog.NewTextHandler(&log, nil))
			s, err := app.Start(t.Context(), c.config)
			if c.refused {
				if !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "--insecure") || !strings.Contains(err.Error(), "--trust-proxy") {
					t.Errorf("got %v, want a refusal that says what to do", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Stop()
			if got := strings.Contains(log.String(), "over plain HTTP"); got != c.warned {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}
