package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/shoal-dev/shoal/internal/cli"
)

// candidate is what could stand in a place of the command line.
type candidate struct{ value, help string }

// place is where somebody is in a command line that is not complete.
type place struct {
	node   *kong.Node
	given  map[string]bool // the flags that stand before, by name
	global []string        // those of them that all commands have, with their values
	args   []string        // the arguments that stand before
	ended  bool            // whether -- stands before: no flag follows
	flag   *kong.Flag      // whose value it is, if it is one
	before string          // what stands in the word before what is completed: --flag=
	word   string          // what is completed
}

// placed finds the place of the last word.
func placed(root *kong.Node, words []string) *place {
	p := &place{node: root, given: map[string]bool{}}
	if len(words) == 0 {
		return p
	}
	last := len(words) - 1
	for _, word := range words[:last] {
		p.pass(word)
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

// pass goes over a word that is complete.
func (p *place) pass(word string) {
	name, value, has := strings.Cut(word, "=")
	switch {
	case p.flag != nil:
		p.note(p.flag, word)
		p.flag = nil
	case p.ended:
		p.args = append(p.args, word)
	case word == "--":
		p.ended = true
	case strings.HasPrefix(word, "--"):
		switch flag := p.find(name[2:]); {
		case flag == nil:
		case has:
			p.note(flag, value)
		case flag.IsBool():
			p.note(flag, "true")
		default:
			p.flag = flag
		}
	case len(word) > 1 && word[0] == '-':
		p.passShort(word[1:])
	default:
		p.passWord(word)
	}
}

// passShort goes over flags of one letter.
func (p *place) passShort(letters string) {
	for i, letter := range letters {
		flag := p.findWhere(func(f *kong.Flag) bool { return f.Short == letter })
		switch rest := letters[i+len(string(letter)):]; {
		case flag == nil:
			return
		case flag.IsBool():
			p.note(flag, "true")
		case rest == "":
			p.flag = flag
			return
		default:
			p.note(flag, strings.TrimPrefix(rest, "="))
			return
		}
	}
}

// passWord goes over a command or an argument.
func (p *place) passWord(word string) {
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

func (p *place) note(flag *kong.Flag, value string) {
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
func (p *place) flags() (all []*kong.Flag) {
	if p.node.DefaultCmd != nil {
		all = append(all, p.node.DefaultCmd.Flags...)
	}
	for n := p.node; n != nil; n = n.Parent {
		all = append(all, n.Flags...)
	}
	return all
}

func (p *place) find(name string) *kong.Flag {
	return p.findWhere(func(f *kong.Flag) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
}

func (p *place) findWhere(is func(*kong.Flag) bool) *kong.Flag {
	all := p.flags()
	if at := slices.IndexFunc(all, is); at >= 0 {
		return all[at]
	}
	return nil
}

// value returns what is completed, if it is the value of a flag or an argument.
func (p *place) value() *kong.Value {
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

// taken reports whether a value stands before that can stand there once.
func (p *place) taken(value string) bool {
	return p.flag == nil && slices.Contains(p.args, value)
}

// candidates returns what the grammar knows.
func (p *place) candidates() []candidate {
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
	return known(p.value())
}

func (p *place) flagNames() (found []candidate) {
	for _, flag := range p.flags() {
		if !flag.Hidden && (!p.given[flag.Name] || flag.IsSlice()) {
			found = append(found, candidate{"--" + flag.Name, flag.Help})
		}
	}
	return found
}

// known returns the values that never change.
func known(v *kong.Value) (found []candidate) {
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

// files reports whether the name of a file is wanted.
func (p *place) files() bool {
	v := p.value()
	switch {
	case v == nil:
		return false
	case v.Flag != nil:
		return strings.Contains(v.Flag.PlaceHolder, "FILE") || strings.Contains(v.Flag.PlaceHolder, "DIR")
	}
	return v.Name == "file"
}

// shell returns sh with the flags that stand in the unfinished line, so that it calls
// whom that line would call.
func (p *place) shell(sh *cli.Shell) *cli.Shell {
	there, _, err := sh.Parse(append([]string{"version"}, p.global...)...)
	if err != nil {
		return sh // as far as it is understood
	}
	return there
}
