package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// accepted are the licences under which Shoal contains works of others: all of them allow to
// distribute the program. MPL-2.0 asks for the source, which the notices say where to find.
var accepted = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "OFL-1.1", "Unlicense", "blessing",
}

// readByPeople are texts that no program recognises, with what they say in SPDX; empty for
// one about a file that is not in the program.
var readByPeople = map[string]string{
	"modernc.org/memory LICENSE-LOGO":   "",
	"modernc.org/sqlite LICENSE-SQLITE": "blessing",
}

func accept(name, licence string) error {
	if !slices.Contains(accepted, licence) {
		return fmt.Errorf("%s has the licence %q, which is not among those that Shoal accepts (accepted in build/release/notices.go)", name, licence)
	}
	return nil
}

// recognise returns the licences of a component, in SPDX, by its texts. One of them has to be
// a licence as a whole; another may also list licences of what the component has of others.
func recognise(c component) (string, error) {
	var found []string
	whole := false
	for _, text := range c.texts {
		name := c.name + " " + text.name
		if said, read := readByPeople[name]; read {
			if said != "" {
				found = append(found, said)
			}
			continue
		}
		result := licensecheck.Scan(text.content)
		whole = whole || result.Percent > 90
		for _, match := range result.Match {
			if match.ID == "GooglePatentsFile" { // a grant in addition to the licence
				continue
			}
			if err := accept(name, match.ID); err != nil {
				return "", err
			}
			found = append(found, match.ID)
		}
		if len(result.Match) == 0 && !strings.HasPrefix(strings.ToUpper(text.name), "NOTICE") {
			return "", fmt.Errorf("%s has no licence that is recognised: read it, and name it in readByPeople (build/release/notices.go)", name)
		}
	}
	if !whole {
		return "", fmt.Errorf("%s has no text that is a licence as a whole", c.name)
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), " AND "), nil
}

// label names a component in the notices. Go has none there: each build has its own.
func (c component) label() string {
	if c.packageURL == "pkg:golang/std@"+c.version {
		return c.name
	}
	return c.name + " " + c.version
}

// sections are the texts of a component as the notices have them.
func (c component) sections() (all []string) {
	for _, text := range c.texts {
		all = append(all, fmt.Sprintf("\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 72), c.label(), text.name, bytes.TrimSpace(text.content)))
	}
	return all
}

// notices are what the program prints with version --licenses and every archive contains.
func (all components) notices() []byte {
	var b bytes.Buffer
	b.WriteString("Shoal contains the following works of others, each under its own licence. Modules of Go\n" +
		"that only some platforms need are listed for all. The source of a module is at\n" +
		"https://pkg.go.dev/NAME@VERSION, that of a package at https://www.npmjs.com/package/NAME.\n\n")
	for _, c := range all {
		fmt.Fprintf(&b, "%-72s %s\n", c.label(), c.licence)
	}
	for _, c := range all {
		for _, section := range c.sections() {
			b.WriteString(section)
		}
	}
	return b.Bytes()
}

func (o options) noticesFile() string {
	return filepath.Join(o.root, "internal", "thirdparty", "notices.txt.gz")
}

// readNotices returns the notices that are embedded into the programs.
func (o options) readNotices() ([]byte, error) {
	content, err := os.ReadFile(o.noticesFile())
	if err != nil {
		return nil, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

// writeNotices writes what is embedded, if it says something else than what is there: other
// versions of Go compress the same text differently.
func (o options) writeNotices(ctx context.Context) error {
	all, err := o.readGoComponents(ctx, allTargets...)
	if err != nil {
		return err
	}
	npm, err := o.readNPMComponents()
	if err != nil {
		return err
	}
	text := append(all, npm...).notices()
	if before, err := o.readNotices(); err == nil && bytes.Equal(before, text) {
		return nil
	}
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := compressed.Write(text); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	return os.WriteFile(o.noticesFile(), out.Bytes(), 0o644)
}

// checkNotices fails if the program does not contain the texts of one of its components.
func (r *release) checkNotices(all components) error {
	for _, c := range all {
		for _, section := range c.sections() {
			if !bytes.Contains(r.notices, []byte(section)) {
				return fmt.Errorf("%s lacks a text of %s: run `make generate`", r.noticesFile(), c.label())
			}
		}
	}
	return nil
}
