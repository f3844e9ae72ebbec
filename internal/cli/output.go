package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/internal/safetext"
)

// Output writes the output of a command: data to Out, everything else to Notes.
type Output struct {
	Out, Notes io.Writer
	JSON       bool
	Quiet      bool
	Terminal   bool // whether Out is a terminal
	color      bool // whether to color Out
	noteColor  bool // whether to color Notes
}

func newOutput(out, notes *os.File) *Output {
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	return &Output{
		Out: out, Notes: notes, Terminal: IsTerminal(out), color: IsTerminal(out) && !plain, noteColor: IsTerminal(notes) && !plain,
	}
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

// PrintObject prints v as one line of JSON.
func (o *Output) PrintObject(v any) error {
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
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	add := func(row []string, paint func(string) string) {
		for i, cell := range row {
			b.WriteString(paint(cell))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		b.WriteByte('\n')
	}
	add(head, func(s string) string { return o.Paint(Bold, s) })
	for _, row := range rows {
		add(row, func(s string) string { return o.Paint(stateColors[s], s) })
	}
	return o.Write(b.String())
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
		stderr.Out = o.Notes
		_ = stderr.PrintObject(map[string]Failure{"error": f}) // the exit code reports the failure as well
		return
	}
	label := "error:"
	if o.noteColor {
		label = string(red) + label + string(plain)
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
	red    Color = "\x1b[31m"
	green  Color = "\x1b[32m"
	Yellow Color = "\x1b[33m"
	Dim    Color = "\x1b[2m"
)

// stateColors maps table cells to colors. They only emphasize what the words say.
var stateColors = map[string]Color{
	"waiting": green, "running": Yellow, "connected": green, "offline": Dim, "closed": Dim,
	"ok": green, "warn": Yellow, "fail": red,
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
		paint := map[byte]Color{'+': green, '-': red, '@': Dim}[(row + " ")[0]]
		if o.noteColor && paint != "" {
			row = string(paint) + row + string(plain)
		}
		_, _ = fmt.Fprintln(o.Notes, row) // without seeing the diff, a user cannot confirm it
	}
}
