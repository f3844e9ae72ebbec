package main

import (
	"runtime"
	"runtime/debug"
)

// version is what a release is built with: -ldflags "-X main.version=1.2.3".
var version string

type versionCmd struct{}

// built is what the binary says of itself.
type built struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

func thisBuild() built {
	b := built{Version: version, Commit: "unknown", Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" && info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	return b
}

// Run prints the version.
func (*versionCmd) Run(sh *shell) error {
	b := thisBuild()
	return sh.output.table(b, []string{"VERSION", "COMMIT", "GO"}, []string{b.Version, b.Commit, b.Go})
}
