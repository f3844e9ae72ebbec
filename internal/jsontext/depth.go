// Package jsontext reads what JSON says without decoding it.
package jsontext

// Depth returns how deeply valid JSON nests: 0 for a value that is neither an array nor an
// object.
func Depth[T ~string | ~[]byte](text T) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
