package upgrade_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"aead.dev/minisign"

	"github.com/shoal-dev/shoal/internal/release"
)

// releases is a release server. Its files can be changed, and hook sees each request
// before it is answered.
type releases struct {
	url, key string
	secret   minisign.PrivateKey

	mu    sync.Mutex // guards the rest
	files map[string][]byte
	hook  func(name string)
}

func newReleases(t *testing.T, versions ...string) *releases {
	t.Helper()
	public, secret, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := &releases{key: public.String(), secret: secret, files: map[string][]byte{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	for _, version := range versions {
		content, err := os.ReadFile(built[version].Path())
		if err != nil {
			t.Fatal(err)
		}
		r.publish(t, version, content)
	}
	return r
}

// publish adds a release, which becomes the newest.
func (r *releases) publish(t *testing.T, version string, binary []byte) {
	t.Helper()
	archive := pack(t, version, binary)
	sum := sha256.Sum256(archive)
	sums := []byte(strings.Repeat("0", 64) + "  another\n" + hex.EncodeToString(sum[:]) + "  " + release.Archive(version) + "\n")
	description := []byte(`{"name":"shoal","version":"` + version + `","commit":"c","date":"2026-11-25T00:00:00Z","assets":[]}`)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, folder := range []string{"/" + version + "/", "/latest/"} {
		r.files[folder+"release.json"] = description
		r.files[folder+release.Archive(version)] = archive
		r.files[folder+"SHA256SUMS"] = sums
		r.files[folder+"SHA256SUMS.minisig"] = minisign.Sign(r.secret, sums)
	}
}

// change replaces a file of the newest release.
func (r *releases) change(name string, change func([]byte) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if content := change(r.files["/latest/"+name]); content == nil {
		delete(r.files, "/latest/"+name)
	} else {
		r.files["/latest/"+name] = content
	}
}

// ServeHTTP answers with a file. Half of it is sent before the hook sees the request.
func (r *releases) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	content, found := r.files[req.URL.Path]
	hook := r.hook
	r.mu.Unlock()
	if !found {
		http.NotFound(w, req)
		return
	}
	half := len(content) / 2
	_, _ = w.Write(content[:half]) // an error means that the client has disconnected
	_ = http.NewResponseController(w).Flush()
	if hook != nil {
		hook(req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:])
	}
	_, _ = w.Write(content[half:])
}

func pack(t *testing.T, version string, binary []byte) []byte {
	t.Helper()
	name := strings.TrimSuffix(strings.TrimSuffix(release.Archive(version), ".zip"), ".tar.gz") + "/shoal"
	var out bytes.Buffer
	if runtime.GOOS == "windows" {
		files := zip.NewWriter(&out)
		w, err := files.Create(name + ".exe")
		if err == nil {
			_, err = w.Write(binary)
		}
		if err != nil || files.Close() != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	plain, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewWriter(plain)
	for _, f := range []struct {
		name    string
		content []byte
	}{{strings.TrimSuffix(name, "shoal") + "LICENSE", []byte("text")}, {name, binary}} {
		if err := files.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write(f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
