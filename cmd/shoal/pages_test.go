package main

import (
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal/docs"
	"github.com/shoal-dev/shoal/internal/cli"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// words splits a command as a shell does, as far as the pages and the examples of the help need
// it, and stops where the command ends. open reports a quote that does not end.
func words(line string) (out []string, open bool) {
	var word strings.Builder
	inside, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == '(' && strings.HasSuffix(word.String(), "$"): // the output of another command is one word
			quote = ')'
		case r == ' ':
			if inside {
				out = append(out, word.String())
			}
			word.Reset()
			inside = false
		case strings.ContainsRune("#|>;)&", r) && (!inside || r != '#'):
			if inside {
				out = append(out, word.String())
			}
			return out, false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if inside {
		out = append(out, word.String())
	}
	return out, quote != 0
}

// Every command in a block of the pages is one that this program understands.
func TestThePagesHoldCommandsThatExist(t *testing.T) {
	seen := map[string]int{}
	err := fs.WalkDir(docs.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(name, "decisions/") || !strings.HasSuffix(name, ".md") {
			return err
		}
		page, err := fs.ReadFile(docs.Files, name)
		if err != nil {
			return err
		}
		for _, block := range shellBlock.FindAllStringSubmatch(string(page), -1) {
			for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
				args, _ := words(strings.TrimSpace(line))
				for len(args) > 0 && (args[0] == "sudo" || strings.Contains(args[0], "=")) {
					args = args[1:]
				}
				if len(args) == 0 || args[0] != "shoal" && args[0] != "bin/shoal" || strings.Contains(line, "[--") {
					continue
				}
				seen[name]++
				if _, err := cli.NewParser(new(commands), kong.Writers(io.Discard, io.Discard)).Parse(args[1:]); err != nil {
					t.Errorf("docs/%s: %s: %v", name, strings.TrimSpace(line), err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"readme.md": 7, "setup-for-agents.md": 6, "connect.md": 4, "operating.md": 5} {
		if seen[name] < least {
			t.Errorf("only %d commands of docs/%s were found", seen[name], name)
		}
	}
}

// The README begins with the installation from this module's releases, and with how to
// start.
func TestTheReadmeBeginsWithOneLine(t *testing.T) {
	module, _, _ := strings.Cut(strings.TrimPrefix(readText(t, "../../go.mod"), "module "), "\n")
	blocks := shellBlock.FindAllStringSubmatch(readText(t, "../../README.md"), 2)
	if len(blocks) < 2 {
		t.Fatal("the README has no blocks")
	}
	if first := strings.Split(blocks[0][1], "\n"); !strings.HasPrefix(first[0], "curl -fsSL https://"+module+"/releases/latest/download/install.sh | sh ") || !strings.HasPrefix(first[1], "shoal up ") {
		t.Errorf("the first block is\n%s", blocks[0][1])
	}
	if second := blocks[1][1]; !strings.HasPrefix(second, "make run ") || !strings.Contains(second, "\nmake test ") {
		t.Errorf("the second block is\n%s", second)
	}
}
