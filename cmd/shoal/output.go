package main

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"unicode/utf8"
)

// output writes what commands have to say: data to out, the rest to notes.
type output struct {
	out, notes io.Writer
	json       bool
	quiet      bool
	terminal   bool // whether a person reads out
	colour     bool // whether out may be coloured
	noteColour bool // whether notes may
}

func newOutput(out, notes *os.File) *output {
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	return &output{
		out: out, notes: notes, terminal: isTerminal(out), colour: isTerminal(out) && !plain, noteColour: isTerminal(notes) && !plain,
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// items is a list as the REST face answers it, whole.
type items[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// collect gathers a list.
func collect[T any](seq iter.Seq2[T, error]) (items[T], error) {
	all := items[T]{Items: []T{}}
	for item, err := range seq {
		if err != nil {
			return all, err
		}
		all.Items = append(all.Items, item)
	}
	return all, nil
}

// object prints v as JSON in one line.
func (o *output) object(v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return o.write(escaped(b.String()))
}

// escaped writes those characters of JSON as escapes that JSON lets pass but a
// terminal may obey. They can stand in its strings only.
func escaped(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// table prints v as JSON, or rows: aligned under a head for people, separated
// by tabs for programs, the first column alone if nothing else is wanted.
func (o *output) table(v any, head []string, rows ...[]string) error {
	if o.json {
		return o.object(v)
	}
	if o.quiet {
		for i, row := range rows {
			rows[i] = row[:1]
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = line(cell)
		}
	}
	if !o.terminal || o.quiet {
		for _, row := range rows {
			if err := o.write(strings.Join(row, "\t") + "\n"); err != nil {
				return err
			}
		}
		return nil
	}
	return o.aligned(head, rows)
}

func (o *output) aligned(head []string, rows [][]string) error {
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
	add(head, func(s string) string { return o.paint(bold, s) })
	for _, row := range rows {
		add(row, func(s string) string { return o.paint(stateColours[s], s) })
	}
	return o.write(b.String())
}

// text prints one text of any number of lines.
func (o *output) text(s string) error { return o.write(strings.TrimSuffix(clean(s), "\n") + "\n") }

func (o *output) write(s string) error {
	if _, err := io.WriteString(o.out, s); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// note tells a person something besides the data. Programs find it in the data.
func (o *output) note(format string, args ...any) {
	if !o.quiet && !o.json {
		_, _ = fmt.Fprintf(o.notes, "note: %s\n", line(fmt.Sprintf(format, args...))) // if nobody hears it, nothing is lost
	}
}

// failure tells about an error.
func (o *output) failure(f failure) {
	if o.json {
		told := *o
		told.out = o.notes
		_ = told.object(map[string]failure{"error": f}) // the exit code tells it, too
		return
	}
	label := "error:"
	if o.noteColour {
		label = string(red) + label + string(plain)
	}
	_, _ = fmt.Fprintf(o.notes, "%s %s\n", label, line(f.Message))
	if f.Hint != "" {
		_, _ = fmt.Fprintf(o.notes, "try: %s\n", line(f.Hint))
	}
}

// colour is what switches a terminal to one.
type colour string

const (
	plain  colour = "\x1b[0m"
	bold   colour = "\x1b[1m"
	red    colour = "\x1b[31m"
	green  colour = "\x1b[32m"
	yellow colour = "\x1b[33m"
	dim    colour = "\x1b[2m"
)

// stateColours only repeat what the words say.
var stateColours = map[string]colour{
	"waiting": green, "running": yellow, "connected": green, "offline": dim, "closed": dim,
	"ok": green, "warn": yellow, "fail": red,
}

func (o *output) paint(c colour, s string) string {
	if !o.colour || c == "" || s == "" {
		return s
	}
	return string(c) + s + string(plain)
}

// diff shows a change of a file.
func (o *output) diff(text string) {
	if o.quiet || o.json {
		return
	}
	for row := range strings.Lines(text) {
		row = line(row)
		paint := map[byte]colour{'+': green, '-': red, '@': dim}[(row + " ")[0]]
		if o.noteColour && paint != "" {
			row = string(paint) + row + string(plain)
		}
		_, _ = fmt.Fprintln(o.notes, row) // if nobody sees it, nobody agrees to it either
	}
}
