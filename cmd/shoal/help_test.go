package main

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal/internal/cli"
)

// Every command has a group if it is at the top, a sentence as help, and an example; every
// example is of the command that it is shown with and is accepted by the parser.
func TestEveryCommandHasAnExample(t *testing.T) {
	commands, _ := newCommands()
	parser := cli.NewParser(commands, kong.Writers(io.Discard, io.Discard))
	var visit func(*kong.Node)
	visit = func(n *kong.Node) {
		name := cli.CommandName(n)
		if n.Parent != nil && n.Parent.Parent == nil && n.Group == nil && !n.Hidden {
			t.Errorf("%s has no group, so the help does not list it", name)
		}
		if !n.Hidden {
			checkExamples(t, name)
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(parser.Model.Node)
}

func checkExamples(t *testing.T, name string) {
	t.Helper()
	all := cli.Examples(name)
	if len(all) == 0 {
		t.Errorf("`shoal %s` has no example in internal/cli/examples.txt", name)
	}
	for _, example := range all {
		_, command, found := strings.Cut(" "+strings.ReplaceAll(example, "(", " "), " shoal ")
		own, open := words(command)
		if !found || open {
			t.Errorf("%s: the example %q does not call shoal, or a quote in it does not end", name, example)
			continue
		}
		commands, _ := newCommands()
		chosen, err := cli.NewParser(commands, kong.Writers(io.Discard, io.Discard)).Parse(own)
		if err != nil {
			t.Errorf("%s: the example %q is refused: %v", name, example, err)
			continue
		}
		of := cli.CommandName(chosen.Selected())
		if name != "" && of != name && !strings.HasPrefix(of, name+" ") {
			t.Errorf("%s: the example %q is of the command %s", name, example, of)
		}
	}
}
