package naming

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/shoal-dev/shoal"
)

// maxHandle bounds the id that is derived from a name.
const maxHandle = 32

// Handle returns an id that resembles a name: letters without marks, and hyphens.
func Handle(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.IsMark(r) || r == '\'' || r == '’':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxHandle {
			break
		}
	}
	id := strings.Trim(b.String(), "-")
	if id == "" || id == string(shoal.System) || id == string(shoal.Operator) {
		return "person"
	}
	return id
}
