package screen

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal/internal/safetext"
)

// wrap breaks untrusted text into safe lines of at most width columns, between words if
// possible.
func wrap(text string, width int) (lines []string) {
	text = strings.ReplaceAll(safetext.Clean(text), "\t", "    ")
	width = max(width, 8)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n "), "\n") {
		now, used := "", 0
		for i, word := range strings.Split(line, " ") {
			long := ansi.StringWidth(word)
			switch {
			case i == 0:
				now, used = word, long
			case used+1+long > width && strings.TrimSpace(now) != "":
				lines = append(lines, now)
				now, used = word, long
			default:
				now, used = now+" "+word, used+1+long
			}
			for used > width {
				head := ansi.Truncate(now, width, "")
				lines = append(lines, head)
				now = now[len(head):]
				used = ansi.StringWidth(now)
			}
		}
		lines = append(lines, now)
	}
	return lines
}

// cut returns untrusted text as one safe line of at most width columns.
func cut(text string, width int) string {
	return ansi.Truncate(safetext.Line(text), max(width, 1), "…")
}

// size formats bytes in a readable unit.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// indent indents lines below their head.
func indent(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// rule returns a horizontal line with a word in it.
func (m *model) rule(word string, width int) string {
	if word != "" {
		word = " " + word + " "
	}
	left := min(2, width)
	return m.style.bar.Render(strings.Repeat("─", left)) + m.style.ask.Render(word) +
		m.style.bar.Render(strings.Repeat("─", max(0, width-left-ansi.StringWidth(word))))
}
