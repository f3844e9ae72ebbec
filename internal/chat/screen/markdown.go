package screen

import (
	"fmt"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/shoal-dev/shoal/internal/safetext"
)

// markdownParser reads Markdown as the console does: with tables, struck text and boxes of tasks.
// It is built on the first use: most commands of the binary draw nothing.
var markdownParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify)).Parser()
})

// maxNesting bounds how deep lists and quotes are drawn; deeper ones are drawn as text.
const maxNesting = 8

// maxMarkdown is how many bytes of a text are drawn as Markdown; what follows is drawn as it
// is. The parser needs time that is quadratic in texts such as "[a](b[a](b…": 16 KiB of the
// worst that we found take 0.2 s, 100 KB took 6 s.
const maxMarkdown = 16 << 10

// markdown draws untrusted Markdown as safe lines of at most width columns. The line breaks of
// the text are kept: people write messages, not books.
func (s style) markdown(source string, width int) []string {
	source, rest := cutMarkdown(strings.ReplaceAll(safetext.Clean(source), "\t", "    "))
	width = max(width, 8)
	d := &drawing{style: s, source: []byte(source)}
	lines := d.blocks(markdownParser().Parse(text.NewReader(d.source)), width, 0)
	for line := range strings.Lines(rest) {
		lines = append(lines, fill(split(nil, strings.TrimSuffix(line, "\n"), lipgloss.Style{}), width)...)
	}
	return lines
}

// cutMarkdown divides a text after the last line that ends within the first maxMarkdown bytes;
// a first line that is longer is not Markdown.
func cutMarkdown(source string) (markdown, rest string) {
	if len(source) <= maxMarkdown {
		return source, ""
	}
	end := strings.LastIndexByte(source[:maxMarkdown], '\n') + 1
	return source[:end], source[end:]
}

// drawing draws one text.
type drawing struct {
	style
	source []byte
}

// word is a piece of a line that is not broken. A word with nothing in it is a line break.
type word struct {
	text  string
	paint lipgloss.Style
	glued bool // whether it follows the word before it without a space
}

// blocks draws the children of a node, with an empty line between two of them.
func (d *drawing) blocks(parent ast.Node, width, depth int) (lines []string) {
	tight := parent.Kind() == ast.KindListItem
	if list, is := parent.(*ast.List); is {
		tight = list.IsTight
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if len(lines) > 0 && !tight {
			lines = append(lines, "")
		}
		lines = append(lines, d.block(n, width, depth)...)
	}
	return lines
}

func (d *drawing) block(n ast.Node, width, depth int) []string {
	if depth > maxNesting {
		return wrap(string(n.Lines().Value(d.source)), width)
	}
	switch n := n.(type) {
	case *ast.Heading:
		return fill(d.words(n, d.strong), width)
	case *ast.Blockquote:
		return prefixed(d.blocks(n, max(width-2, 8), depth+1), d.bar.Render("▎ "), d.bar.Render("▎ "))
	case *ast.List:
		return d.blocks(n, width, depth+1)
	case *ast.ListItem:
		mark := d.mark(n)
		indent := strings.Repeat(" ", ansi.StringWidth(mark))
		return prefixed(d.blocks(n, max(width-len(indent), 8), depth), mark, indent)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return prefixed(wrap(string(n.Lines().Value(d.source)), width-2), d.bar.Render("│ "), d.bar.Render("│ "))
	case *ast.ThematicBreak:
		return []string{d.bar.Render(strings.Repeat("─", min(width, 24)))}
	case *ast.HTMLBlock:
		return wrap(string(n.Lines().Value(d.source)), width)
	case *extast.Table:
		return d.table(n, width)
	}
	return fill(d.words(n, lipgloss.NewStyle()), width)
}

// mark returns the sign before an entry of a list.
func (d *drawing) mark(item *ast.ListItem) string {
	list, is := item.Parent().(*ast.List)
	if !is || !list.IsOrdered() {
		return "• "
	}
	number := list.Start
	for n := item.PreviousSibling(); n != nil; n = n.PreviousSibling() {
		number++
	}
	return fmt.Sprintf("%d. ", number)
}

// table draws a table with its columns aligned; cells are cut where the width is not enough.
func (d *drawing) table(t ast.Node, width int) (lines []string) {
	var rows [][]string
	var widths []int
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		paint := lipgloss.NewStyle()
		if row.Kind() == extast.KindTableHeader {
			paint = d.strong
		}
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			text := strings.Join(fill(d.words(cell, paint), 1<<16), " ")
			if len(cells) == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(cells)] = max(widths[len(cells)], ansi.StringWidth(text))
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	most := max(4, (width-3*(len(widths)-1))/max(1, len(widths)))
	for i, row := range rows {
		for c := range row {
			if row[c] = ansi.Truncate(row[c], max(most, 4), "…"); c < len(row)-1 {
				row[c] = fit(row[c], min(widths[c], most))
			}
		}
		lines = append(lines, ansi.Truncate(strings.Join(row, d.bar.Render(" │ ")), width, "…"))
		if i == 0 {
			lines = append(lines, d.bar.Render(strings.Repeat("─", min(width, ansi.StringWidth(lines[0])))))
		}
	}
	return lines
}

// words returns the words of the inline children of a node.
func (d *drawing) words(parent ast.Node, paint lipgloss.Style) (out []word) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out = split(out, unescape(n.Value(d.source)), paint)
			if n.SoftLineBreak() || n.HardLineBreak() {
				out = append(out, word{})
			}
		case *ast.String:
			out = split(out, string(n.Value), paint)
		case *ast.Emphasis:
			inner := paint.Italic(true)
			if n.Level > 1 {
				inner = paint.Bold(true)
			}
			out = append(out, d.words(n, inner)...)
		case *extast.Strikethrough:
			out = append(out, d.words(n, paint.Strikethrough(true))...)
		case *ast.CodeSpan:
			out = split(out, d.literal(n), d.busy)
		case *ast.Link:
			inner := d.words(n, paint.Underline(true))
			out = append(out, inner...)
			if to := string(n.Destination); len(inner) != 1 || inner[0].text != to {
				out = split(out, " ("+to+")", d.dim)
			}
		case *ast.AutoLink:
			out = split(out, string(n.URL(d.source)), paint.Underline(true))
		case *ast.Image:
			out = split(out, "[image ", paint)
			out = append(out, d.words(n, paint)...)
			out = split(out, "] ("+string(n.Destination)+")", d.dim)
		case *ast.RawHTML:
			out = split(out, string(n.Segments.Value(d.source)), paint)
		case *extast.TaskCheckBox:
			out = split(out, map[bool]string{true: "[x] ", false: "[ ] "}[n.IsChecked], paint)
		default:
			out = append(out, d.words(n, paint)...)
		}
	}
	return out
}

// unescape returns a text with what its backslashes and entities mean.
func unescape(source []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(source))))
}

// literal returns the text of a piece of code.
func (d *drawing) literal(code *ast.CodeSpan) string {
	var b strings.Builder
	for n := code.FirstChild(); n != nil; n = n.NextSibling() {
		if text, is := n.(*ast.Text); is {
			b.WriteString(strings.ReplaceAll(string(text.Value(d.source)), "\n", " "))
		}
	}
	return b.String()
}

// split appends the words of a text. It cleans them again: an entity may be any character.
func split(out []word, s string, paint lipgloss.Style) []word {
	s = safetext.Line(s)
	for i, part := range strings.Split(s, " ") {
		if i == 0 && part == "" {
			out = append(out, word{text: " ", glued: true})
			continue
		}
		if part == "" {
			continue
		}
		out = append(out, word{text: part, paint: paint, glued: i == 0})
	}
	if strings.HasSuffix(s, " ") && strings.TrimSpace(s) != "" {
		out = append(out, word{text: " ", glued: true})
	}
	return out
}

// fill puts words into lines of at most width columns.
func fill(words []word, width int) (lines []string) {
	line, used, space := "", 0, false
	end := func() {
		lines = append(lines, line)
		line, used, space = "", 0, false
	}
	for _, w := range words {
		switch w.text {
		case "":
			end()
			continue
		case " ":
			space = used > 0
			continue
		}
		long := ansi.StringWidth(w.text)
		if space = space || !w.glued && used > 0; space {
			if used+1+long > width {
				end()
			} else {
				line, used, space = line+" ", used+1, false
			}
		}
		for used+long > width {
			head := ansi.Truncate(w.text, width-used, "")
			if head == "" && used == 0 { // not even one character has room
				head = w.text
			}
			if head != "" {
				line += w.paint.Render(head)
			}
			w.text = w.text[len(head):]
			end()
			long = ansi.StringWidth(w.text)
		}
		if w.text != "" {
			line, used = line+w.paint.Render(w.text), used+long
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// prefixed puts one text before the first line and another before the others.
func prefixed(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = rest + line
		if i == 0 {
			out[i] = first + line
		}
	}
	return out
}
