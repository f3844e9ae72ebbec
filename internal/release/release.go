// Package release finds, downloads, verifies and installs releases of Shoal.
//
//	source, err := release.NewSource(base, keys)
//	newest, err := source.Latest(ctx)
//	err = source.Download(ctx, newest, path) // verified, or an error
//	err = release.Install(path, program)     // the old program is program.previous
//
// A release is a folder of files: release.json, the archives
// shoal_VERSION_OS_ARCH.tar.gz (.zip for Windows), SHA256SUMS, and SHA256SUMS.minisig if
// it is signed. Below the base URL, the folder of a version is VERSION/ and that of the
// newest one latest/; GitHub's releases have names of their own for both.
package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"aead.dev/minisign"
	"golang.org/x/mod/semver"

	"github.com/shoal-dev/shoal"
)

// Bounds of what is downloaded.
const (
	maxList    = 1 << 20
	maxArchive = 512 << 20
	maxProgram = 1 << 30
	listWithin = 30 * time.Second
)

// Release is what release.json says, as far as an upgrade needs it.
type Release struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`

	folder string // where its files are
}

// Source is where releases are.
type Source struct {
	base   *url.URL
	github bool
	key    *minisign.PublicKey
	http   *http.Client
}

// NewSource returns a source. Without TLS it must be on this machine. If key is not
// empty, it is a public key of minisign, and releases without its signature are refused.
func NewSource(base, key string) (*Source, error) {
	at, err := url.Parse(strings.TrimSuffix(base, "/"))
	if err != nil || at.Host == "" || at.Scheme != "https" && (at.Scheme != "http" || !isLoopback(at.Hostname())) {
		return nil, invalid("%s is not a source of releases: it must be an https URL, or an http URL of this machine", base)
	}
	s := &Source{base: at, github: at.Host == "github.com", http: &http.Client{CheckRedirect: refuseDowngrade}}
	if key != "" {
		s.key = new(minisign.PublicKey)
		if err := s.key.UnmarshalText([]byte(key)); err != nil {
			return nil, invalid("the key %q is not a public key of minisign", key)
		}
	}
	return s, nil
}

// Signed reports whether releases have to be signed.
func (s *Source) Signed() bool { return s.key != nil }

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// refuseDowngrade keeps a redirect from leaving TLS.
func refuseDowngrade(next *http.Request, before []*http.Request) error {
	if before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("it redirects to an address without TLS")
	}
	if len(before) >= 10 {
		return errors.New("it redirects more than ten times")
	}
	return nil
}

func invalid(format string, args ...any) error {
	return shoal.E("release", shoal.InvalidArgument, fmt.Sprintf(format, args...))
}

// Latest returns the newest release.
func (s *Source) Latest(ctx context.Context) (Release, error) {
	folder := "latest"
	if s.github {
		folder = "latest/download"
	}
	return s.read(ctx, folder)
}

// Find returns the release of a version.
func (s *Source) Find(ctx context.Context, version string) (Release, error) {
	if !Valid(version) {
		return Release{}, invalid("%q is not a version, such as 1.2.3", version)
	}
	r, err := s.read(ctx, s.folder(version))
	if err == nil && r.Version != strings.TrimPrefix(version, "v") {
		err = invalid("the release %s says that it is %s", version, r.Version)
	}
	return r, err
}

func (s *Source) folder(version string) string {
	version = strings.TrimPrefix(version, "v")
	if s.github {
		return "download/v" + version
	}
	return version
}

func (s *Source) read(ctx context.Context, folder string) (r Release, err error) {
	text, err := s.get(ctx, path.Join(folder, "release.json"))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil || !Valid(r.Version) {
		return r, invalid("%s/%s/release.json does not describe a release", s.base, folder)
	}
	r.Version, r.folder = strings.TrimPrefix(r.Version, "v"), folder
	return r, nil
}

// Valid reports whether a text is a version.
func Valid(version string) bool { return semver.IsValid(canonical(version)) }

// Newer reports whether version a is later than b.
func Newer(a, b string) bool { return semver.Compare(canonical(a), canonical(b)) > 0 }

func canonical(version string) string { return "v" + strings.TrimPrefix(version, "v") }

// get reads a small file.
func (s *Source) get(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	body, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(body, maxList+1))
	if err == nil && len(text) > maxList {
		err = invalid("%s is larger than %d bytes", s.base.JoinPath(name), maxList)
	}
	return text, err
}

func (s *Source) open(ctx context.Context, name string) (io.ReadCloser, error) {
	at := s.base.JoinPath(name).String()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := s.http.Do(req)
	if err != nil {
		return nil, &shoal.Error{Op: "release", Kind: shoal.Busy, Msg: fmt.Sprintf("%s cannot be read: %v", at, errors.Unwrap(err)), Err: err}
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	_ = res.Body.Close() // the status says it all
	kind := shoal.Busy
	if res.StatusCode == http.StatusNotFound {
		kind = shoal.NotFound
	}
	return nil, shoal.E("release", kind, fmt.Sprintf("%s answers %s", at, res.Status))
}
