package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// component is something by others that a binary contains.
type component struct {
	name, version string
	packageURL    string
	sha512        string // hexadecimal; of npm packages only
	licence       string // SPDX; empty where only the texts say it
	texts         []file // its licence texts
}

type components []component

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[sc]e|copying|notice|copyright|patents)([.-].*)?$`)

	//go:embed mit.txt
	mit string
)

// readGoComponents returns the modules that are linked into a binary, and Go itself.
func (r *release) readGoComponents(ctx context.Context, info *debug.BuildInfo) (components, error) {
	goroot, err := output(ctx, r.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	std := strings.TrimPrefix(info.GoVersion, "go")
	all := components{{name: "Go standard library", version: std, packageURL: "pkg:golang/std@" + std, licence: "BSD-3-Clause"}}
	if all[0].texts, err = licenceTexts(strings.TrimSpace(string(goroot))); err != nil {
		return nil, err
	}
	args := []string{"mod", "download", "-json"}
	for _, m := range info.Deps {
		switch {
		case m.Replace == nil:
		case strings.HasPrefix(m.Replace.Path, "./"):
			continue // a module of this repository, under its licence
		default:
			return nil, fmt.Errorf("%s is replaced by %s, which a release does not contain: remove the replace directive (docs/releasing.md)", m.Path, m.Replace.Path)
		}
		args = append(args, m.Path+"@"+m.Version)
	}
	listed, err := output(ctx, r.root, []string{"GOFLAGS=", "GOWORK=off"}, "go", args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(listed)); d.More(); {
		var m struct{ Path, Version, Dir string }
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		texts, err := licenceTexts(m.Dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		all = append(all, component{name: m.Path, version: m.Version, packageURL: "pkg:golang/" + m.Path + "@" + m.Version, texts: texts})
	}
	return all, nil
}

// lockedPackage is an entry of package-lock.json.
type lockedPackage struct {
	Version     string `json:"version"`
	Integrity   string `json:"integrity"`
	License     string `json:"license"`
	Dev         bool   `json:"dev"`
	DevOptional bool   `json:"devOptional"`
}

// readNPMComponents returns the packages that the console may contain: what its
// package.json depends on, directly or not, but not its tools.
func (r *release) readNPMComponents() (components, error) {
	content, err := os.ReadFile(filepath.Join(r.root, "web", "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct{ Packages map[string]lockedPackage }
	if err := json.Unmarshal(content, &lock); err != nil {
		return nil, err
	}
	var all components
	for dir, p := range lock.Packages {
		if dir == "" || p.Dev || p.DevOptional {
			continue
		}
		c, err := npmComponent(filepath.Join(r.root, "web", filepath.FromSlash(dir)), dir, p)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.packageURL, b.packageURL) })
	return slices.CompactFunc(all, func(a, b component) bool { return a.packageURL == b.packageURL }), nil
}

func npmComponent(dir, key string, p lockedPackage) (component, error) {
	_, name, _ := strings.Cut("/"+key[strings.LastIndex(key, "node_modules/"):], "node_modules/")
	sum, err := fromIntegrity(p.Integrity)
	if err != nil {
		return component{}, fmt.Errorf("%s: %w", name, err)
	}
	c := component{
		name: name, version: p.Version, licence: p.License, sha512: sum,
		packageURL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version,
	}
	c.texts, err = licenceTexts(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, fmt.Errorf("%w; run `npm --prefix web ci --ignore-scripts`", err)
	case errors.Is(err, errNoText) && p.License == "MIT":
		c.texts = []file{{name: "MIT", content: []byte("(declared in package.json; the package has no licence file)\n\n" + mit)}}
	case err != nil:
		return c, fmt.Errorf("%s, licence %q: %w", name, p.License, err)
	}
	return c, nil
}

var errNoText = errors.New("has no licence text")

// licenceTexts reads the licence files in a directory, sorted by name.
func licenceTexts(dir string) (texts []file, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() || !licenceFile.MatchString(entry.Name()) || path.Ext(entry.Name()) == ".go" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, file{name: entry.Name(), content: content})
	}
	if len(texts) == 0 {
		return nil, errNoText
	}
	return texts, nil
}

// licences writes the texts of all components into one file.
func (all components) licences() []byte {
	var b bytes.Buffer
	b.WriteString("Shoal contains the following works of others, each under its own licence.\n")
	for _, c := range all {
		for _, text := range c.texts {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 72), c.name, c.version, text.name, bytes.TrimSpace(text.content))
		}
	}
	return b.Bytes()
}
