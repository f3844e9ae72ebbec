package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// writeInstallers generates the installer, the formula for Homebrew and the manifest
// for Scoop from release.json, so that none of them can differ from it.
func (r *release) writeInstallers(context.Context) error {
	content, err := os.ReadFile(filepath.Join(r.out, "release.json"))
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return err
	}
	all, err := template.New("").Funcs(template.FuncMap{
		"description": func() string { return description },
		"licence":     func() string { return licence },
		"stem":        func(a artifact) string { return strings.TrimSuffix(strings.TrimSuffix(a.File, ".tar.gz"), ".zip") },
	}).ParseFS(templates, "templates/*")
	if err != nil {
		return err
	}
	for name, mode := range map[string]os.FileMode{"install.sh": 0o755, "shoal.rb": 0o644, "shoal.json": 0o644} {
		var out bytes.Buffer
		if err := all.ExecuteTemplate(&out, name+".tmpl", m); err != nil {
			return err
		}
		if err := r.write(name, out.Bytes(), mode); err != nil {
			return err
		}
	}
	return nil
}

// Archives returns the archives for one operating system, or for all if it is empty.
func (m manifest) Archives(system string) (archives []artifact) {
	for _, a := range m.Artifacts {
		if a.Kind == "archive" && (system == "" || a.OS == system) {
			archives = append(archives, a)
		}
	}
	return archives
}
