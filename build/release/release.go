package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"aead.dev/minisign"
)

// release is what is being built. Its steps run one after another, and each adds to
// artifacts what it writes.
type release struct {
	options
	binaries  []binary
	notices   []byte // about the works of others, as the programs print them
	artifacts []artifact
}

// binary is the program for one platform.
type binary struct {
	target
	content    []byte
	components components
}

// artifact is a file of the release as release.json lists it.
type artifact struct {
	File   string `json:"file"`
	Kind   string `json:"kind"` // archive, sbom, deb, rpm, image or npm
	OS     string `json:"os,omitempty"`
	Arch   string `json:"arch,omitempty"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

// manifest is release.json: the one file that installers are generated from, and that
// programs read to find a newer version.
type manifest struct {
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Commit     string     `json:"commit"`
	Date       string     `json:"date"`
	Repository string     `json:"repository"`
	BaseURL    string     `json:"baseUrl"`
	Artifacts  []artifact `json:"artifacts"`
}

func (r *release) scratch() string { return filepath.Join(r.out, ".build") }

// add writes a file of the release and records it.
func (r *release) add(kind string, t target, name string, content []byte) error {
	sum := sha256.Sum256(content)
	r.artifacts = append(r.artifacts, artifact{
		File: name, Kind: kind, OS: t.os, Arch: t.arch, Size: len(content), SHA256: hex.EncodeToString(sum[:]),
	})
	return r.write(name, content, 0o644)
}

func (r *release) write(name string, content []byte, mode os.FileMode) error {
	path := filepath.Join(r.out, name)
	if err := os.WriteFile(path, content, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // whatever the umask is
}

func (r *release) writeManifest(context.Context) error {
	m := manifest{
		Name: "shoal", Version: r.version, Commit: r.commit, Date: r.date.Format("2006-01-02T15:04:05Z"),
		Repository: repository, BaseURL: r.baseURL, Artifacts: r.artifacts,
	}
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return r.write("release.json", append(content, '\n'), 0o644)
}

// writeChecksums lists every other file in the form that `sha256sum -c` reads.
func (r *release) writeChecksums(context.Context) error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(content), entry.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return r.write("SHA256SUMS", []byte(strings.Join(lines, "")), 0o644)
}

// sign writes SHA256SUMS.minisig, which covers every file through its checksum. Without
// a key there is no signature.
func (r *release) sign(context.Context) error {
	if r.signKey == nil {
		fmt.Fprintln(os.Stderr, "not signed: SHOAL_SIGNING_KEY names no key (docs/releasing.md)")
		return nil
	}
	sums, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
	if err != nil {
		return err
	}
	signature := minisign.SignWithComments(*r.signKey, sums, "shoal "+r.version, "verify with: minisign -Vm SHA256SUMS -P KEY")
	return r.write("SHA256SUMS.minisig", signature, 0o644)
}

// readSigningKey reads a secret key of minisign, which a password may protect.
func readSigningKey(file, password string) (*minisign.PrivateKey, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var key minisign.PrivateKey
	if minisign.IsEncrypted(content) {
		key, err = minisign.DecryptKey(password, content)
	} else {
		err = key.UnmarshalText(content)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a secret key of minisign, or SHOAL_SIGNING_PASSWORD is wrong: %w", file, err)
	}
	return &key, nil
}

// output runs a program and returns what it prints.
func output(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	// git does not write into the repository only because it is asked for its state.
	c.Env = append(append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GOWORK=off"), env...)
	var problem bytes.Buffer
	c.Stderr = &problem
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, problem.Bytes())
	}
	return out, nil
}
