package pages

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/pebbletest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// deploy starts the server with blocks of docs/deploy.md as its configuration, in which pairs of texts
// are replaced, and returns its data directory.
func deploy(t *testing.T, s *site, files []string, pairs ...string) (data string) {
	t.Helper()
	config := new(strings.Builder)
	for _, file := range files {
		config.WriteString(programOf(t, "deploy.md", file))
	}
	data = filepath.Join(s.dir, "data")
	startProgram(t, s.dir, shoalBinary.Path(), "serve", "--quiet", "--data", data, "--config", write(t, s.dir, "config.yaml", replaced(t, config.String(), pairs...)))
	return data
}

// A server that is set up as docs/deploy.md says, with a certificate of its own, one of an authority,
// or behind a proxy, is reached under its public name: the console, calls, long waits, streams and
// files. The commands of the page sign a browser in.
func TestDeployPage(t *testing.T) {
	t.Run("its own certificate", func(t *testing.T) {
		s := newSite(t)
		data := deploy(t, s, []string{"config.yaml", "tls.yaml"}, "0.0.0.0:443", s.addr,
			"/etc/shoal/shoal.example.pem", s.certFile, "/etc/shoal/shoal.example.key", s.keyFile)
		checkDeployment(t, s, data)
		browse(t, s, signIn(t, s, data))
	})
	t.Run("an authority", func(t *testing.T) {
		s := newSite(t)
		authority := pebbletest.Start(t, s.addr, 90*24*time.Hour)
		s.trusted = authority.RootPEM(t)
		data := deploy(t, s, []string{"config.yaml", "acme.yaml"}, "0.0.0.0:443", s.addr,
			"acme: [shoal.example]", fmt.Sprintf("acme: [shoal.example]\nacme-directory: %s\nacme-roots: %s", authority.Directory, authority.RootsFile))
		checkDeployment(t, s, data)
	})
	for _, p := range proxies {
		t.Run(p.name, func(t *testing.T) {
			s, upstream := newSite(t), program.FreeAddr(t)
			binary := find(t, p.program, p.install)
			data := deploy(t, s, []string{"config.yaml", "proxy.yaml"}, "127.0.0.1:7462", upstream)
			startProgram(t, s.dir, binary, p.arguments(t, s, programOf(t, "deploy.md", p.file), upstream)...)
			checkDeployment(t, s, data)
		})
	}
}

// signIn runs the page's commands, and returns the link that they print.
func signIn(t *testing.T, s *site, data string) string {
	t.Helper()
	out := s.run(t, filepath.Dir(shoalBinary.Path()), replaced(t, programOf(t, "deploy.md", "sign-in.sh"), "sudo ", "", "/var/lib/shoal", data))
	link := regexp.MustCompile(`https://shoal\.example/\S+`).FindString(out)
	if link == "" {
		t.Fatalf("no link is printed: %s", out)
	}
	return link
}

// checkDeployment uses the server under its public name.
func checkDeployment(t *testing.T, s *site, data string) {
	t.Helper()
	public := s.client(t)
	waitUntilReady(t, public)
	key, err := os.ReadFile(filepath.Join(data, "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	checkPublic(t, public, strings.TrimSpace(string(key)))
	response, err := public.Get(signIn(t, s, data))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the printed link answers %s", response.Status)
	}
}

// checkPublic uses a server through whatever terminates TLS for it.
func checkPublic(t *testing.T, public *http.Client, key string) {
	t.Helper()
	admin, err := client.New(client.Options{URL: "https://" + publicName, Key: key, As: shoal.Operator, HTTP: public})
	if err != nil {
		t.Fatal(err)
	}
	operator := admin.Session(shoal.DefaultSession)

	page := get(t, public, "https://"+publicName+"/", "")
	if !strings.Contains(page, "<title>") {
		t.Errorf("the console's page is %.100q", page)
	}

	// A wait that lasts longer than a proxy's usual patience for a byte is not what a test
	// can wait for; that it ends at once with its message, unbuffered, is.
	woken := make(chan error, 1)
	go func() {
		batch, err := operator.Inbox(shoal.Operator, client.InboxOptions{Kind: shoal.WaitMentions}).Next(t.Context())
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
	writer := apptest.Key(t, admin, "writer")
	if _, err := operator.AddMember(t.Context(), app.Welcome, "writer"); err != nil {
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
