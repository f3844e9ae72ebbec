package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
)

// npmPackage is the package that people install; npmPackage-OS-ARCH have the programs,
// of which npm installs the one that fits the machine.
const npmPackage = "@shoal-dev/server"

//go:embed npm.js
var npmStart []byte

// packageJSON is what npm reads of a package.
type packageJSON struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Homepage     string            `json:"homepage"`
	Repository   map[string]string `json:"repository"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Bin          map[string]string `json:"bin,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
	PreferUnplug bool              `json:"preferUnplugged,omitempty"` // Yarn cannot start a program inside a zip file
}

func (r *release) writeNPM(context.Context) error {
	main := r.packageJSON(npmPackage)
	main.Bin = map[string]string{"shoal": "bin/shoal.js"}
	main.Engines = map[string]string{"node": ">=18"}
	main.Optional = map[string]string{}
	for _, b := range r.binaries {
		p := r.packageJSON(npmPackage + "-" + b.nodeOS() + "-" + b.nodeArch())
		p.OS, p.CPU, p.PreferUnplug = []string{b.nodeOS()}, []string{b.nodeArch()}, true
		files, err := r.files(b)
		if err != nil {
			return err
		}
		files[0].name = "bin/" + files[0].name
		if err := r.writeNPMPackage(b.target, p, files); err != nil {
			return err
		}
		main.Optional[p.Name] = r.version
	}
	files, err := r.files(r.binaries[0])
	if err != nil {
		return err
	}
	return r.writeNPMPackage(target{}, main, append([]file{{"bin/shoal.js", npmStart, 0o755}}, files[2:]...))
}

func (r *release) packageJSON(name string) packageJSON {
	return packageJSON{
		Name: name, Version: r.version, Description: description, License: licence, Homepage: repository,
		Repository: map[string]string{"type": "git", "url": "git+" + repository + ".git"},
	}
}

// writeNPMPackage writes a tarball as `npm pack` does.
func (r *release) writeNPMPackage(t target, p packageJSON, files []file) error {
	head, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	files = append([]file{{"package.json", append(head, '\n'), 0o644}}, files...)
	for i := range files {
		files[i].name = "package/" + files[i].name
	}
	content, err := tarGz(files, r.date)
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(p.Name, "@"), "/", "-")
	return r.add("npm", t, name+"-"+r.version+".tgz", content)
}
