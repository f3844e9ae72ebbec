package talk

import (
	"context"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/cli/view"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// SearchCommand is shoal search.
type SearchCommand struct {
	Query []string      `arg:"" help:"Words, of which the last also matches as a prefix, and filters such as from:ann, in:shop, mentions:me, has:link, before:2027-01-31. Quotes (escaped for the shell) match a phrase; -word, after a --, excludes a word."`
	Space shoal.SpaceID `help:"Only messages of this space." placeholder:"ID"`
	Best  bool          `help:"Sort by relevance instead of newest first."`
	Limit int           `help:"The maximum number of messages; 0 for all." short:"n" default:"20"`
}

// Run searches messages.
func (c *SearchCommand) Run(ctx context.Context, sh *cli.Shell) error {
	session, _, err := sh.Connect(ctx)
	if err != nil {
		return err
	}
	found := cli.List[shoal.Hit]{Items: []shoal.Hit{}}
	for hit, err := range session.Search(ctx, strings.Join(c.Query, " "), client.SearchOptions{Space: c.Space, BestFirst: c.Best, Page: min(c.Limit, shoal.MaxPage)}) {
		if err != nil {
			return err
		}
		if found.Items = append(found.Items, hit); len(found.Items) == c.Limit {
			break
		}
	}
	if sh.Output.JSON {
		return sh.Output.PrintObject(found)
	}
	for _, hit := range found.Items {
		if err := printHit(sh.Output, hit); err != nil {
			return err
		}
	}
	if len(found.Items) == 0 {
		sh.Output.Note("no message in your spaces matches")
	}
	return nil
}

// printHit prints a hit in one line: for a terminal the message with its matches in color, for
// a pipe the columns time, space, seq, sender and excerpt, and with --quiet the message id.
func printHit(o *cli.Output, h shoal.Hit) error {
	m := h.Message
	switch {
	case o.Quiet:
		return o.Write(safetext.Line(string(m.ID)) + "\n")
	case !o.Terminal:
		return o.Write(strings.Join([]string{
			m.CreatedAt.String(), safetext.Line(string(m.SpaceID)), cli.Itoa(m.Seq), safetext.Line(string(m.EntityID)), safetext.Line(h.Highlight),
		}, "\t") + "\n")
	}
	return o.Write(view.MessageHead(o, m, true) + ": " + highlight(o, h) + "\n")
}

// highlight returns the excerpt of a hit with its matches in color. Without an excerpt, such as
// for a file, it returns the message as text.
func highlight(o *cli.Output, h shoal.Hit) string {
	if h.Highlight == "" {
		return safetext.Line(view.MessageText(h.Message))
	}
	text := strings.NewReplacer("\n", " ", "\t", " ").Replace(h.Highlight) // as long as before
	var b strings.Builder
	at := 0
	for _, r := range h.Matches {
		if r[0] < at || r[1] < r[0] || r[1] > len(text) {
			break // invalid ranges
		}
		b.WriteString(safetext.Line(text[at:r[0]]) + o.Paint(cli.Yellow, safetext.Line(text[r[0]:r[1]])))
		at = r[1]
	}
	return b.String() + safetext.Line(text[at:])
}
