package main

import (
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// timeOr returns a time as clients see it, or what stands for none.
func timeOr(t *shoal.Time, none string) string {
	if t == nil {
		return none
	}
	return t.String()
}

// idOr returns an id, or a dash for none.
func idOr[T ~string](id *T) string {
	if id == nil {
		return "-"
	}
	return string(*id)
}

// short is s in one line of at most n characters.
func short(s string, n int) string {
	cut := []rune(strings.TrimSpace(line(s)))
	if len(cut) <= n {
		return string(cut)
	}
	return string(cut[:n-1]) + "…"
}

// list joins ids.
func list[T ~string](ids []T, before, between string) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = before + string(id)
	}
	return strings.Join(all, between)
}
