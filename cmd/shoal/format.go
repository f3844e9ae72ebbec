package main

import (
	"encoding/json"
	"strconv"

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

// quoted returns s as JSON.
func quoted[T ~string](s T) (string, error) {
	b, err := json.Marshal(s)
	return string(b), err
}
