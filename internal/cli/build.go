package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/shoal-dev/shoal/internal/app"
)

// Stamp describes the release that a binary belongs to. Releases set it with -ldflags. In
// builds from source it is empty, and Build uses the version control stamp of the go command.
type Stamp struct {
	Version    string
	Commit     string
	Date       string // of the commit, in RFC 3339
	ReleaseKey string // the minisign public key that verifies releases; empty if they are unsigned
}

// BuildInfo describes the running binary.
type BuildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"` // of the commit; empty if unknown
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	// Schema is the database schema version of the binary, which refuses databases with a newer one.
	Schema  int          `json:"schema"`
	Modules []ModuleInfo `json:"modules"`
}

// ModuleInfo is a Go module that is linked into the binary.
type ModuleInfo struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// Build describes the running binary. Fields that the release did not set come from the stamp
// of the go command.
func (s Stamp) Build() BuildInfo {
	b := BuildInfo{Version: s.Version, Commit: s.Commit, Date: s.Date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Schema: app.Schema(), Modules: []ModuleInfo{}}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.addStamp(info)
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	if b.Commit == "" {
		b.Commit = "unknown"
	}
	return b
}

// addStamp fills in what the release did not set.
func (b *BuildInfo) addStamp(info *debug.BuildInfo) {
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules = append(b.Modules, ModuleInfo{m.Path, m.Version})
	}
}
