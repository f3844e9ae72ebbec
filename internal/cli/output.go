package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/shoal-dev/shoal/internal/safetext"
)

// Output writes the output of a command: data to Out, everything else to Notes.
type Output struct {
	Out, Notes io.Writer
	JSON       bool
	Quiet      bool
	Terminal   bool    // whether Out is a terminal
	filter     *filter // of --jq, nil without it
	color      bool    // whether to color Out
	noteColor  bool    // whether to color Notes
	width      int     // columns of the terminal, 0 if unknown
}

func newOutput(out, notes *os.File) *Output {
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	o := &Output{
		Out: out, Notes: notes, Terminal: IsTerminal(out), color: IsTerminal(out) && !plain, noteColor: IsTerminal(notes) && !plain,
	}
	if o.Terminal {
		o.width = columns(out)
	}
	return o
}

// columns returns the width of the terminal that f is: that of COLUMNS, else its own, and 0 if
// neither is known.
func columns(f *os.File) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	n, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return n
}

// IsTerminal reports whether f is a terminal or another character device.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// List is a complete list in the format of the REST API.
type List[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// Collect reads a sequence to its end, or to its first error.
func Collect[T any](seq iter.Seq2[T, error]) (List[T], error) {
	all := List[T]{Items: []T{}}
	for item, err := range seq {
		if err != nil {
			return all, err
		}
		all.Items = append(all.Items, item)
	}
	return all, nil
}

// PrintObject prints v as one line of JSON, or what the program of --jq makes of it.
func (o *Output) PrintObject(v any) error {
	if o.filter != nil {
		return o.printFiltered(v)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return o.Write(EscapeJSON(b.String()))
}

// EscapeJSON escapes the characters of a JSON text that a terminal may interpret. Valid JSON
// has them only in strings.
func EscapeJSON(s string) string {
	if !strings.ContainsFunc(s, safetext.Unsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if safetext.Unsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// PrintTable prints v with --json, and the rows otherwise: aligned below a header for a
// terminal, separated by tabs for a pipe, and the first column only with --quiet.
func (o *Output) PrintTable(v any, head []string, rows ...[]string) error {
	if o.JSON {
		return o.PrintObject(v)
	}
	if o.Quiet {
		for i, row := range rows {
			rows[i] = row[:1]
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = safetext.Line(cell)
		}
	}
	if !o.Terminal || o.Quiet {
		for _, row := range rows {
			if err := o.Write(strings.Join(row, "\t") + "\n"); err != nil {
				return err
			}
		}
		return nil
	}
	return o.printAligned(head, rows)
}

func (o *Output) printAligned(head []string, rows [][]string) error {
	if len(rows) == 0 {
		o.Note("there is nothing to list")
		return nil
	}
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	o.shrink(head, widths)
	var b strings.Builder
	add := func(row []string, paint func(column int, cell string) string) {
		line, pending := "", 0
		for i, cell := range row {
			cell = ansi.Truncate(cell, widths[i], "…")
			if cell != "" {
				line += strings.Repeat(" ", pending) + paint(i, cell)
				pending = 0
			}
			pending += widths[i] - ansi.StringWidth(cell) + 2
		}
		b.WriteString(line + "\n")
	}
	add(head, func(_ int, s string) string { return o.Paint(Bold, s) })
	for _, row := range rows {
		add(row, func(column int, s string) string {
			switch head[column] {
			case "STATUS", "STATE", "KIND":
				return o.Paint(stateColors[s], s)
			case "#":
				return o.Paint(Bold, s)
			}
			return s
		})
	}
	return o.Write(b.String())
}

// proseColumns are the columns that may be cut: nobody copies from them.
var proseColumns = []string{"ABOUT", "TRIGGER", "DESCRIPTION", "TEXT", "NAME", "FOUND", "TRY"}

// minProse is the least width of a column that is cut.
const minProse = 12

// shrink narrows the columns with prose until a row fits the terminal, the widest first.
func (o *Output) shrink(head []string, widths []int) {
	if o.width == 0 {
		return
	}
	over := 2*len(widths) - 2 - o.width
	for _, w := range widths {
		over += w
	}
	for ; over > 0; over-- {
		widest := -1
		for i, w := range widths {
			if slices.Contains(proseColumns, head[i]) && w > minProse && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// PrintText prints a text of one or more lines, without control characters.
func (o *Output) PrintText(s string) error {
	return o.Write(strings.TrimSuffix(safetext.Clean(s), "\n") + "\n")
}

// Write writes s to Out as it is.
func (o *Output) Write(s string) error {
	if _, err := io.WriteString(o.Out, s); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// Note prints a note for people. It prints nothing with --json or --quiet: programs find
// everything in the data.
func (o *Output) Note(format string, args ...any) {
	if !o.Quiet && !o.JSON {
		_, _ = fmt.Fprintf(o.Notes, "note: %s\n", safetext.Line(fmt.Sprintf(format, args...))) // nothing depends on a note
	}
}

// ReportFailure prints an error to Notes: as JSON with --json, otherwise as text with what the
// user can try.
func (o *Output) ReportFailure(f Failure) {
	if o.JSON {
		stderr := *o
		stderr.Out, stderr.filter = o.Notes, nil
		_ = stderr.PrintObject(map[string]Failure{"error": f}) // the exit code reports the failure as well
		return
	}
	label := "error:"
	if o.noteColor {
		label = string(Red) + label + string(plain)
	}
	_, _ = fmt.Fprintf(o.Notes, "%s %s\n", label, safetext.Line(f.Message))
	if f.Hint != "" {
		_, _ = fmt.Fprintf(o.Notes, "try: %s\n", safetext.Line(f.Hint))
	}
}

// Color is the control sequence that switches a terminal to a color.
type Color string

// Colors of the output.
const (
	plain  Color = "\x1b[0m"
	Bold   Color = "\x1b[1m"
	Red    Color = "\x1b[31m"
	Green  Color = "\x1b[32m"
	Yellow Color = "\x1b[33m"
	Dim    Color = "\x1b[2m"
)

// stateColors maps table cells to colors. They only emphasize what the words say.
var stateColors = map[string]Color{
	"waiting": Green, "running": Yellow, "connected": Green, "offline": Dim, "closed": Dim, "open": Green,
	"ok": Green, "warn": Yellow, "fail": Red,
	"queued": Dim, "waiting_tool": Yellow, "waiting_reply": Yellow, "completed": Green, "failed": Red, "canceled": Dim,
	"answered": Green, "expired": Dim, "pending": Green, "paused": Dim,
	"permission": Yellow, "question": Yellow, "client_tool": Yellow,
}

// Paint returns s in a color, or s itself if Out has no colors.
func (o *Output) Paint(c Color, s string) string {
	if !o.color || c == "" || s == "" {
		return s
	}
	return string(c) + s + string(plain)
}

// PrintDiff prints the diff of a file to Notes.
func (o *Output) PrintDiff(text string) {
	if o.Quiet || o.JSON {
		return
	}
	for row := range strings.Lines(text) {
		row = safetext.Line(row)
		paint := map[byte]Color{'+': Green, '-': Red, '@': Dim}[(row + " ")[0]]
		if o.noteColor && paint != "" {
			row = string(paint) + row + string(plain)
		}
		_, _ = fmt.Fprintln(o.Notes, row) // without seeing the diff, a user cannot confirm it
	}
}
