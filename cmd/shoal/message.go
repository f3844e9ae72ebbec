package main

import (
	"strings"

	"github.com/shoal-dev/shoal"
)

// said returns what a message says, in words.
func said(m shoal.Message) string {
	var all []string
	for _, p := range m.Parts {
		switch p.Type {
		case shoal.TextPart:
			all = append(all, p.Text)
		case shoal.FilePart:
			all = append(all, "[file "+p.Name+" "+p.URL+"]")
		default:
			all = append(all, "["+string(p.Type)+" "+p.Name+"]")
		}
	}
	return strings.Join(all, "\n\n")
}

// list joins ids.
func list[T ~string](ids []T, before, between string) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = before + string(id)
	}
	return strings.Join(all, between)
}

// message prints one message in one line: for people a sentence, for programs
// time, space, seq, sender, mentions and text.
func (o *output) message(m shoal.Message, space bool) error {
	if !o.terminal {
		return o.write(strings.Join([]string{
			m.CreatedAt.String(), line(string(m.SpaceID)), itoa(m.Seq), line(string(m.EntityID)), line(list(m.Mentions, "", ",")), line(said(m)),
		}, "\t") + "\n")
	}
	head := o.paint(dim, m.CreatedAt.String()) + " "
	if space {
		head += "[" + line(string(m.SpaceID)) + "] "
	}
	head += o.paint(bold, line(string(m.EntityID)))
	if len(m.Mentions) > 0 {
		head += " → " + o.paint(yellow, line(list(m.Mentions, "@", " ")))
	}
	return o.write(head + ": " + line(said(m)) + "\n")
}
