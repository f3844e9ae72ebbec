package yamltext_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/yamltext"
)

// The error of an invalid text has the line, the column and a reason without words of the
// text.
func TestErrorsHaveAPosition(t *testing.T) {
	for text, want := range map[string]string{
		"agent: [\n":                         "line 2, column 1: while parsing a flow node: did not find expected node content",
		"a: 1\nsecret: \"hunter2\n":          "line 3, column 1: while scanning a quoted scalar: found unexpected end of stream",
		"a: 1\n\thunter2: 2\n":               "line 2, column 1: while scanning a plain scalar: found a tab character that violates indentation",
		"a: 1\n hunter2: 2\n":                "line 2, column 9: mapping values are not allowed in this context",
		"a: 1\nb: *hunter2\n":                "line 2, column 4: an alias here has no anchor",
		"a: 1\nb: é\xffhunter2\n":            "line 2, column 5: it is not valid UTF-8",
		"a: 1\n---\nb: hunter2\n":            "line 3, column 1: a second document begins here, and only one is allowed",
		"a: 1\n---\nb: [\n":                  "line 4, column 1: while parsing a flow node: did not find expected node content",
		"{\n  \"a\": 1,\n  \"b\": [1, 2}\n}": "line 3, column 13: while parsing a flow sequence: did not find expected ',' or ']'",
	} {
		_, err := yamltext.Read([]byte(text))
		var e *yamltext.Error
		if !errors.As(err, &e) || e.Error() != want || strings.Contains(e.Reason, "hunter2") {
			t.Errorf("%q: got %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "a: 1\n", "---\na: 1\n...\n", "{\"a\": [1]}"} {
		if _, err := yamltext.Read([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A path is resolved as far as it exists.
func TestFind(t *testing.T) {
	document, err := yamltext.Read([]byte("# config\nagent:\n  id: ann\n  tools: &tools\n    - name: a\n    - {name: b, \"odd name\": 1}\nother: *tools\nnone:\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                              "2:1",
		"agent":                         "2:1",
		"agent.id":                      "3:3",
		"agent.tools[0].name":           "5:7",
		"agent.tools[1]":                "6:7",
		`agent.tools[1]["odd name"]`:    "6:17",
		"agent.tools[1].missing.deeper": "6:7",
		"agent.tools[7].name":           "4:3",
		"agent.missing":                 "2:1",
		"missing":                       "2:1",
		"other[0].name":                 "5:7",
		"none.name":                     "8:1",
		"config":                        "2:1",
		"§§":                            "2:1",
	} {
		if got := yamltext.Find(&document, path).String(); got != want {
			t.Errorf("%q is at %s, want %s", path, got, want)
		}
	}
	empty, err := yamltext.Read(nil)
	if got := yamltext.Find(&empty, "agent.id").String(); err != nil || got != "1:1" {
		t.Errorf("got %s for an empty document, %v", got, err)
	}
}

// Every text is either parsed or rejected with a position in it.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"a: 1\n", "a: &x [*x]\n", "? a\n: b\n", "---\n...\n---\n", "\xff\xfe", "%YAML 9.9\n", "a: |\n  x\n", "<<: {a: b}\n"} {
		f.Add([]byte(text), "a[0].b")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		document, err := yamltext.Read(text)
		if err == nil {
			if p := yamltext.Find(&document, path); p.Line < 1 || p.Column < 1 {
				t.Errorf("%q: %s is at %s", text, path, p)
			}
			return
		}
		var e *yamltext.Error
		if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Reason == "" {
			t.Errorf("%q: %v", text, err)
		}
	})
}
