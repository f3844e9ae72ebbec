package server

import (
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/thirdparty"
)

// VersionCommand is shoal version.
type VersionCommand struct {
	Licenses bool `help:"Print the works of others in this program, with their licenses."`
}

// Run prints the version, or the notices about works of others.
func (c *VersionCommand) Run(sh *cli.Shell) error {
	if c.Licenses {
		return printNotices(sh)
	}
	b := sh.Stamp.Build()
	return sh.Output.PrintTable(b, []string{"VERSION", "COMMIT", "DATE", "GO", "PLATFORM"}, []string{b.Version, b.Commit, b.Date, b.Go, b.OS + "/" + b.Arch})
}

func printNotices(sh *cli.Shell) error {
	text, err := thirdparty.Notices()
	if err != nil {
		return err
	}
	if sh.Output.JSON {
		return sh.Output.PrintObject(map[string]string{"notices": text})
	}
	return sh.Output.PrintText(text)
}
