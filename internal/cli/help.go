package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/x/ansi"
)

// Widths of the help.
const (
	helpIndent   = 2
	maxNames     = 28 // the widest column of names; a longer name gets a line of its own
	minHelpWidth = 40
	maxHelpWidth = 100
	anyHelpWidth = 80
)

// Groups of the commands in the help, in its order. A command names its group in the tag group.
var commandGroups = []string{"Start and look after a server", "Talk", "Agents and their work", "People, keys and data", "This program"}

// help writes the help of one command, or of the program.
type help struct {
	out   io.Writer
	width int
	bold  func(string) string
	names int // columns of the names of commands, arguments and flags
	err   error
}

// printHelp is kong's help printer.
func printHelp(_ kong.HelpOptions, chosen *kong.Context) error {
	h := &help{out: chosen.Stdout, width: helpWidth(chosen.Stdout), bold: func(s string) string { return s }}
	if f, is := chosen.Stdout.(*os.File); is && newOutput(f, f).color {
		h.bold = func(s string) string { return string(Bold) + s + string(plain) }
	}
	if node := chosen.Selected(); node != nil {
		h.command(node)
	} else {
		h.program(chosen.Model)
	}
	return h.err
}

// helpWidth returns the columns that the help may use.
func helpWidth(out io.Writer) int {
	width := anyHelpWidth
	if f, is := out.(*os.File); is {
		width = cmp.Or(columns(f), width)
	}
	return max(minHelpWidth, min(width, maxHelpWidth))
}

// program writes the commands by group, examples, and the flags of all commands.
func (h *help) program(app *kong.Application) {
	h.text(0, app.Help)
	h.line("\n%s shoal COMMAND [flags]", h.bold("Usage:"))
	for _, n := range app.Children {
		h.fitNames(n.Name)
	}
	for _, title := range commandGroups {
		h.title(title)
		for _, n := range app.Children {
			if !n.Hidden && n.Group != nil && n.Group.Title == title {
				h.entry(n.Name, n.Help)
			}
		}
	}
	h.examples("")
	h.title("Flags of every command")
	for _, f := range app.Flags {
		h.fitNames(flagName(f))
	}
	for _, f := range app.Flags {
		h.entry(flagName(f), flagHelp(f.Value))
	}
	h.line("\n`shoal COMMAND --help` explains a command, and `shoal --help` shows this page.")
}

// command writes what a command does, its arguments, its commands, its own flags, examples, and
// the names of the flags that every command has.
func (h *help) command(n *kong.Node) {
	h.text(0, n.Help)
	h.line("\n%s %s", h.bold("Usage:"), usageLine(n))
	own := n.Flags
	args := n.Positional
	if d := n.DefaultCmd; d != nil {
		own, args = slices.Concat(own, d.Flags), d.Positional
	}
	own = slices.DeleteFunc(slices.Clone(own), func(f *kong.Flag) bool { return f.Hidden })
	for _, child := range n.Children {
		h.fitNames(child.Name)
	}
	for _, a := range args {
		h.fitNames(argName(a))
	}
	for _, f := range own {
		h.fitNames(flagName(f))
	}
	if len(n.Children) > 0 {
		h.title("Commands")
		for _, child := range n.Children {
			if !child.Hidden {
				h.entry(child.Name, child.Help)
			}
		}
		if d := n.DefaultCmd; d != nil {
			h.line("\nWithout a command: `shoal %s`.", CommandName(d))
		}
	}
	if len(args) > 0 {
		h.title("Arguments")
		for _, a := range args {
			h.entry(argName(a), valueHelp(a))
		}
	}
	for _, group := range flagGroups(own) {
		h.title(group.title)
		for _, f := range group.flags {
			h.entry(flagName(f), flagHelp(f.Value))
		}
	}
	h.examples(CommandName(n))
	h.title("Flags of every command")
	root := n
	for root.Parent != nil {
		root = root.Parent
	}
	var names []string
	for _, f := range root.Flags {
		names = append(names, "--"+f.Name)
	}
	h.text(helpIndent, strings.Join(names, ", ")+": `shoal --help` explains them.")
}

// flagGroup is the flags of a command below one title: those whose tag group names it, and "Flags"
// for those without the tag.
type flagGroup struct {
	title string
	flags []*kong.Flag
}

// flagGroups returns the groups of flags in order of their first flags.
func flagGroups(flags []*kong.Flag) (groups []flagGroup) {
	for _, f := range flags {
		title := "Flags"
		if f.Group != nil {
			title = f.Group.Title
		}
		i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.title == title })
		if i < 0 {
			i, groups = len(groups), append(groups, flagGroup{title: title})
		}
		groups[i].flags = append(groups[i].flags, f)
	}
	return groups
}

// CommandName returns the words of a command without shoal, such as "runs get".
func CommandName(n *kong.Node) string {
	var words []string
	for ; n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(words, " ")
}

// usageLine returns how a command is called.
func usageLine(n *kong.Node) string {
	line := "shoal " + CommandName(n)
	if len(n.Children) > 0 && n.DefaultCmd == nil {
		return line + " COMMAND [flags]"
	}
	if len(n.Children) > 0 {
		line += " [COMMAND]"
	} else {
		for _, a := range n.Positional {
			line += " " + argName(a)
		}
	}
	return line + " [flags]"
}

// argName returns an argument as in a usage line: SPACE, [TEXT…].
func argName(a *kong.Positional) string {
	name := strings.ToUpper(a.Name)
	if a.IsCumulative() {
		name += "…"
	}
	if !a.Required {
		name = "[" + name + "]"
	}
	return name
}

// flagName returns a flag with its letter and the name of its value.
func flagName(f *kong.Flag) string {
	name := "    --"
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", --"
	}
	if f.Tag.Negatable != "" {
		name += "[no-]"
	}
	name += f.Name
	if !f.IsBool() && !f.IsCounter() {
		name += "=" + f.FormatPlaceHolder()
	}
	return name
}

func (h *help) title(s string) { h.line("\n%s", h.bold(s)) }

// examples writes the examples of a command; of the program for an empty one.
func (h *help) examples(command string) {
	all := Examples(command)
	if len(all) == 0 {
		return
	}
	h.title("Examples")
	for _, e := range all {
		h.line("  %s", e)
	}
}

// fitNames makes the column of names as wide as a name needs that is not too long.
func (h *help) fitNames(name string) {
	if n := ansi.StringWidth(name); n <= maxNames {
		h.names = max(h.names, n)
	}
}

// entry writes a name and its explanation beside it, or below it if the name is long.
func (h *help) entry(name, text string) {
	head := strings.Repeat(" ", helpIndent) + name
	column := helpIndent + h.names + 2
	if ansi.StringWidth(name) > h.names {
		h.line("%s", head)
		head = ""
	}
	for _, line := range wrapWords(text, max(minHelpWidth/2, h.width-column)) {
		h.line("%s", strings.TrimRight(head+strings.Repeat(" ", column-ansi.StringWidth(head))+line, " "))
		head = ""
	}
}

// text writes a paragraph.
func (h *help) text(indent int, text string) {
	for _, line := range wrapWords(text, h.width-indent) {
		h.line("%s%s", strings.Repeat(" ", indent), line)
	}
}

// wrapWords breaks a text into lines between words. Names of flags stay whole.
func wrapWords(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case ansi.StringWidth(line)+1+ansi.StringWidth(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func (h *help) line(format string, args ...any) {
	if h.err == nil {
		_, h.err = fmt.Fprintf(h.out, format+"\n", args...)
	}
}
