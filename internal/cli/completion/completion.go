// Package completion completes command lines in bash, zsh, fish and PowerShell.
package completion

import (
	"context"
	_ "embed"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// the scripts are files

// The scripts of the shells do as little as they can: they hand the words over to
// `shoal __complete` and show what it answers.
var (
	//go:embed shoal.bash
	bashCompletion string
	//go:embed shoal.zsh
	zshCompletion string
	//go:embed shoal.fish
	fishCompletion string
	//go:embed shoal.ps1
	powershellCompletion string
)

type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Run prints the script for a shell.
func (c *Command) Run(sh *cli.Shell) error {
	return sh.Output.Write(map[string]string{
		"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion,
	}[c.Shell])
}

// completeWithin is how long the server may take to say what there is, unless
// SHOAL_COMPLETE_WITHIN says otherwise: somebody sits there and waits for the key
// that was just pressed.
const completeWithin = 300 * time.Millisecond

// filesLine asks the shell to complete the name of a file.
const filesLine = ":files"

// CompleteCommand answers what could stand in the place of the last of its words, each in
// a line of its own, with a tab and an explanation behind it if there is one; a line
// :files stands for all names of files. It never fails: there is nobody to tell.
type CompleteCommand struct {
	Words []string `arg:"" optional:"" help:"The words behind shoal, up to the one that is to be completed, which may be empty."`
}

// Run prints the candidates.
func (c *CompleteCommand) Run(ctx context.Context, sh *cli.Shell, chosen *kong.Context) error {
	at := locate(chosen.Model.Node, c.Words)
	found := at.candidates()
	if live := at.idSource(); live != nil {
		within := completeWithin
		if d, err := time.ParseDuration(os.Getenv("SHOAL_COMPLETE_WITHIN")); err == nil {
			within = d
		}
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		found = append(found, live(ctx, at.shellFor(sh))...)
	}
	var b strings.Builder
	for _, f := range found {
		if !strings.HasPrefix(f.value, at.word) || at.isUsed(f.value) {
			continue
		}
		b.WriteString(at.before + safetext.Line(f.value))
		if f.help != "" {
			b.WriteString("\t" + cli.Shorten(f.help, 60))
		}
		b.WriteByte('\n')
	}
	if at.wantsFile() {
		b.WriteString(filesLine + "\n")
	}
	return sh.Output.Write(b.String())
}
