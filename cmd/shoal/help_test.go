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
		words := ownWords(t, example)
		if words == nil {
			t.Errorf("%s: the example %q does not call shoal", name, example)
			continue
		}
		commands, _ := newCommands()
		chosen, err := cli.NewParser(commands, kong.Writers(io.Discard, io.Discard)).Parse(words)
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

// ownWords returns the words after shoal in an example, nil if it does not call shoal.
func ownWords(t *testing.T, example string) []string {
	t.Helper()
	words := splitShell(t, example)
	for i, word := range words {
		if word != "shoal" {
			continue
		}
		words = words[i+1:]
		for end, word := range words {
			if word == "|" || word == ">" {
				return words[:end]
			}
		}
		return words
	}
	return nil
}

// splitShell splits a line as a shell does: quotes, comments, and the words of <( ).
func splitShell(t *testing.T, line string) (words []string) {
	t.Helper()
	word, quote, open := "", rune(0), false
	end := func() {
		if open {
			words = append(words, word)
		}
		word, open = "", false
	}
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == '#' && !open:
			return words
		case r == ' ' || r == '(' || r == ')':
			end()
		default:
			word, open = word+string(r), true
		}
		if i == len(line)-1 && quote != 0 {
			t.Fatalf("the quote in %q does not end", line)
		}
	}
	end()
	return words
}
