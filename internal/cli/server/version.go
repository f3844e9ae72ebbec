package server

import "github.com/shoal-dev/shoal/internal/cli"

// VersionCommand is shoal version.
type VersionCommand struct{}

// Run prints the version.
func (*VersionCommand) Run(sh *cli.Shell) error {
	b := sh.Stamp.Build()
	return sh.Output.PrintTable(b, []string{"VERSION", "COMMIT", "DATE", "GO", "PLATFORM"}, []string{b.Version, b.Commit, b.Date, b.Go, b.OS + "/" + b.Arch})
}
