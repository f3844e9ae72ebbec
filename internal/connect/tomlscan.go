package connect

import (
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlLine is a statement of a TOML text: the head of a table or a key with its
// value, which may go over several lines. Comments and blank lines between
// statements belong to none.
type tomlLine struct {
	start, end int // with the end of its last line
	head       bool
	array      bool     // [[…]]
	path       []string // of a head all of it, of a key as it is written
	value      int      // where the value begins
	valueEnd   int
}

// scanTOML finds the statements of a text that is TOML: the caller has parsed it.
func scanTOML(src string) []tomlLine {
	var lines []tomlLine
	for at := len(src) - len(strings.TrimPrefix(src, "\ufeff")); at < len(src); {
		line := tomlLine{start: at}
		body := at + spaces(src[at:])
		switch {
		case body == len(src):
			return lines
		case src[body] == '\n' || src[body] == '\r' || src[body] == '#':
			at = lineEnd(src, body)
			continue
		case src[body] == '[':
			line.head, line.array = true, strings.HasPrefix(src[body:], "[[")
			from := body + 1
			if line.array {
				from++
			}
			to := skipKey(src, from)
			line.path = keyPath(src[from:to])
			line.end = lineEnd(src, to)
		default:
			to := skipKey(src, body)
			line.path = keyPath(src[body:to])
			line.value = min(to+1, len(src))
			line.value += spaces(src[line.value:])
			line.valueEnd = skipValue(src, line.value)
			line.end = lineEnd(src, line.valueEnd)
		}
		lines = append(lines, line)
		at = line.end
	}
	return lines
}

func spaces(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// lineEnd returns the offset after the next line break.
func lineEnd(src string, at int) int {
	if i := strings.IndexByte(src[min(at, len(src)):], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

// skipKey returns where a key ends: at = or ].
func skipKey(src string, at int) int {
	for at < len(src) {
		switch src[at] {
		case '=', ']', '\n':
			return at
		case '"', '\'':
			at = skipString(src, at)
		default:
			at++
		}
	}
	return at
}

// keyPath returns the words of a key as dots separate them.
func keyPath(key string) []string {
	var words []string
	for i := 0; i < len(key); {
		start := i
		for i < len(key) && key[i] != '.' {
			if key[i] == '"' || key[i] == '\'' {
				i = skipString(key, i)
			} else {
				i++
			}
		}
		i = min(i, len(key))
		words = append(words, keyWord(strings.Trim(key[start:i], " \t")))
		i++
	}
	return words
}

// keyWord is a key without its quotes.
func keyWord(word string) string {
	if !strings.HasPrefix(word, `"`) && !strings.HasPrefix(word, "'") {
		return word
	}
	var said struct{ K string }
	if _, err := toml.Decode("K="+word, &said); err != nil {
		return word // not a key that we search for
	}
	return said.K
}

// skipString returns where a string ends.
func skipString(src string, at int) int {
	quote := src[at : at+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(src[at:], long) {
		for i := at + 3; i < len(src); i++ {
			switch {
			case src[i] == '\\' && quote == `"`:
				i++
			case strings.HasPrefix(src[i:], long):
				i += 3
				for n := 0; n < 2 && strings.HasPrefix(src[i:], quote); n++ {
					i++ // up to two quotes may precede the last three
				}
				return i
			}
		}
		return len(src)
	}
	for i := at + 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && quote == `"`:
			i++
		case src[i] == quote[0]:
			return i + 1
		case src[i] == '\n':
			return i
		}
	}
	return len(src)
}

// skipValue returns where a value ends, without the white space and the comment
// after it.
func skipValue(src string, at int) int {
	depth, end := 0, at
	for at < len(src) {
		switch c := src[at]; c {
		case '"', '\'':
			at = skipString(src, at)
			end = at
			continue
		case '#':
			at += len(strings.TrimSuffix(src[at:lineEnd(src, at)], "\n"))
			if depth == 0 {
				return end
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				return end
			}
		}
		if !strings.ContainsRune(" \t\r\n", rune(src[at])) {
			end = at + 1
		}
		at++
	}
	return end
}

// under reports whether path begins with prefix.
func under(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}
