package cli

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
)

// usageError converts an error of the parser to one of KindUsage. It also returns the part of
// the command line that was parsed, and the name of the command whose help explains the mistake.
func usageError(err error) (meant *kong.Context, command string, converted error) {
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		meant = parse.Context
	}
	command = meant.Command()
	var e *shoal.Error
	if errors.As(err, &e) {
		return meant, command, e // of the configuration file, with a kind of its own
	}
	if meant == nil {
		return meant, command, shoal.E("", KindUsage, err.Error())
	}
	node := cmp.Or(meant.Selected(), meant.Model.Node)
	text := err.Error()
	if group := groupOf(meant, node); group != nil && strings.HasPrefix(text, unexpectedArgument) {
		return meant, CommandName(group), shoal.E("", KindUsage, noCommandText(group, strings.TrimPrefix(text, unexpectedArgument)))
	}
	return meant, command, shoal.E("", KindUsage, usageText(node, text))
}

// unexpectedArgument begins the message of the parser about an argument for which it has no place.
const unexpectedArgument = "unexpected argument "

// noCommandText returns what to say about a word where a command of the group belongs. After the
// word, rest may propose another one.
func noCommandText(group *kong.Node, rest string) string {
	word, proposal := splitProposals(rest)
	text := fmt.Sprintf("unknown command %q", strings.TrimSpace(CommandName(group)+" "+word))
	switch {
	case proposal != "":
		return text + "; " + proposal
	case group.Parent != nil:
		return fmt.Sprintf("%s; `shoal %s` has %s", text, CommandName(group), strings.Join(commandsOf(group), ", "))
	}
	return text
}

// usageText returns a message of the parser about a command as a sentence that names what is wrong
// first.
func usageText(node *kong.Node, message string) string {
	command := strings.TrimSpace("shoal " + CommandName(node))
	if strings.HasPrefix(message, "expected ") {
		return fmt.Sprintf("`%s` needs %s", command, missing(node))
	}
	if flags, found := strings.CutPrefix(message, "missing flags: "); found {
		return fmt.Sprintf("`%s` needs %s", command, flags)
	}
	for _, begin := range []string{unexpectedArgument, "unknown flag "} {
		if rest, found := strings.CutPrefix(message, begin); found {
			word, proposal := splitProposals(rest)
			return strings.TrimSuffix(begin+word+"; "+proposal, "; ")
		}
	}
	return valueText(message)
}

// valueText returns a message of the parser about the value of a flag or an argument as a sentence
// that begins with its name and ends with the value.
func valueText(message string) string {
	for _, form := range []struct{ message, says string }{
		{`: expected (?:a valid \d+ bit u?int|an int|a float) but got ("[^"]*").*`, "needs a whole number"},
		{`: expected duration but got ("[^"]*").*`, "needs a duration such as 90s or 10m"},
		{`: expected \S+ value but got "EOL".*()`, "needs a value"},
		{` must be one of "(.*)" but got (".*")`, "must be one of %s"},
	} {
		found := regexp.MustCompile(`^(\S+)` + form.message + `$`).FindStringSubmatch(message)
		if found == nil {
			continue
		}
		name, value, says := found[1], found[len(found)-1], form.says
		if argument, is := strings.CutPrefix(name, "<"); is {
			name = strings.ToUpper(strings.TrimSuffix(argument, ">"))
		}
		if len(found) > 3 {
			says = fmt.Sprintf(says, strings.TrimPrefix(strings.ReplaceAll(found[2], `","`, ", "), ", "))
		}
		if value == "" {
			return name + " " + says
		}
		return name + " " + says + ", not " + value
	}
	return message
}

// maxChoices is how many commands an error lists.
const maxChoices = 5

// missing returns the arguments that a command lacks, else the commands of a group.
func missing(n *kong.Node) string {
	var names []string
	for _, a := range n.Positional {
		if a.Required && !a.Set {
			names = append(names, strings.ToUpper(a.Name))
		}
	}
	if len(names) > 0 {
		return strings.Join(names, " and ")
	}
	names = commandsOf(n)
	if len(names) > maxChoices {
		names = append(names[:maxChoices], "…")
	}
	return "a command: " + strings.Join(names, ", ")
}

// groupOf returns the group in which an unexpected argument has the place of a command: node, or
// the group whose default command node is. It returns nil for an argument of another command.
func groupOf(meant *kong.Context, node *kong.Node) *kong.Node {
	parent := node.Parent
	switch {
	case len(node.Children) > 0:
		return node
	case parent != nil && parent.DefaultCmd == node && !slices.Contains(meant.Args, node.Name):
		return parent
	}
	return nil
}

// commandsOf returns the names of the commands in a group that its help shows.
func commandsOf(group *kong.Node) []string {
	var names []string
	for _, child := range group.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}
