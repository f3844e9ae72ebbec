package connect

import (
	"encoding/json"
	"strconv"
	"strings"
)

// field is a named value of an entry: a string, an int, a bool, or more fields. Unlike a
// map, fields keep their order.
type field struct {
	name  string
	value any
}

// render writes a value as JSON over several lines, the second and all others
// indented by indent at least, and by unit more for each level.
func render(value any, indent, unit string) string {
	inner := indent + unit
	var lines []string
	open, closing := "{", "}"
	switch v := value.(type) {
	case string:
		return quoted(v)
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	case []field:
		for _, f := range v {
			lines = append(lines, inner+quoted(f.name)+": "+render(f.value, inner, unit))
		}
	case []any:
		open, closing = "[", "]"
		for _, item := range v {
			lines = append(lines, inner+render(item, inner, unit))
		}
	}
	return open + "\n" + strings.Join(lines, ",\n") + "\n" + indent + closing
}

// quoted is a JSON string, which is a basic string of TOML, too.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be encoded
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// compact makes one line of what render wrote. No string in it holds a line break.
func compact(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	var b strings.Builder
	for _, line := range lines {
		line = strings.TrimLeft(line, " \t")
		if strings.HasSuffix(line, ",") {
			line += " "
		}
		b.WriteString(line)
	}
	return b.String()
}

// newline is how the lines of a text end.
func newline(src string) string {
	if i := strings.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineIndent is the white space at the beginning of the line that holds at.
func lineIndent(src string, at int) string {
	line := src[strings.LastIndexByte(src[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// indentUnit is by how much a text indents: the white space of its first line
// that has some.
func indentUnit(src string) string {
	for line := range strings.Lines(src) {
		body := strings.TrimLeft(line, " \t")
		if indent := line[:len(line)-len(body)]; indent != "" && strings.Trim(body, "\r\n") != "" {
			return indent
		}
	}
	return "  "
}
