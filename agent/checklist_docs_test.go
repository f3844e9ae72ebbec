package agent_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// docs/agent.md is held by the code: what it quotes is there, every event has its row, and the appendix names tests that
// exist.

const guide = "../docs/agent.md"

func fileText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// codeLines returns the lines of code without their indentation, be it in a file or
// in a comment. Blank lines are left out.
func codeLines(code string) []string {
	var out []string
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

var (
	goBlock  = regexp.MustCompile("(?s)```go\n(.*?)```")
	goQuote  = regexp.MustCompile("(?s)<!-- from (\\S+) -->\n```go\n(.*?)```")
	tableRow = regexp.MustCompile(`(?m)^\| C?(\d+) \|.*\|$`)
	testName = regexp.MustCompile(`\bTest\w+`)
	storyRef = regexp.MustCompile(`stories/(\w+)`)
)

func TestTheGuideQuotesTheCode(t *testing.T) {
	text := fileText(t, guide)
	quotes := goQuote.FindAllStringSubmatch(text, -1)
	if blocks := goBlock.FindAllString(text, -1); len(quotes) != len(blocks) || len(quotes) < 8 {
		t.Errorf("%d of %d blocks of Go say where they are from", len(quotes), len(blocks))
	}
	for _, q := range quotes {
		file, want := codeLines(fileText(t, filepath.Join("..", q[1]))), codeLines(q[2])
		found := slices.ContainsFunc(make([]struct{}, len(file)), func(struct{}) bool {
			same := len(file) >= len(want) && slices.Equal(file[:len(want)], want)
			file = file[1:]
			return same
		})
		if !found {
			t.Errorf("%s does not have, one line after the other:\n%s", q[1], q[2])
		}
	}
}

func TestTheGuideShowsEveryEvent(t *testing.T) {
	text := fileText(t, guide)
	for _, f := range regexp.MustCompile(`func \((\w+)\) event\(\)`).FindAllStringSubmatch(fileText(t, "event.go"), -1) {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + f[1] + "`[^|]*\\|").MatchString(text) {
			t.Errorf("%s has no row in the table of events", f[1])
		}
	}
	for _, f := range regexp.MustCompile(`(?m)^\s(?:Class|Reason)\w+ +(?:ErrorClass|Reason) += "(\w+)"`).FindAllStringSubmatch(fileText(t, "event.go")+fileText(t, "modelerror.go"), -1) {
		if !strings.Contains(text, "`"+f[1]+"`") {
			t.Errorf("%s is not explained", f[1])
		}
	}
}

func TestTheAppendixNamesTests(t *testing.T) {
	have := map[string]bool{}
	for _, dir := range []string{".", "../test", "../examples"} {
		err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, "_test.go") {
				for _, f := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(fileText(t, name), -1) {
					have[f[1]] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, appendix, _ := strings.Cut(fileText(t, guide), "## Appendix")
	seen := map[int]int{}
	for _, m := range tableRow.FindAllStringSubmatch(appendix, -1) {
		n, _ := strconv.Atoi(m[1])
		if !strings.HasPrefix(m[0], "| C") {
			seen[n]++
		}
		named := slices.Concat(testName.FindAllString(m[0], -1), storyRef.FindAllString(m[0], -1))
		if len(named) == 0 && !strings.Contains(m[0], "server") && !strings.Contains(m[0], "different") {
			t.Errorf("names no test: %s", m[0])
		}
		for _, name := range named {
			if file, ok := strings.CutPrefix(name, "stories/"); ok {
				fileText(t, filepath.Join("testdata/stories", file+".txt"))
			} else if !have[name] {
				t.Errorf("there is no %s: %s", name, m[0])
			}
		}
	}
	for n := 1; n <= 70; n++ {
		if seen[n] != 1 {
			t.Errorf("statement %d has %d rows", n, seen[n])
		}
	}
}
