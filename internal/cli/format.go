package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal/internal/safetext"
)

// Itoa formats n in base 10.
func Itoa(n int64) string { return strconv.FormatInt(n, 10) }

// IDOrDash returns an id, or a dash for nil.
func IDOrDash[T ~string](id *T) string {
	if id == nil {
		return "-"
	}
	return string(*id)
}

// Shorten returns s in one line of at most n characters, without control characters.
func Shorten(s string, n int) string {
	cut := []rune(strings.TrimSpace(safetext.Line(s)))
	if len(cut) <= n {
		return string(cut)
	}
	return string(cut[:n-1]) + "…"
}

// JoinIDs joins ids with a separator, and puts a prefix before each.
func JoinIDs[T ~string](ids []T, prefix, separator string) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = prefix + string(id)
	}
	return strings.Join(all, separator)
}

// Size returns a number of bytes as people read it, such as 1.5 MB.
func Size(n int64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	value, unit := float64(n), 0
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + units[unit]
}
