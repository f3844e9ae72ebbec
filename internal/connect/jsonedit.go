package connect

import (
	"fmt"
	"strings"
)

// jsonSet returns src with a value at the path of keys, in the place of the one
// that is there or after everything else, and how many objects it had to make
// on the way. Every other byte stays.
func jsonSet(src string, path []string, value any) (out string, made int, err error) {
	root, blank, err := scanJSON(src)
	if err != nil {
		return "", 0, err
	}
	nl := newline(src)
	if blank {
		return src + strings.ReplaceAll(render(nest(path, value), "", indentUnit(src)), "\n", nl) + nl, len(path), nil
	}
	at := root
	for i, key := range path {
		if at.kind != '{' {
			return "", 0, unreadable(fmt.Sprintf("an object was expected at %s", where(path[:i])))
		}
		found, err := at.member(key)
		if err != nil {
			return "", 0, err
		}
		if found < 0 {
			return jsonInsert(src, at, key, nest(path[i+1:], value)), len(path) - i - 1, nil
		}
		at = at.items[found].value
	}
	return jsonReplace(src, at, value), 0, nil
}

// jsonReplace puts a value in the place of another. If that says the same, it stays as it is written.
func jsonReplace(src string, at jsonNode, value any) string {
	text := render(value, lineIndent(src, at.start), indentUnit(src))
	if says, _, err := scanJSON(text); err == nil && same(says.decode(text), at.decode(src)) {
		return src
	}
	if !strings.Contains(src[at.start:at.end], "\n") {
		text = compact(text)
	}
	return src[:at.start] + strings.ReplaceAll(text, "\n", newline(src)) + src[at.end:]
}

// jsonPush is jsonSet for an array: the value becomes its last element.
func jsonPush(src string, path []string, value any) (out string, made int, err error) {
	at, found, err := jsonFind(src, path)
	switch {
	case err != nil:
		return "", 0, err
	case !found:
		out, made, err = jsonSet(src, path, []any{value})
		return out, made + 1, err
	case at.kind != '[':
		return "", 0, unreadable(fmt.Sprintf("an array was expected at %s", where(path)))
	}
	return jsonInsert(src, at, "", value), 0, nil
}

// jsonCut returns src without the item at index of the object or array at the
// path. If up is more than 0, and nothing is left in that, it goes too, and so
// on up to that many levels.
func jsonCut(src string, path []string, index, up int) (string, error) {
	at, _, err := jsonFind(src, path)
	if err != nil {
		return "", err
	}
	src = jsonRemove(src, at, index)
	if at, _, err = jsonFind(src, path); err != nil {
		return "", err
	}
	if up == 0 || strings.TrimSpace(src[at.start+1:at.end-1]) != "" {
		return src, nil
	}
	if len(path) == 0 {
		return src[:at.start] + strings.TrimPrefix(src[at.end:], newline(src)), nil
	}
	above, key := path[:len(path)-1], path[len(path)-1]
	if at, _, err = jsonFind(src, above); err != nil {
		return "", err
	}
	if index, err = at.member(key); err != nil {
		return "", err
	}
	return jsonCut(src, above, index, up-1)
}

// jsonFind finds the value at a path of keys.
func jsonFind(src string, path []string) (at jsonNode, found bool, err error) {
	at, blank, err := scanJSON(src)
	if blank || err != nil {
		return at, false, err
	}
	for i, key := range path {
		if at.kind != '{' {
			return at, false, unreadable(fmt.Sprintf("an object was expected at %s", where(path[:i])))
		}
		index, err := at.member(key)
		if err != nil || index < 0 {
			return at, false, err
		}
		at = at.items[index].value
	}
	return at, true, nil
}

// jsonInsert puts an item after the last one of an object or array.
func jsonInsert(src string, in jsonNode, key string, value any) string {
	nl, outer, closing := newline(src), lineIndent(src, in.start), in.end-1
	text := func(indent string) string {
		body := render(value, indent, indentUnit(src))
		if in.kind == '{' {
			body = quoted(key) + ": " + body
		}
		return strings.ReplaceAll(body, "\n", nl)
	}
	if len(in.items) == 0 {
		inside, inner := strings.TrimRight(src[in.start+1:closing], " \t\r\n"), outer+indentUnit(src)
		return src[:in.start+1] + inside + nl + inner + text(inner) + nl + outer + src[closing:]
	}
	last := in.items[len(in.items)-1]
	comma, behind := ",", ""
	if last.comma >= 0 {
		comma, behind = "", ","
	}
	// What follows the last item, such as a comment, stays with it.
	end := len(strings.TrimRight(src[:closing], " \t\r\n"))
	before, rest := src[:last.value.end]+comma+src[last.value.end:end], behind+src[end:]
	if !strings.Contains(src[in.start:in.end], "\n") {
		return before + " " + compact(text("")) + rest
	}
	inner := lineIndent(src, last.start)
	return before + nl + inner + text(inner) + rest
}

// jsonRemove takes an item away with its comma and the white space before it.
// Comments stay.
func jsonRemove(src string, in jsonNode, index int) string {
	item := in.items[index]
	from, to, comment := len(strings.TrimRight(src[:item.start], " \t\r\n")), item.value.end, ""
	if item.comma >= 0 {
		comment, to = strings.TrimSpace(src[to:item.comma]), item.comma+1
	}
	if len(in.items) == 1 && from == in.start+1 && comment == "" && strings.TrimSpace(src[to:in.end-1]) == "" {
		return src[:from] + src[in.end-1:]
	}
	rest := strings.TrimLeft(src[to:], " \t\r")
	if strings.Contains(src[from:item.start], "\n") && !strings.HasPrefix(rest, "\n") || comment != "" {
		from = item.start // a comment may end where the line does
	}
	if index > 0 && item.comma < 0 {
		comma := in.items[index-1].comma
		return src[:comma] + src[comma+1:from] + src[to:]
	}
	return src[:from] + comment + src[to:]
}

// nest makes the objects of the path around a value.
func nest(path []string, value any) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = []field{{path[i], value}}
	}
	return value
}

func where(path []string) string {
	if len(path) == 0 {
		return "the top"
	}
	return strings.Join(path, ".")
}
