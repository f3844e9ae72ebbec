package pages

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// publicName is the name in the configurations of docs/deploy.md.
const publicName = "shoal.example"

// freePort returns a port of this machine that is free.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// proxy is a program that docs/deploy.md configures. command returns what starts it with
// the page's configuration, changed only in its ports, paths and certificate.
type proxy struct {
	name, program, install, file string
	command                      func(t *testing.T, dir, config, port string, upstream string) []string
}

var proxies = []proxy{
	{"nginx", "nginx", "apt-get install nginx-light", "shoal.conf", func(t *testing.T, dir, config, port, upstream string) []string {
		certificate, key := certificateFiles(t, dir)
		config = replaced(t, config, "listen 443 ssl", "listen 127.0.0.1:"+port+" ssl", "127.0.0.1:7462", upstream,
			"/etc/ssl/shoal.example.pem", certificate, "/etc/ssl/shoal.example.key", key)
		whole := fmt.Sprintf("daemon off; master_process off; pid %s/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;\n%s\n}\n", dir, config)
		return []string{"-p", dir, "-c", write(t, dir, "nginx.conf", whole)}
	}},
	{"Caddy", "caddy", "apt-get install caddy", "Caddyfile", func(t *testing.T, dir, config, port, upstream string) []string {
		return caddy(t, dir, config, port, "127.0.0.1:7462", upstream)
	}},
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

// Each proxy, configured as docs/deploy.md says, passes on the console, calls, long waits,
// streams and files as the server gives them.
func TestProxiesOfTheDeployPage(t *testing.T) {
	for _, p := range proxies {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			program := find(t, p.program, p.install)
			running, key := apptest.Run(t, app.Config{
				AllowHosts: []string{publicName}, AllowOrigins: []string{"https://" + publicName}, TrustProxies: []string{"127.0.0.1/32", "::1/128"},
			})
			dir, port := t.TempDir(), freePort(t)
			startProxy(t, dir, program, p.command(t, dir, programOf(t, "deploy.md", p.file), port, strings.TrimPrefix(running.URL(), "http://"))...)
			public := through(t, dir, port)
			waitUntilReady(t, public)
			checkProxy(t, public, running.URL(), key)
		})
	}
}

// startProxy runs a proxy until the test ends.
func startProxy(t *testing.T, dir, program string, arguments ...string) {
	t.Helper()
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	command.WaitDelay = 10 * time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt) // ends nginx and Caddy at once
		if err := command.Wait(); t.Failed() {
			t.Logf("%s ended with %v:\n%s", program, err, output.String())
		}
	})
}

// caddy returns the arguments with which Caddy runs a configuration on a port of the loopback
// address, with pairs of texts replaced in it.
func caddy(t *testing.T, dir, config, port string, pairs ...string) []string {
	certificate, key := certificateFiles(t, dir)
	pairs = append([]string{"shoal.example {", "https://shoal.example:" + port + " {\n\tbind 127.0.0.1\n\ttls " + certificate + " " + key}, pairs...)
	config = replaced(t, config, pairs...)
	return []string{"run", "--adapter", "caddyfile", "--config", write(t, dir, "Caddyfile", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"+config)}
}

// through returns a client that reaches the proxy under the public name.
func through(t *testing.T, dir, port string) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	text, err := os.ReadFile(filepath.Join(dir, "certificate.pem"))
	if err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatal("no certificate", err)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
		},
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func waitUntilReady(t *testing.T, public *http.Client) {
	t.Helper()
	deadline, tick := time.After(20*time.Second), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-deadline:
			t.Fatal("the proxy does not answer")
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

func checkProxy(t *testing.T, public *http.Client, direct, key string) {
	t.Helper()
	operator := func(httpClient *http.Client, url string) *client.Session {
		c, err := client.New(client.Options{URL: url, Key: key, As: shoal.Operator, HTTP: httpClient})
		if err != nil {
			t.Fatal(err)
		}
		return c.Session(shoal.DefaultSession)
	}
	inside, outside := operator(nil, direct), operator(public, "https://"+publicName)

	page := get(t, public, "https://"+publicName+"/", "")
	if !strings.Contains(page, "<title>") {
		t.Errorf("the console's page is %.100q", page)
	}

	// A wait that lasts longer than a proxy's usual patience for a byte is not what a test
	// can wait for; that it ends at once with its message, unbuffered, is.
	woken := make(chan error, 1)
	go func() {
		batch, err := outside.Inbox(shoal.Operator, client.InboxOptions{Kind: shoal.WaitMentions}).Next(t.Context())
		if err == nil && batch.Items[0].Messages[0].Text() != "wake up" {
			err = fmt.Errorf("the wait returned %q", batch.Items[0].Messages[0].Text())
		}
		woken <- err
	}()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+publicName+"/v1/sessions/default/spaces/"+string(app.Welcome)+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	stream, err := public.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	events := bufio.NewScanner(stream.Body)
	events.Buffer(nil, 1<<20)
	readUntil(t, events, `"snapshot"`)
	writer := apptest.Key(t, clientOf(t, direct, key), "writer")
	if _, err := inside.AddMember(t.Context(), app.Welcome, "writer"); err != nil {
		t.Fatal(err)
	}
	posts, err := client.New(client.Options{URL: "https://" + publicName, Key: writer, HTTP: public})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := posts.Session(shoal.DefaultSession).Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text("wake up")}, Mentions: []shoal.EntityID{shoal.Operator}}); err != nil {
		t.Fatal(err)
	}
	readUntil(t, events, "wake up")
	select {
	case err := <-woken:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the wait did not end with the message")
	}

	upload, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+publicName+"/v1/sessions/default/files?name=large.bin", bytes.NewReader(make([]byte, shoal.MaxFile)))
	if err != nil {
		t.Fatal(err)
	}
	upload.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/octet-stream"}, "X-Shoal-Entity": {string(shoal.Operator)}}
	response, err := public.Do(upload)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusCreated {
		t.Errorf("uploading the largest file answers %s: %.200s", response.Status, body)
	}
}

func clientOf(t *testing.T, url, key string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: url, Key: key, As: shoal.Operator})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t *testing.T, public *http.Client, url, key string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := public.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, response.Status, err)
	}
	return string(body)
}

// readUntil reads lines of a stream until one contains text, for at most ten seconds.
func readUntil(t *testing.T, lines *bufio.Scanner, text string) {
	t.Helper()
	found := make(chan bool, 1)
	go func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				found <- true
				return
			}
		}
		found <- false
	}()
	select {
	case ok := <-found:
		if !ok {
			t.Fatalf("the stream ended before %q: %v", text, lines.Err())
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("the stream did not bring %q within 10 s: it is buffered on its way", text)
	}
}

// certificateFiles writes a certificate of the public name and its key.
func certificateFiles(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	cert, private := selfSigned(t)
	certificate = write(t, dir, "certificate.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	return certificate, write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}
