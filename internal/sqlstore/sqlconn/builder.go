package sqlconn

import (
	"math"
	"strconv"
	"strings"
)

// Builder builds a statement from pieces. The zero value is empty.
type Builder struct {
	text strings.Builder
	// Args are the arguments of the statement.
	Args []any
}

// Text returns the statement.
func (b *Builder) Text() string { return b.text.String() }

// Add appends a piece. Each ? in it is replaced by the number of the next of args.
func (b *Builder) Add(piece string, args ...any) {
	for _, arg := range args {
		before, after, _ := strings.Cut(piece, "?")
		b.Args = append(b.Args, arg)
		b.text.WriteString(before + "$" + strconv.Itoa(len(b.Args)))
		piece = after
	}
	b.text.WriteString(piece)
}

// AddIn appends a piece in which the one ? is replaced by a list, for IN (?). The list has
// at most [MaxList] elements.
func AddIn[T any](b *Builder, piece string, list []T) {
	before, after, _ := strings.Cut(piece, "?")
	b.text.WriteString(before + numberedArgs(len(b.Args)+1, len(list)))
	b.Args = appendPadded(b.Args, list)
	b.text.WriteString(after)
}

// AddValues appends VALUES with a row for each element of list, at most [MaxList]; add
// appends the row. Both databases call the columns column1, column2 and so on. The last row
// may be repeated.
func AddValues[T any](b *Builder, list []T, add func(T)) {
	b.Add(`VALUES `)
	for i := range Padded(len(list)) {
		if i > 0 {
			b.Add(`, `)
		}
		add(list[min(i, len(list)-1)])
	}
}

// MaxList is the maximum length of a list in one statement. Longer lists take several
// statements.
const MaxList = 128

// Padded returns the number of arguments for a list of n elements; the last element fills
// the rest. Lists grow in steps, so that a few statements serve all lengths.
func Padded(n int) int {
	size := 1
	for size < n {
		size *= 2
	}
	return size
}

// numberedArgs returns the numbers of the arguments for a list of n elements, starting
// with first.
func numberedArgs(first, n int) string {
	var b strings.Builder
	for i := range Padded(n) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("$" + strconv.Itoa(first+i))
	}
	return b.String()
}

func appendPadded[T any](args []any, list []T) []any {
	for i := range Padded(len(list)) {
		args = append(args, list[min(i, len(list)-1)])
	}
	return args
}

// Limit returns the end of a query of which at most limit rows are read. SQLite plans a
// query again for every value of a LIMIT that is an argument, which takes longer than
// reading a page. Therefore the text contains one of a few limits that is large enough.
func Limit(limit int) string {
	if limit > 1<<20 {
		return ""
	}
	return " LIMIT " + strconv.Itoa(Padded(limit))
}

// OrUnlimited returns limit, or the largest int for 0.
func OrUnlimited(limit int) int {
	if limit == 0 {
		return math.MaxInt
	}
	return limit
}
