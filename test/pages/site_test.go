package pages

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
	"github.com/shoal-dev/shoal/internal/shoaltest/tlstest"
)

// publicName is the name in the configurations of the pages.
const publicName = "shoal.example"

// site is what a public name leads to: an address of this machine where something speaks TLS.
type site struct {
	dir, addr         string
	certFile, keyFile string
	trusted           []byte // certificates in PEM, the only ones that clients of the site trust
}

// newSite returns a site with a certificate that signs itself, and a directory of the test.
func newSite(t *testing.T) *site {
	t.Helper()
	pair := tlstest.New(t, publicName)
	trusted, err := os.ReadFile(pair.CertFile)
	if err != nil {
		t.Fatal(err)
	}
	return &site{dir: t.TempDir(), addr: program.FreeAddr(t), certFile: pair.CertFile, keyFile: pair.KeyFile, trusted: trusted}
}

// client returns a client for which the public name leads to the site.
func (s *site) client(t *testing.T) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.trusted) {
		t.Fatalf("no certificate: %s", s.trusted)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// run runs commands with bash and returns what they print. For them the public name leads to the site,
// and the programs in bin are installed.
func (s *site) run(t *testing.T, bin, commands string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-euc", commands)
	c.Dir = s.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SHOAL_") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir,
		"SSL_CERT_FILE="+write(t, s.dir, "trusted.pem", string(s.trusted)), "HTTPS_PROXY=http://"+s.tunnel(t))
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		t.Fatalf("%s\n%v\n%s%s", commands, err, out.String(), problems.String())
	}
	return out.String()
}

// tunnel starts a proxy that connects programs with the site instead of the server that they name, and
// returns its address.
func (s *site) tunnel(t *testing.T) string {
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
			serving.Go(func() { s.connect(t, conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // ends Accept
		serving.Wait()
	})
	return listener.Addr().String()
}

// connect serves one connection of the tunnel.
func (s *site) connect(t *testing.T, conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(t.Context(), func() { _ = conn.Close() })()
	reader := bufio.NewReader(conn)
	request, err := http.ReadRequest(reader)
	if err != nil || request.Method != http.MethodConnect || request.Host != publicName+":443" {
		t.Errorf("the tunnel got %v, %v", request, err)
		return
	}
	server, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer server.Close()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
		return // the program has ended
	}
	go func() {
		_, _ = io.Copy(server, reader) // ends with either connection
		_ = server.Close()
	}()
	_, _ = io.Copy(conn, server)
}

// waitUntilReady returns when the site's server says that it is ready.
func waitUntilReady(t *testing.T, public *http.Client) {
	t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-deadline:
			t.Fatal("the site does not answer within a minute")
		case <-tick.C:
		}
		response, err := public.Get("https://" + publicName + "/readyz")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
	}
}

// startProgram runs a program until the test ends.
func startProgram(t *testing.T, dir, program string, arguments ...string) {
	t.Helper()
	command := exec.Command(program, arguments...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SHOAL_") {
			command.Env = append(command.Env, v)
		}
	}
	command.Env = append(command.Env, "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	command.WaitDelay = 10 * time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt) // ends Shoal, nginx and Caddy at once
		if err := command.Wait(); t.Failed() {
			t.Logf("%s ended with %v:\n%s", program, err, output.String())
		}
	})
}

func write(t *testing.T, dir, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// replaced replaces texts that a configuration must contain.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the configuration does not contain %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}
