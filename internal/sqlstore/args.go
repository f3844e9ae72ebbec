package sqlstore

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/shoal-dev/shoal"
)

// bind turns arguments into what links know; they stand until the next ones.
func (c *conn) bind(args []any) []any {
	c.args = c.args[:0]
	for _, arg := range args {
		c.args = append(c.args, plain(arg))
	}
	return c.args
}

// plain turns a word of the product into what every link knows: times are
// microseconds, an absent value is NULL.
func plain(arg any) any {
	switch v := arg.(type) {
	case nil, string, int64, float64, bool, []byte:
		return v
	case int:
		return int64(v)
	case shoal.SessionID:
		return string(v)
	case shoal.EntityID:
		return string(v)
	case shoal.SpaceID:
		return string(v)
	case shoal.MessageID:
		return string(v)
	case shoal.PartID:
		return string(v)
	case shoal.KeyID:
		return string(v)
	case shoal.RunID:
		return string(v)
	case shoal.PendingID:
		return string(v)
	case shoal.RememberedID:
		return string(v)
	case shoal.PlanID:
		return string(v)
	case shoal.FileID:
		return string(v)
	case shoal.RendererName:
		return string(v)
	case *shoal.SessionID:
		return deref(v)
	case *shoal.EntityID:
		return deref(v)
	case *shoal.RunID:
		return deref(v)
	case *shoal.SpaceID:
		return deref(v)
	case *shoal.MessageID:
		return deref(v)
	case *shoal.PartID:
		return deref(v)
	case *string:
		return deref(v)
	case shoal.Time:
		return v.UnixMicro()
	case *shoal.Time:
		if v == nil {
			return nil
		}
		return v.UnixMicro()
	case shoal.SessionStatus:
		return string(v)
	case shoal.SpaceStatus:
		return string(v)
	case shoal.MessageStatus:
		return string(v)
	case shoal.RunStatus:
		return string(v)
	case shoal.PendingKind:
		return string(v)
	case shoal.PendingStatus:
		return string(v)
	case shoal.PlanStatus:
		return string(v)
	case shoal.SessionRole:
		return string(v)
	case shoal.EntityKind:
		return string(v)
	case shoal.EventType:
		return string(v)
	case shoal.Reason:
		return string(v)
	case shoal.Role:
		return string(v)
	case json.RawMessage:
		if len(v) == 0 {
			return "{}"
		}
		return string(v)
	}
	panic(fmt.Sprintf("sqlstore: no column takes a %T", arg))
}

func deref[T ~string](p *T) any {
	if p == nil {
		return nil
	}
	return string(*p)
}

// orAll is a limit, where 0 is none.
func orAll(limit int) int {
	if limit == 0 {
		return math.MaxInt
	}
	return limit
}

// clauses builds a statement from pieces. In a piece every ? takes the next
// argument.
type clauses struct {
	text strings.Builder
	args []any
}

// add appends a piece with its arguments.
func (b *clauses) add(piece string, args ...any) {
	for _, arg := range args {
		before, after, _ := strings.Cut(piece, "?")
		b.args = append(b.args, arg)
		b.text.WriteString(before + "$" + strconv.Itoa(len(b.args)))
		piece = after
	}
	b.text.WriteString(piece)
}

// addIn appends a piece in which the one ? takes a list, for IN (?).
func addIn[T any](b *clauses, piece string, list []T) {
	before, after, _ := strings.Cut(piece, "?")
	b.text.WriteString(before + places(len(b.args)+1, len(list)))
	b.args = appendPadded(b.args, list)
	b.text.WriteString(after)
}

// addValues appends VALUES with a row for each of list, which add appends. Both
// databases call the columns column1, column2 and so on.
func addValues[T any](b *clauses, list []T, add func(T)) {
	b.add(`VALUES `)
	for i := range padded(len(list)) {
		if i > 0 {
			b.add(`, `)
		}
		add(list[min(i, len(list)-1)])
	}
}

// mostIn is how many things one statement lists; more take several statements.
const mostIn = 128

// padded is how many places a list of n takes, the last thing filling it up.
// Lists grow in steps, so that a few statements serve all lengths.
func padded(n int) int {
	size := 1
	for size < n {
		size *= 2
	}
	return size
}

// places writes the arguments of a list of n, numbered from first on.
func places(first, n int) string {
	var b strings.Builder
	for i := range padded(n) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("$" + strconv.Itoa(first+i))
	}
	return b.String()
}

// appendPadded appends a padded list.
func appendPadded[T any](args []any, list []T) []any {
	for i := range padded(len(list)) {
		args = append(args, list[min(i, len(list)-1)])
	}
	return args
}
