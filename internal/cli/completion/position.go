package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal/internal/cli"
)

// candidate is a possible word of the command line, with an explanation.
type candidate struct{ value, help string }

// position is the cursor in an unfinished command line.
type position struct {
	node   *kong.Node
	given  map[string]bool // the flags before it, by name
	global []string        // the global flags before it, with their values
	args   []string        // the arguments before it
	ended  bool            // whether -- is before it, so that no flag follows
	flag   *kong.Flag      // the flag whose value is completed, if any
	before string          // the start of the word that is kept, such as --flag=
	word   string          // what is completed
}

// locate returns the position of the last word.
func locate(root *kong.Node, words []string) *position {
	p := &position{node: root, given: map[string]bool{}}
	if len(words) == 0 {
		return p
	}
	last := len(words) - 1
	for _, word := range words[:last] {
		p.consume(word)
	}
	p.word = words[last]
	if p.word == `''` || p.word == `""` {
		p.word = "" // some shells pass an empty word like this
	}
	if name, value, is := strings.Cut(p.word, "="); is && p.flag == nil && !p.ended && strings.HasPrefix(name, "--") {
		p.flag, p.before, p.word = p.find(name[2:]), name+"=", value
	}
	return p
}

// consume advances over a complete word.
func (p *position) consume(word string) {
	name, value, has := strings.Cut(word, "=")
	switch {
	case p.flag != nil:
		p.recordFlag(p.flag, word)
		p.flag = nil
	case p.ended:
		p.args = append(p.args, word)
	case word == "--":
		p.ended = true
	case strings.HasPrefix(word, "--"):
		switch flag := p.find(name[2:]); {
		case flag == nil:
		case has:
			p.recordFlag(flag, value)
		case flag.IsBool():
			p.recordFlag(flag, "true")
		default:
			p.flag = flag
		}
	case len(word) > 1 && word[0] == '-':
		p.consumeShort(word[1:])
	default:
		p.consumeWord(word)
	}
}

// consumeShort advances over flags of one letter.
func (p *position) consumeShort(letters string) {
	for i, letter := range letters {
		flag := p.findWhere(func(f *kong.Flag) bool { return f.Short == letter })
		switch rest := letters[i+len(string(letter)):]; {
		case flag == nil:
			return
		case flag.IsBool():
			p.recordFlag(flag, "true")
		case rest == "":
			p.flag = flag
			return
		default:
			p.recordFlag(flag, strings.TrimPrefix(rest, "="))
			return
		}
	}
}

// consumeWord advances over a command or an argument.
func (p *position) consumeWord(word string) {
	for _, child := range p.node.Children {
		if child.Name == word || slices.Contains(child.Aliases, word) {
			p.node = child
			return
		}
	}
	if p.node.DefaultCmd != nil {
		p.node = p.node.DefaultCmd
	}
	p.args = append(p.args, word)
}

func (p *position) recordFlag(flag *kong.Flag, value string) {
	p.given[flag.Name] = true
	root := p.node
	for root.Parent != nil {
		root = root.Parent
	}
	if slices.Contains(root.Flags, flag) && flag.Name != "help" {
		p.global = append(p.global, "--"+flag.Name+"="+value)
	}
}

// flags returns the flags that are allowed at the position.
func (p *position) flags() (all []*kong.Flag) {
	if p.node.DefaultCmd != nil {
		all = append(all, p.node.DefaultCmd.Flags...)
	}
	for n := p.node; n != nil; n = n.Parent {
		all = append(all, n.Flags...)
	}
	return all
}

func (p *position) find(name string) *kong.Flag {
	return p.findWhere(func(f *kong.Flag) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
}

func (p *position) findWhere(is func(*kong.Flag) bool) *kong.Flag {
	all := p.flags()
	if at := slices.IndexFunc(all, is); at >= 0 {
		return all[at]
	}
	return nil
}

// value returns the flag value or argument at the position, or nil.
func (p *position) value() *kong.Value {
	switch {
	case p.flag != nil:
		return p.flag.Value
	case p.before != "" || !p.ended && strings.HasPrefix(p.word, "-"):
		return nil
	}
	args := p.node.Positional
	if p.node.DefaultCmd != nil {
		args = p.node.DefaultCmd.Positional
	}
	if n := len(p.args); n < len(args) {
		return args[n]
	}
	if n := len(args); n > 0 && args[n-1].IsCumulative() {
		return args[n-1]
	}
	return nil
}

// isUsed reports whether an argument before the position has the value already.
func (p *position) isUsed(value string) bool {
	return p.flag == nil && slices.Contains(p.args, value)
}

// candidates returns the candidates that the grammar determines.
func (p *position) candidates() []candidate {
	switch {
	case p.flag != nil || p.before != "":
	case !p.ended && strings.HasPrefix(p.word, "-"):
		return p.flagNames()
	case !p.ended && len(p.args) == 0 && len(p.node.Children) > 0:
		var found []candidate
		for _, child := range p.node.Children {
			if !child.Hidden {
				found = append(found, candidate{child.Name, child.Help})
			}
		}
		return found
	}
	return fixedValues(p.value())
}

func (p *position) flagNames() (found []candidate) {
	for _, flag := range p.flags() {
		if !flag.Hidden && (!p.given[flag.Name] || flag.IsSlice()) {
			found = append(found, candidate{"--" + flag.Name, flag.Help})
		}
	}
	return found
}

// fixedValues returns the values of an enumeration.
func fixedValues(v *kong.Value) (found []candidate) {
	switch {
	case v == nil:
	case v.Enum != "":
		for _, one := range v.EnumSlice() {
			if one != "" {
				found = append(found, candidate{one, ""})
			}
		}
	}
	return found
}

// wantsFile reports whether a file name is expected.
func (p *position) wantsFile() bool {
	v := p.value()
	switch {
	case v == nil:
		return false
	case v.Flag != nil:
		return strings.Contains(v.Flag.PlaceHolder, "FILE") || strings.Contains(v.Flag.PlaceHolder, "DIR")
	}
	return v.Name == "file"
}

// shellFor returns a shell with the global flags of the unfinished line, so that completion
// calls the same server with the same key.
func (p *position) shellFor(sh *cli.Shell) *cli.Shell {
	there, _, err := sh.Parse(append([]string{"version"}, p.global...)...)
	if err != nil {
		return sh // the unfinished line is invalid
	}
	return there
}
