package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/search"
)

// formatQuery formats a query: terms, then filters, then dates.
func formatQuery(q search.Query) string {
	var out []string
	minus := map[bool]string{true: "-"}
	for _, t := range q.Terms {
		star := ""
		if t.Prefix {
			star = "*"
		}
		out = append(out, minus[t.Not]+strings.Join(t.Words, "+")+star)
	}
	for _, f := range q.Filters {
		out = append(out, minus[f.Not]+f.Name+"="+f.Value)
	}
	for _, d := range []struct {
		name string
		at   shoal.Time
	}{{">=", q.After}, {"<", q.Before}} {
		if !d.at.IsZero() {
			out = append(out, d.name+d.at.Format("2006-01-02T15:04:05"))
		}
	}
	return strings.Join(out, " ")
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"cheap laptops":                  "cheap laptops*",
		"cheap lap* ":                    "cheap lap*",
		`"cheap laptops" now`:            "cheap+laptops now*",
		`now "cheap laptops"`:            "now* cheap+laptops",
		`"cheap lap"*`:                   "cheap+lap*",
		`"never closed`:                  "never+closed",
		"-draft offer":                   "-draft offer*",
		`offer -"first draft" -dra*`:     "offer* -first+draft -dra*",
		"foo_bar a.b.c":                  "foo+bar a+b+c*",
		"x -- y - z --flag":              "x y z flag*",
		"lap from:ann":                   "lap* from=ann",
		"from:@ann in:#shop FROM:bob x":  "x* from=ann in=shop from=bob",
		"-from:ann mentions:me":          "-from=ann mentions=me",
		`from:"ann" has:LINK kind:Human`: "from=ann has=link kind=human",
		"kind:person -kind:Person":       "kind=human -kind=human",
		"before:2026":                    "<2026-01-01T00:00:00",
		"after:2026-02":                  ">=2026-02-01T00:00:00",
		"after:2026-02-03 before:2026-02-03T10:00:00+01:00": ">=2026-02-03T00:00:00 <2026-02-03T09:00:00",
		"before:2026 before:2025 after:2020 after:2021":     ">=2021-01-01T00:00:00 <2025-01-01T00:00:00",
		`"from:ann"`:               "from+ann",
		"at 10:30":                 "at 10+30*",
		"https://a.example/b":      "https+a+example+b*",
		"localhost:8080 std::list": "localhost+8080 std+list*",
		`C:\Users error: x`:        "c+users error x*",
		"売上":                       "売+上*",
		"!! ok ??":                 "ok*",
	} {
		q, err := search.Parse("query", text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := formatQuery(q); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "neither a word",
		" ?! -- ":                       "neither a word",
		"foo:bar":                       "there are from:, in:, mentions:, has:, kind:, before: and after:. To search for the text, put it in quotes",
		"-note:this x":                  "a filter note: that does not exist",
		"from: ann":                     "from: without a value",
		"has:fun":                       "valid are file, image, link, code, tool, approval, data",
		"kind:robot":                    "valid are human, agent, system",
		"from:a/b":                      "which is not an id",
		`in:"Launch plan"`:              "which is not an id",
		"before:yesterday":              "use a day such as 2027-01-31",
		"after:2026-13":                 "which is not a date",
		"-before:2026":                  "the other way round",
		strings.Repeat("a", 501):        "at most 500",
		strings.Repeat("a ", 21):        "at most 20",
		strings.Repeat("has:file ", 21): "at most 20",
	} {
		_, err := search.Parse("q", text)
		if shoal.KindOf(err) != shoal.InvalidArgument || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ": q ") {
			t.Errorf("%.40q: got the error %v, want %q", text, err, want)
		}
	}
}

func TestMe(t *testing.T) {
	q, err := search.Parse("query", "from:me -mentions:me in:me has:file")
	if err != nil || !q.ContainsMe() {
		t.Fatal(q, err)
	}
	if got := formatQuery(q.As("ann")); got != "from=ann -mentions=ann in=me has=file" || !q.ContainsMe() {
		t.Errorf("got %q for ann, and %q unchanged", got, formatQuery(q))
	}
}

func TestWithin(t *testing.T) {
	for text, want := range map[string]string{
		"x in:shop in:yard": "x* in=shop",
		"x":                 "x* in=shop",
		"x in:yard":         "x* in=shop -in=shop",
		"x -in:yard":        "x* -in=yard in=shop",
	} {
		q, err := search.Parse("query", text)
		if got := formatQuery(q.Within(search.In, "shop")); got != want {
			t.Errorf("%q within shop is %q, %v, want %q", text, got, err, want)
		}
	}
}

// Every text is either a valid query or rejected with a reason. The words of a query have the
// form of words of texts, and a matcher accepts every query and every text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`"a b" -c from:x`, "in:\"", "before:9999-12-31", "-\"x", "from:me*", "a:b", "-:", "after:0000", "\xff:\xfe \"\""} {
		f.Add(seed, "some text "+seed)
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		q, err := search.Parse("query", query)
		if err != nil {
			if shoal.KindOf(err) != shoal.InvalidArgument {
				t.Fatalf("%q: %v", query, err)
			}
			return
		}
		for _, term := range q.Terms {
			if len(term.Words) == 0 || fmt.Sprint(search.WordsOf(strings.Join(term.Words, " "))) != fmt.Sprint(term.Words) {
				t.Fatalf("%q searches for %q", query, term.Words)
			}
		}
		m := search.NewMatcher(q.As("ann"))
		d := search.Document{Message: shoal.Message{EntityID: "ann", Parts: []shoal.Part{shoal.Text(text)}}}
		m.Matches(d)
		checkHighlight(t, m, text)
		m.Rank([]string{text, query, ""})
	})
}
