package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal"
)

// Grammar makes an empty set of commands, a pointer to a struct for kong, and returns it with
// the globals in it.
type Grammar func() (commands any, globals *Globals)

// Parse parses another command line with the grammar of this one, which has the same
// environment and input, and returns a shell for it.
func (sh *Shell) Parse(args ...string) (*Shell, *kong.Context, error) {
	commands, globals := sh.Grammar()
	other := &Shell{Globals: globals, In: sh.In, Output: sh.Output, Sources: new(Sources), Stamp: sh.Stamp, Grammar: sh.Grammar}
	chosen, err := NewParser(commands, kong.Writers(io.Discard, io.Discard), kong.Resolvers(other.Sources), kong.Bind(other)).Parse(args)
	return other, chosen, err
}

// NewParser returns the parser of the command line. Flags are looked up where they
// were given, then in the environment, then by what options add.
func NewParser(commands any, options ...kong.Option) *kong.Kong {
	parser, err := kong.New(commands, append(options,
		kong.Name("shoal"),
		kong.Description("A server in which agents and people talk, and its command line. The flags that every command has, and the settings of serve, can be given as SHOAL_FLAG in the environment, too."),
		kong.DefaultEnvars("SHOAL"),
		kong.Vars{"default_wait": shoal.DefaultWait.String()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(flagHelp),
	)...)
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	dropVariables(parser.Model.Node)
	hideSettings(parser.Model.Node)
	return parser
}

// dropVariables leaves environment variables to the flags that every command has and
// to the settings of the server: a variable that changes what one command does would
// do it behind the back of whoever types that command.
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

// hideSettings leaves the settings of the server out of the help of the commands that
// only want to know them.
func hideSettings(root *kong.Node) {
	known := settingNames(root)
	for _, n := range root.Children {
		for _, flag := range n.Flags {
			flag.Hidden = flag.Hidden || n.Name == "doctor" && slices.Contains(known, flag.Name)
		}
	}
}

// flagHelp is the help of a flag or argument, with its values and its default where
// nothing else shows them.
func flagHelp(v *kong.Value) string {
	shown := *v
	shown.Help = valueHelp(v)
	if v.Flag != nil && v.Flag.PlaceHolder != "" && v.Default != "" {
		shown.Help = strings.TrimSuffix(shown.Help, ".") + " (default: " + v.Default + ")."
	}
	return kong.DefaultHelpValueFormatter(&shown)
}

// valueHelp is the help of a value with those that it may have, unless it says them.
func valueHelp(v *kong.Value) string {
	if v.Enum == "" || !slices.ContainsFunc(v.EnumSlice(), func(one string) bool { return !strings.Contains(v.Help, one) }) {
		return v.Help
	}
	return v.Help + " One of " + strings.Trim(strings.Join(v.EnumSlice(), ", "), ", ") + "."
}
