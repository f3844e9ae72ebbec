package main

import (
	"fmt"
	"slices"
	"strings"
)

const (
	repository  = "https://github.com/shoal-dev/shoal"
	description = "One server in which AI agents and people talk and work together"
	licence     = "Apache-2.0"
)

// target is a platform that Shoal is released for, in Go's words.
type target struct{ os, arch string }

// allTargets are the platforms of a release.
var allTargets = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
	{"freebsd", "amd64"},
	{"freebsd", "arm64"},
}

func selectTargets(list string) ([]target, error) {
	if list == "" {
		return allTargets, nil
	}
	var selected []target
	for name := range strings.SplitSeq(list, ",") {
		at := slices.IndexFunc(allTargets, func(t target) bool { return t.String() == name })
		if at < 0 {
			return nil, fmt.Errorf("unknown target %q; the targets are %v", name, allTargets)
		}
		selected = append(selected, allTargets[at])
	}
	return selected, nil
}

func (t target) String() string { return t.os + "/" + t.arch }

// program is the name of the binary in every archive and package.
func (t target) program() string {
	if t.os == "windows" {
		return "shoal.exe"
	}
	return "shoal"
}

// nodeOS and nodeArch are process.platform and process.arch of Node.
func (t target) nodeOS() string {
	if t.os == "windows" {
		return "win32"
	}
	return t.os
}

func (t target) nodeArch() string {
	if t.arch == "amd64" {
		return "x64"
	}
	return t.arch
}
