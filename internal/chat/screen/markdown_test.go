package screen

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/shoal-dev/shoal/internal/safetext"
)

// Markdown is drawn as what it means, within the width, and other text stays as it is.
func TestMarkdown(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		width  int
		want   string
	}{
		"plain lines":         {"one\ntwo\n\nthree", 40, "one\ntwo\n\nthree"},
		"emphasis":            {"a **bold**, *slanted* and ~~struck~~ word, `code()` too.", 60, "a bold, slanted and struck word, code() too."},
		"a heading":           {"# Title\ntext", 40, "Title\n\ntext"},
		"a list":              {"- one\n- two\n  - deep\n\n1. first\n2. second", 40, "• one\n• two\n  • deep\n\n1. first\n2. second"},
		"a list that wraps":   {"- one two three four", 12, "• one two\n  three four"},
		"tasks":               {"- [x] done\n- [ ] open", 40, "• [x] done\n• [ ] open"},
		"a quote":             {"> quoted\n> more", 40, "▎ quoted\n▎ more"},
		"code":                {"```go\nif a  < b {\n\treturn\n}\n```", 40, "│ if a  < b {\n│     return\n│ }"},
		"a link":              {"see [the page](https://x.example/a) and https://y.example", 60, "see the page (https://x.example/a) and https://y.example"},
		"a picture":           {"![a cat](https://x.example/c.png)", 60, "[image a cat] (https://x.example/c.png)"},
		"HTML stays text":     {"<b>not bold</b>\n\n<script>alert(1)</script>", 60, "<b>not bold</b>\n\n<script>alert(1)</script>"},
		"a table":             {"| a | bb |\n| - | - |\n| ccc | d |", 40, "a   │ bb\n────────\nccc │ d"},
		"a rule":              {"a\n\n---\n\nb", 10, "a\n\n──────────\n\nb"},
		"a long word":         {"0123456789abc", 8, "01234567\n89abc"},
		"an open emphasis":    {"it is **not clo", 40, "it is **not clo"},
		"stars and snakes":    {"2 * 3 * 4 and some_long_name", 40, "2 * 3 * 4 and some_long_name"},
		"a mention":           {"@ann look: **@bob**", 40, "@ann look: @bob"},
		"wide characters":     {"漢字漢字漢字", 8, "漢字漢字\n漢字"},
		"nothing":             {"", 40, ""},
		"entities":            {"a &amp; b &lt;", 40, "a & b <"},
		"escapes of controls": {"a\x1b[2Jb **c\x1b]8;;x\x07d**", 40, "ab cd"},
	} {
		lines := newStyle().markdown(c.source, c.width)
		for _, line := range lines {
			if ansi.StringWidth(line) > c.width {
				t.Errorf("%s: the line %q is wider than %d", name, line, c.width)
			}
		}
		if got := ansi.Strip(strings.Join(lines, "\n")); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A text is Markdown up to the last line that ends within the limit.
func TestMarkdownOfALongText(t *testing.T) {
	line := "**" + strings.Repeat("a", 36) + "**\n"
	n := maxMarkdown / len(line)
	lines := newStyle().markdown(strings.Repeat(line, n+2), 40)
	if len(lines) != n+2 || ansi.Strip(lines[n-1]) != strings.Repeat("a", 36) || lines[n] != strings.TrimSuffix(line, "\n") {
		t.Errorf("%d lines, of which %q is the last Markdown, and %q follows", len(lines), lines[n-1], lines[n])
	}
	if lines := newStyle().markdown(strings.Repeat("*a* ", maxMarkdown/4)+"*b*", 40); !strings.HasPrefix(lines[0], "*a* *a*") {
		t.Errorf("a line without end begins with %q", lines[0])
	}
}

// Whatever a participant writes holds no control character but those of the colors.
func TestRandomMarkdown(t *testing.T) {
	pieces := []string{"- ", "  ", "> ", "```", "\n", "\n\n", "| a ", "|-", "[x](", ")", "\x1b]0;t\x07", "&#27;[2J", "&#x9b;31m", "<a", ">", "**", "*", "_", "~~", "`", "1. ", "# ", "![", "]", "漢", "e\u0301", "\xff", "\t", "\\", "https://x.example/", "word", "👩‍👩‍👧"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		width := 8 + random.IntN(60)
		for _, line := range newStyle().markdown(b.String(), width) {
			if plain := ansi.Strip(line); safetext.Clean(plain) != plain || strings.Contains(plain, "\n") {
				t.Fatalf("%q is drawn as %q", b.String(), line)
			}
		}
	}
	for _, deep := range []string{strings.Repeat("> ", 5000) + "a", strings.Repeat("- ", 5000) + "a", strings.Repeat("*", 5000) + "a", strings.Repeat("[", 5000)} {
		newStyle().markdown(deep, 40)
	}
}
