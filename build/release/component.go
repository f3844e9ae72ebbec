package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// component is something by others that a binary contains.
type component struct {
	name, version string
	packageURL    string
	sha512        string // hexadecimal; of npm packages only
	licence       string // SPDX
	texts         []file // its licence texts
}

type components []component

var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[sc]e|copying|notice|copyright|patents)([.-].*)?$`)

	//go:embed mit.txt
	mit string
)

// goModule is a module with packages in the program.
type goModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *struct{ Path string }
	directories        map[string]bool // of its packages in the program, and those above
}

// readGoComponents returns the modules with packages in the program of any of the targets,
// and Go itself.
func (o options) readGoComponents(ctx context.Context, targets ...target) (components, error) {
	std, err := readStandardLibrary(ctx)
	if err != nil {
		return nil, err
	}
	modules := map[string]*goModule{}
	for _, t := range targets {
		if err := o.addModules(ctx, t, modules); err != nil {
			return nil, err
		}
	}
	all := components{std}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		c := component{name: path, version: m.Version, packageURL: "pkg:golang/" + path + "@" + m.Version}
		if c.texts, err = m.licenceTexts(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if c.licence, err = recognise(c); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func readStandardLibrary(ctx context.Context) (c component, err error) {
	described, err := output(ctx, "", nil, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return c, err
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(described)), "\n")
	version = strings.TrimPrefix(version, "go")
	c = component{name: "Go standard library", version: version, packageURL: "pkg:golang/std@" + version}
	if c.texts, err = licenceTexts(goroot); err != nil {
		return c, err
	}
	c.licence, err = recognise(c)
	return c, err
}

// addModules adds the modules of others that the program of a target is built from.
func (o options) addModules(ctx context.Context, t target, modules map[string]*goModule) error {
	listed, err := output(ctx, o.root, t.env(), "go", "list", "-deps", "-json=Dir,Module", "./cmd/shoal")
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(listed)); d.More(); {
		var p struct {
			Dir    string
			Module *goModule
		}
		if err := d.Decode(&p); err != nil {
			return err
		}
		m := p.Module
		switch {
		case m == nil || m.Main || m.Replace != nil && strings.HasPrefix(m.Replace.Path, "./"):
			continue // of Go, or of this repository
		case m.Replace != nil:
			return fmt.Errorf("%s is replaced by %s, which a release does not contain: remove the replace directive (docs/releasing.md)", m.Path, m.Replace.Path)
		case modules[m.Path] == nil:
			m.directories = map[string]bool{}
			modules[m.Path] = m
		}
		m = modules[m.Path]
		for dir := p.Dir; !m.directories[dir]; dir = filepath.Dir(dir) {
			m.directories[dir] = true
			if dir == m.Dir {
				break
			}
		}
	}
	return nil
}

// licenceTexts returns the texts of the module, and those that some of its packages have of
// their own.
func (m *goModule) licenceTexts() (texts []file, err error) {
	for _, dir := range slices.Sorted(maps.Keys(m.directories)) {
		inside, err := filepath.Rel(m.Dir, dir)
		if err != nil {
			return nil, err
		}
		found, err := licenceTexts(dir)
		if errors.Is(err, errNoText) && dir != m.Dir {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, text := range found {
			text.name = path.Join(filepath.ToSlash(inside), text.name)
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// lockedPackage is an entry of package-lock.json.
type lockedPackage struct {
	Version     string `json:"version"`
	Integrity   string `json:"integrity"`
	License     string `json:"license"`
	Dev         bool   `json:"dev"`
	DevOptional bool   `json:"devOptional"`
}

// copiedByTools are tools of the console that write texts of their own into it.
var copiedByTools = []string{"node_modules/tailwindcss"}

// readNPMComponents returns the packages that the console may contain: what its
// package.json depends on, directly or not, but of its tools only copiedByTools.
func (o options) readNPMComponents() (components, error) {
	content, err := os.ReadFile(filepath.Join(o.root, "web", "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct{ Packages map[string]lockedPackage }
	if err := json.Unmarshal(content, &lock); err != nil {
		return nil, err
	}
	var all components
	for dir, p := range lock.Packages {
		if dir == "" || (p.Dev || p.DevOptional) && !slices.Contains(copiedByTools, dir) {
			continue
		}
		c, err := npmComponent(filepath.Join(o.root, "web", filepath.FromSlash(dir)), dir, p)
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
	return c, accept(name, p.License)
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
