package cli

import (
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/safetext"
)

func Itoa(n int64) string { return strconv.FormatInt(n, 10) }

// TimeOr returns a time as clients see it, or what stands for none.
func TimeOr(t *shoal.Time, none string) string {
	if t == nil {
		return none
	}
	return t.String()
}

// IDOrDash returns an id, or a dash for none.
func IDOrDash[T ~string](id *T) string {
	if id == nil {
		return "-"
	}
	return string(*id)
}

// Shorten is s in one line of at most n characters.
func Shorten(s string, n int) string {
	cut := []rune(strings.TrimSpace(safetext.Line(s)))
	if len(cut) <= n {
		return string(cut)
	}
	return string(cut[:n-1]) + "…"
}

// JoinIDs joins ids.
func JoinIDs[T ~string](ids []T, before, between string) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = before + string(id)
	}
	return strings.Join(all, between)
}
