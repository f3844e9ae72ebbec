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

// The scripts pass the words to `shoal __complete` and show the candidates that it prints.
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

// Command is shoal completion.
type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Run prints the script for a shell.
func (c *Command) Run(sh *cli.Shell) error {
	return sh.Output.Write(map[string]string{
		"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion,
	}[c.Shell])
}

// completeWithin is how long completion waits for the server, unless SHOAL_COMPLETE_WITHIN is
// set. The user waits for it after pressing a key.
const completeWithin = 300 * time.Millisecond

// filesLine asks the shell to complete the name of a file.
const filesLine = ":files"

// CompleteCommand prints the candidates for the last of its words, one per line, followed by a
// tab and an explanation if there is one. A line ":files" means all file names. It ignores
// errors: a shell has no place to show them.
type CompleteCommand struct {
	Words []string `arg:"" optional:"" help:"The words after shoal, up to the word to complete, which may be empty."`
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
