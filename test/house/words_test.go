package house_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// wordRule forbids what a pattern matches, except in the contexts of another.
type wordRule struct {
	where   []string // endings of file names; "*" for all
	pattern *regexp.Regexp
	except  *regexp.Regexp // nil for none
	write   string
	needles []string // in lower case; every match has one of them
}

// covers reports whether the rule applies to a file.
func (r wordRule) covers(name string) bool {
	return slices.Contains(r.where, "*") || slices.Contains(r.where, strings.TrimPrefix(path.Ext(name), "."))
}

// broken returns the words of a line that break the rule; empty if it holds. lower is the line in
// lower case: a search for the needles takes a twentieth of the time of the pattern.
func (r wordRule) broken(line, lower string) string {
	if !slices.ContainsFunc(r.needles, func(needle string) bool { return strings.Contains(lower, needle) }) {
		return ""
	}
	if r.except != nil && r.except.MatchString(line) {
		return ""
	}
	return r.pattern.FindString(line)
}

// wordRules reads words.txt.
func wordRules(t *testing.T) (rules []wordRule) {
	t.Helper()
	for n, line := range tableLines(t, "test/house/words.txt") {
		cells := splitCells(line)
		if len(cells) != 4 || cells[0] == "" || cells[1] == "" || cells[3] == "" {
			t.Fatalf("test/house/words.txt:%d: want WHERE | PATTERN | EXCEPT | WRITE, got %q", n, line)
		}
		r := wordRule{where: strings.Split(cells[0], ","), pattern: regexp.MustCompile("(?i)" + cells[1]), write: cells[3]}
		parsed, err := syntax.Parse(cells[1], syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if r.needles = needles(parsed); r.needles == nil {
			t.Fatalf("test/house/words.txt:%d: no letters are in every match of %q", n, cells[1])
		}
		if cells[2] != "" {
			r.except = regexp.MustCompile("(?i)" + cells[2])
		}
		rules = append(rules, r)
	}
	return rules
}

// needles returns texts in lower case of which every match has one, as long as possible; nil if
// there are none.
func needles(re *syntax.Regexp) (out []string) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			found := needles(sub)
			if found == nil {
				return nil
			}
			out = append(out, found...)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if found := needles(sub); found != nil && (out == nil || shortest(found) > shortest(out)) {
				out = found
			}
		}
	}
	return out
}

func shortest(texts []string) int {
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}

// splitCells splits a line at " | " into trimmed cells.
func splitCells(line string) []string {
	cells := strings.Split(line, " | ")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// tableLines yields the lines of a table without its comments, numbered from 1.
func tableLines(t *testing.T, name string) func(yield func(int, string) bool) {
	t.Helper()
	text := readFile(t, name)
	return func(yield func(int, string) bool) {
		for n, line := range lines(text) {
			content := strings.TrimSpace(string(line))
			if content == "" || strings.HasPrefix(content, "#") {
				continue
			}
			if !yield(n, strings.TrimRight(string(line), "\n")) {
				return
			}
		}
	}
}

// exceptions reads a table of path prefixes with reasons.
func exceptions(t *testing.T, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for n, line := range tableLines(t, name) {
		cells := splitCells(line)
		if len(cells) != 2 || cells[1] == "" {
			t.Fatalf("%s:%d: want PATH | REASON, got %q", name, n, line)
		}
		out[cells[0]] = cells[1]
	}
	return out
}

// Everything that people read uses the words of the field. This finds relapses; that a
// text reads well is for its readers to say.
func TestWords(t *testing.T) {
	rules := wordRules(t)
	allowed := exceptions(t, "test/house/words_allowed.txt")
	used := map[string]bool{}
	for _, f := range repoFiles(t) {
		for _, p := range prose(t, f) {
			lower := strings.ToLower(p.text)
			for _, r := range rules {
				word := ""
				if r.covers(f.path) {
					word = r.broken(p.text, lower)
				}
				if word == "" {
					continue
				}
				if at, ok := covering(allowed, f.path); ok {
					used[at] = true
					continue
				}
				t.Errorf("%s:%d: %q: write %s\n\t%s", f.path, p.line, word, r.write, strings.TrimSpace(p.text))
			}
		}
	}
	for at := range allowed {
		if !used[at] {
			t.Errorf("test/house/words_allowed.txt: nothing below %s needs its exception any more: remove the line", at)
		}
	}
}

// The search for needles leaves out no match.
func TestNeedles(t *testing.T) {
	for pattern, matches := range map[string][]string{
		`\b(told|tells?|telling)\b`:  {"TOLD", "tell", "tells", "telling"},
		`\bhand(s|ed)? (over|out)\b`: {"hand over", "hands out", "handed out"},
		`\b(is|are) no [a-z]+`:       {"is no file", "Are no files"},
		`\b(over)?look\b|\ba+b`:      {"overlook", "look", "aab"},
	} {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		found := needles(parsed)
		for _, match := range matches {
			if !slices.ContainsFunc(found, func(needle string) bool { return strings.Contains(strings.ToLower(match), needle) }) {
				t.Errorf("none of %q is in %q, which %s matches", found, match, pattern)
			}
		}
	}
	for _, pattern := range []string{`x*`, `(a|b*)`, `.`} {
		if parsed, err := syntax.Parse(pattern, syntax.Perl); err != nil || needles(parsed) != nil {
			t.Errorf("%s has needles, or %v", pattern, err)
		}
	}
}

// covering returns the entry of a table of paths that a path is in.
func covering(table map[string]string, name string) (entry string, ok bool) {
	for at := name; ; at = path.Dir(at) {
		if _, ok := table[at]; ok {
			return at, true
		}
		if at == "." || at == "/" {
			return "", false
		}
	}
}

// proseLine is a line of a file that people read.
type proseLine struct {
	line int
	text string
}

// prose returns the lines of a file that are written for people: of Go the comments and
// the string literals, of Markdown and of other languages all.
func prose(t *testing.T, f repoFile) (out []proseLine) {
	t.Helper()
	switch path.Ext(f.path) {
	case ".py":
		for n, line := range lines(f.text) {
			out = append(out, proseLine{n, strings.ReplaceAll(string(line), " is None", "")}) // an operator
		}
	case ".md", ".ts", ".tsx", ".mjs", ".sh", ".sql":
		if strings.HasSuffix(f.path, ".gen.ts") {
			return nil
		}
		for n, line := range lines(f.text) {
			out = append(out, proseLine{n, string(line)})
		}
	case ".go":
		if !strings.Contains("/"+f.path, "/testdata/") {
			return goProse(t, f)
		}
	}
	return out
}

func goProse(t *testing.T, f repoFile) (out []proseLine) {
	t.Helper()
	parsed := parseGo(t, f)
	if ast.IsGenerated(parsed.ast) {
		return nil
	}
	add := func(pos token.Pos, text string) {
		first := parsed.fset.Position(pos).Line
		for n, line := range lines([]byte(text)) {
			out = append(out, proseLine{first + n - 1, string(bytes.TrimSpace(line))})
		}
	}
	for _, group := range parsed.ast.Comments {
		for _, c := range group.List {
			add(c.Pos(), c.Text)
		}
	}
	ast.Inspect(parsed.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil { // names of the wire
				ast.Inspect(n.Type, func(ast.Node) bool { return true })
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				add(n.Pos(), n.Value)
			}
		}
		return true
	})
	return out
}

func TestWordRules(t *testing.T) {
	rules := wordRules(t)
	for line, want := range map[string]bool{
		"It tells who waits.":                      true,
		"The value stands in the row.":             true,
		"understands the standard":                 false,
		"a server behind a proxy":                  false,
		"the place behind the last":                true,
		"Whoever waits is woken.":                  true,
		"there is no such file":                    false,
		"an id that is no entity":                  true,
		"the entity is no longer there":            true,
		"returns the number of open waits":         false,
		"unreachable since 5 s":                    true,
		"open since the start":                     false,
		"The interface of the store.":              false,
		"Both faces count the calls.":              true,
		"the mint at the market":                   true,
		fmt.Sprintf("a %s of the session", "read"): false,
	} {
		found := ""
		for _, r := range rules {
			if word := r.broken(line, strings.ToLower(line)); word != "" {
				found = word
			}
		}
		if (found != "") != want {
			t.Errorf("%q: found %q, want a finding: %v", line, found, want)
		}
	}
}
