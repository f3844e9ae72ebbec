package main

import (
	"context"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
)

type searchCmd struct {
	Query []string      `arg:"" help:"Words, the last one also as the beginning of a word, and filters such as from:ann, in:shop, mentions:me, has:link, before:2027-01-31. Quotes, which the shell must be kept from, hold words together; -word leaves out, behind a --."`
	Space shoal.SpaceID `help:"In this space only." placeholder:"ID"`
	Best  bool          `help:"The best first, not the newest."`
	Limit int           `help:"How many, 0 for all." short:"n" default:"20"`
}

// Run searches messages.
func (c *searchCmd) Run(ctx context.Context, sh *shell) error {
	session, _, err := sh.connect(ctx)
	if err != nil {
		return err
	}
	found := items[shoal.Hit]{Items: []shoal.Hit{}}
	for hit, err := range session.Search(ctx, strings.Join(c.Query, " "), client.SearchOptions{Space: c.Space, BestFirst: c.Best, Page: min(c.Limit, shoal.MaxPage)}) {
		if err != nil {
			return err
		}
		if found.Items = append(found.Items, hit); len(found.Items) == c.Limit {
			break
		}
	}
	if sh.output.json {
		return sh.output.object(found)
	}
	for _, hit := range found.Items {
		if err := printHit(sh.output, hit); err != nil {
			return err
		}
	}
	if len(found.Items) == 0 {
		sh.output.note("no message of your spaces holds all of that")
	}
	return nil
}

// printHit prints one hit in one line: for people what was said with its matches in
// colour, for programs time, space, seq, sender and the piece of the text; quietly
// the id of the message alone.
func printHit(o *output, h shoal.Hit) error {
	m := h.Message
	switch {
	case o.quiet:
		return o.write(line(string(m.ID)) + "\n")
	case !o.terminal:
		return o.write(strings.Join([]string{
			m.CreatedAt.String(), line(string(m.SpaceID)), itoa(m.Seq), line(string(m.EntityID)), line(h.Highlight),
		}, "\t") + "\n")
	}
	return o.write(messageHead(o, m, true) + ": " + highlight(o, h) + "\n")
}

// highlight is the piece of a hit with its matches in colour. What is no text of a
// message, such as a file, is told in words.
func highlight(o *output, h shoal.Hit) string {
	if h.Highlight == "" {
		return line(said(h.Message))
	}
	text := strings.NewReplacer("\n", " ", "\t", " ").Replace(h.Highlight) // as long as before
	var b strings.Builder
	at := 0
	for _, r := range h.Matches {
		if r[0] < at || r[1] < r[0] || r[1] > len(text) {
			break // no server of ours says so
		}
		b.WriteString(line(text[at:r[0]]) + o.paint(yellow, line(text[r[0]:r[1]])))
		at = r[1]
	}
	return b.String() + line(text[at:])
}
