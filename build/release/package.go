package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// writePackages writes a package for dpkg and one for rpm of each Linux binary. They
// install the service, but neither enable nor start it: a user who only wants the command
// line gets no server.
func (r *release) writePackages(context.Context) error {
	for _, b := range r.binaries {
		if b.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.writePackage(b, format); err != nil {
				return fmt.Errorf("%s for %s: %w", format, b.target, err)
			}
		}
	}
	return nil
}

func (r *release) writePackage(b binary, format string) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	contents, err := r.packageContents(b)
	if err != nil {
		return err
	}
	scripts := filepath.Join(r.root, "packaging", "scripts")
	// A version such as 1.2.3-rc.1 is older than 1.2.3; both formats say so with ~.
	version, prerelease, _ := strings.Cut(r.version, "-")
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "shoal", Arch: b.arch, Platform: "linux", Version: version, Prerelease: prerelease, VersionSchema: "semver",
		Maintainer: "The Shoal authors <shoal@users.noreply.github.com>", Vendor: "The Shoal authors",
		Description: description, Homepage: repository, License: licence, Section: "net", Priority: "optional", MTime: r.date,
		Overridables: nfpm.Overridables{
			Contents: contents, Umask: 0o022,
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(scripts, "postinstall.sh"),
				PreRemove:   filepath.Join(scripts, "preremove.sh"),
				PostRemove:  filepath.Join(scripts, "postremove.sh"),
			},
			RPM: nfpm.RPM{BuildHost: "shoal", Summary: description},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := packager.Package(info, &out); err != nil {
		return err
	}
	return r.add(format, b.target, packager.ConventionalFileName(info), out.Bytes())
}

// packageContents lays out the files of a package. The unit is that of
// docs/operating.md with the path that packages use for programs.
func (r *release) packageContents(b binary) (files.Contents, error) {
	unit, err := os.ReadFile(filepath.Join(r.root, "packaging", "shoal.service"))
	if err != nil {
		return nil, err
	}
	if unit = bytes.ReplaceAll(unit, []byte("/usr/local/bin/shoal"), []byte("/usr/bin/shoal")); !bytes.Contains(unit, []byte("ExecStart=/usr/bin/shoal ")) {
		return nil, fmt.Errorf("packaging/shoal.service does not start /usr/local/bin/shoal")
	}
	all, err := r.files(b)
	if err != nil {
		return nil, err
	}
	config, err := os.ReadFile(filepath.Join(r.root, "packaging", "config.yaml"))
	if err != nil {
		return nil, err
	}
	at := map[string]string{b.program(): "/usr/bin/shoal", "LICENSE": "/usr/share/doc/shoal/copyright"}
	all = append(all, file{"shoal.service", unit, 0o644}, file{"config.yaml", config, 0o600})
	at["shoal.service"], at["config.yaml"] = "/usr/lib/systemd/system/shoal.service", "/etc/shoal/config.yaml"

	var contents files.Contents
	for _, f := range all {
		source := filepath.Join(r.scratch(), b.os+"_"+b.arch, f.name)
		if err := os.WriteFile(source, f.content, 0o600); err != nil {
			return nil, err
		}
		destination := at[f.name]
		if destination == "" {
			destination = "/usr/share/doc/shoal/" + f.name
		}
		kind := files.TypeFile
		if f.name == "config.yaml" {
			kind = files.TypeConfigNoReplace
		}
		contents = append(contents, &files.Content{
			Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: r.date, Owner: "root", Group: "root"},
		})
	}
	return contents, nil
}
