package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal/internal/cli"
)

// candidate is what could stand in a place of the command line.
type candidate struct{ value, help string }

// position is where somebody is in a command line that is not complete.
type position struct {
	node   *kong.Node
	given  map[string]bool // the flags that stand before, by name
	global []string        // those of them that all commands have, with their values
	args   []string        // the arguments that stand before
	ended  bool            // whether -- stands before: no flag follows
	flag   *kong.Flag      // whose value it is, if it is one
	before string          // what stands in the word before what is completed: --flag=
	word   string          // what is completed
}

// locate finds the place of the last word.
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
		p.word = "" // as some shells have to write it
	}
	if name, value, is := strings.Cut(p.word, "="); is && p.flag == nil && !p.ended && strings.HasPrefix(name, "--") {
		p.flag, p.before, p.word = p.find(name[2:]), name+"=", value
	}
	return p
}

// consume goes over a word that is complete.
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

// consumeShort goes over flags of one letter.
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

// consumeWord goes over a command or an argument.
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

// flags returns those that may stand here.
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

// value returns what is completed, if it is the value of a flag or an argument.
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

// isUsed reports whether a value stands before that can stand there once.
func (p *position) isUsed(value string) bool {
	return p.flag == nil && slices.Contains(p.args, value)
}

// candidates returns what the grammar knows.
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

// fixedValues returns the values that never change.
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

// wantsFile reports whether the name of a file is wanted.
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

// shellFor returns sh with the flags that stand in the unfinished line, so that it calls
// whom that line would call.
func (p *position) shellFor(sh *cli.Shell) *cli.Shell {
	there, _, err := sh.Parse(append([]string{"version"}, p.global...)...)
	if err != nil {
		return sh // as far as it is understood
	}
	return there
}
