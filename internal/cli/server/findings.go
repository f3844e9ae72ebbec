package server

import (
	"fmt"
	"strings"

	"github.com/shoal-dev/shoal/internal/cli"
	"github.com/shoal-dev/shoal/internal/doctor"
	"github.com/shoal-dev/shoal/internal/safetext"
)

// maxAlike is how many findings with the same advice are shown one by one.
const maxAlike = 5

// findings are the findings with one status and one advice.
type findings struct {
	try string
	all []doctor.Finding
}

// printFindings prints for a person what fails, then what could be better, each group with its
// advice once, and last how many checks went well.
func printFindings(o *cli.Output, all []doctor.Finding) error {
	well := 0
	var b strings.Builder
	for _, kind := range []struct {
		status doctor.Status
		sign   string
		title  string
		color  cli.Color
	}{{doctor.Fail, "✗", "Does not work", cli.Red}, {doctor.Warn, "!", "Could be better", cli.Yellow}} {
		groups := groupFindings(all, kind.status)
		if len(groups) > 0 {
			b.WriteString(o.Paint(cli.Bold, kind.title) + "\n")
		}
		for _, g := range groups {
			for i, f := range g.all {
				if i == maxAlike && len(g.all) > maxAlike+1 {
					fmt.Fprintf(&b, "    and %d more like these\n", len(g.all)-i)
					break
				}
				fmt.Fprintf(&b, "  %s %s: %s\n", o.Paint(kind.color, kind.sign), o.Paint(cli.Bold, safetext.Line(f.Check)), safetext.Line(f.Detail))
			}
			if g.try != "" {
				fmt.Fprintf(&b, "    %s %s\n", o.Paint(cli.Dim, "try:"), safetext.Line(g.try))
			}
		}
		if len(groups) > 0 {
			b.WriteString("\n")
		}
	}
	for _, f := range all {
		if f.Status == doctor.OK {
			well++
		}
	}
	fmt.Fprintf(&b, "%s %d of %d checks are fine; `shoal doctor --all` lists them.\n", o.Paint(cli.Green, "✓"), well, len(all))
	return o.Write(b.String())
}

// groupFindings returns the findings with a status, those with the same advice together, in the
// order in which their first ones were found.
func groupFindings(all []doctor.Finding, status doctor.Status) (groups []*findings) {
	by := map[string]*findings{}
	for _, f := range all {
		if f.Status != status {
			continue
		}
		g := by[f.Try]
		if g == nil {
			g = &findings{try: f.Try}
			by[f.Try], groups = g, append(groups, g)
		}
		g.all = append(g.all, f)
	}
	return groups
}
