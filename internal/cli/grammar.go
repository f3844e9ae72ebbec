package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
)

// Grammar creates an empty grammar: a pointer to a struct of commands for kong, and the
// Globals that the struct embeds.
type Grammar func() (commands any, globals *Globals)

// Parse parses another command line with the same grammar, environment and configuration file.
// The returned shell has the flags of that command line, and the input and output of sh.
func (sh *Shell) Parse(args ...string) (*Shell, *kong.Context, error) {
	commands, globals := sh.Grammar()
	other := &Shell{Globals: globals, In: sh.In, Output: sh.Output, Sources: new(Sources), Stamp: sh.Stamp, Grammar: sh.Grammar}
	chosen, err := NewParser(commands, kong.Writers(io.Discard, io.Discard), kong.Resolvers(other.Sources), kong.Bind(other)).Parse(args)
	if err == nil {
		other.findServer(chosen)
	}
	return other, chosen, err
}

// NewParser returns a parser for the commands. It takes a flag from the command line, then
// from the environment, then from the resolvers in options. It panics if the grammar is
// invalid.
func NewParser(commands any, options ...kong.Option) *kong.Kong {
	parser, err := kong.New(commands, append(options,
		kong.Name("shoal"),
		kong.Description("Shoal is a server in which AI agents and people talk and work together, and its command line."),
		kong.DefaultEnvars("SHOAL"),
		kong.Vars{"default_wait": shoal.DefaultWait.String()},
		kong.Help(printHelp),
	)...)
	if err != nil {
		panic(err) // a mistake in a struct tag
	}
	parser.Model.HelpFlag.Help = "Show the help of a command."
	dropVariables(parser.Model.Node)
	hideSettings(parser.Model.Node)
	return parser
}

// dropVariables removes the environment variables of all flags but those of all commands and
// the settings of the server. A forgotten variable must not change what a single command does.
func dropVariables(root *kong.Node) {
	kept := settingNames(root)
	var visit func(*kong.Node)
	visit = func(n *kong.Node) {
		for _, flag := range n.Flags {
			if !slices.Contains(kept, flag.Name) {
				flag.Envs, flag.Tag.Envs = nil, nil
			}
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	for _, command := range root.Children {
		visit(command)
	}
}

// hideSettings hides the settings of the server in the help of doctor, which accepts them only
// to examine them.
func hideSettings(root *kong.Node) {
	known := settingNames(root)
	for _, n := range root.Children {
		for _, flag := range n.Flags {
			flag.Hidden = flag.Hidden || n.Name == "doctor" && slices.Contains(known, flag.Name)
		}
	}
}

// flagHelp returns the help of a flag or argument, with its allowed values and its default if
// kong does not show them.
func flagHelp(v *kong.Value) string {
	shown := *v
	shown.Help = valueHelp(v)
	if v.Flag != nil && v.Flag.PlaceHolder != "" && v.Default != "" {
		shown.Help = strings.TrimSuffix(shown.Help, ".") + " (default: " + v.Default + ")."
	}
	return kong.DefaultHelpValueFormatter(&shown)
}

// valueHelp returns the help of a value. It appends the allowed values unless the help names
// all of them.
func valueHelp(v *kong.Value) string {
	if v.Enum == "" || !slices.ContainsFunc(v.EnumSlice(), func(one string) bool { return !strings.Contains(v.Help, one) }) {
		return v.Help
	}
	return v.Help + " One of " + strings.Trim(strings.Join(v.EnumSlice(), ", "), ", ") + "."
}
