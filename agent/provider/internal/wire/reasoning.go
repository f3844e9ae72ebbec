package wire

import (
	"strconv"
	"strings"
)

// efforts are the levels of reasoning from the least to the greatest, and the
// budget of tokens that each means to models that take budgets alone.
var efforts = []struct {
	name   string
	budget int
}{{"minimal", 1024}, {"low", 1024}, {"medium", 8192}, {"high", 24576}, {"xhigh", 32768}}

// Budget returns the tokens that an effort means to a model that takes budgets
// alone. An effort that is empty or unknown means medium.
func Budget(effort string) int {
	for _, e := range efforts {
		if e.name == effort {
			return e.budget
		}
	}
	return Budget("medium")
}

// Effort returns the effort that a budget means to a model that takes efforts
// alone. It is empty for no budget.
func Effort(budget int) string {
	switch {
	case budget <= 0:
		return ""
	case budget <= 4096:
		return "low"
	case budget <= 16384:
		return "medium"
	case budget < 32768:
		return "high"
	}
	return "xhigh"
}

// Nearest returns the one of the efforts that a model takes, which are sorted from
// the least to the greatest, that is closest to an effort: the next greater one
// among them, else the greatest. An effort that is not in the list of this package
// is returned as it is.
func Nearest(effort string, taken []string) string {
	rank := func(name string) int {
		for i, e := range efforts {
			if e.name == name {
				return i
			}
		}
		return -1
	}
	at := rank(effort)
	if at < 0 || len(taken) == 0 {
		return effort
	}
	for _, t := range taken {
		if rank(t) >= at {
			return t
		}
	}
	return taken[len(taken)-1]
}

// IsModel reports whether name is a model of a family, or a dated or tagged
// version of it, and not one with a further version number: claude-opus-5-20270101
// is of claude-opus-5, claude-opus-5-5 is not.
func IsModel(name, family string) bool {
	rest, ok := strings.CutPrefix(name, family)
	switch {
	case !ok:
		return false
	case rest == "":
		return true
	}
	if rest[0] >= '0' && rest[0] <= '9' {
		return false
	}
	if rest[0] != '-' && rest[0] != '.' {
		return true
	}
	word := rest[1:]
	if end := strings.IndexAny(word, "-.@:"); end >= 0 {
		word = word[:end]
	}
	_, err := strconv.Atoi(word)
	return err != nil || len(word) > 2 // a date
}
