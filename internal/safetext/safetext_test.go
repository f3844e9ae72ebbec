package safetext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/internal/safetext"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ünïcode ✓ 你好\n\ttext": "plain, ünïcode ✓ 你好\n\ttext",
		"":                            "",
		"a\x1b[31mb\x1b[0mc":          "abc",
		"a\x1b[1;2;3 qb":              "ab",
		"a\u009b31mb":                 "ab",
		"\x1b]0;title\ashown":         "shown",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1bPq#0\x1b\\shown":                      "shown",
		"\u009dtitle\u009cshown":                   "shown",
		"\x1b(0\x1b=\x1bcshown":                    "shown",
		"a\rb\bc\x00d\x7fe\u0085f":                 "abcdef",
		"ab\x1b":                                   "ab",
		"a\xffb\x9bc":                              "a\ufffdb\ufffdc",
		"pay \u202e00001\u202c now":                "pay 00001 now",
		"\u2066a\u2069\u200fb\u061cc\u2028d":       "abcd",
		// An incomplete sequence hides nothing.
		"\x1b]0;not ended\nsecond line": "0;not ended\nsecond line",
		"\x1b[31":                       "31",
		"\x1b[":                         "",
		"\x1b\x1b[31m!":                 "!",
		"\x1b]a\x1b[31mb\x07c":          "abc",
	} {
		if got := safetext.Clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	if got := safetext.Line("\n one\ttwo\n\n\x1b[2Jthree \r\n"); got != " one two three " {
		t.Errorf("line = %q", got)
	}
}

// No input can control a terminal. Clean is idempotent and does not change safe text.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb", "\x1b]0;t\a", "\u009b1m", "\x9b", "\u202e", "\x1b\x1b]\u009c", "ok\n\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := safetext.Clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("clean(%q) = %q is not UTF-8", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("clean(%q) = %q contains %U", s, got, r)
			}
		}
		if again := safetext.Clean(got); again != got {
			t.Errorf("clean(%q) = %q, and again %q", s, got, again)
		}
		if one := safetext.Line(s); strings.ContainsAny(one, "\n\t") {
			t.Errorf("line(%q) = %q", s, one)
		}
		harmless := strings.Map(func(r rune) rune {
			if unicode.IsGraphic(r) || r == '\n' {
				return r
			}
			return -1
		}, strings.ToValidUTF8(s, ""))
		if safetext.Clean(harmless) != harmless {
			t.Errorf("clean(%q) = %q", harmless, safetext.Clean(harmless))
		}
	})
}
