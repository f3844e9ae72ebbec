package connect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tomlBlock is a table with the statements in it.
type tomlBlock struct {
	head tomlLine
	body []tomlLine
}

// end returns the offset after its last statement.
func (b tomlBlock) end() int {
	if len(b.body) == 0 {
		return b.head.end
	}
	return b.body[len(b.body)-1].end
}

// tomlBlocks finds the table at path and those in it, first the table itself.
// Where a part of it is written in another way, such as an inline table, it says
// so with an error: only a person can change that without harm.
func tomlBlocks(src string, path []string) ([]tomlBlock, error) {
	var blocks []tomlBlock
	var in []string // the table whose statements follow
	mine := false
	for _, line := range scanTOML(src) {
		if line.head {
			in, mine = line.path, under(line.path, path)
			if mine {
				blocks = append(blocks, tomlBlock{head: line})
			}
			continue
		}
		full := slices.Concat(in, line.path)
		switch {
		case mine:
			last := &blocks[len(blocks)-1]
			last.body = append(last.body, line)
		case under(full, path), under(path, full):
			return nil, unreadable(fmt.Sprintf("%s is not written as a table with the head [%s]", strings.Join(full, "."), tomlKey(path)))
		}
	}
	own := slices.IndexFunc(blocks, func(b tomlBlock) bool { return len(b.head.path) == len(path) })
	if len(blocks) > 0 && (own < 0 || blocks[own].head.array) {
		return nil, unreadable(fmt.Sprintf("there are parts of [%s], but not the table itself", tomlKey(path)))
	}
	if own > 0 {
		blocks[0], blocks[own] = blocks[own], blocks[0]
	}
	return blocks, nil
}

// tomlSet returns src with the fields in the table at path, which it makes at
// the end if it is new. Keys named in drop go. Every other byte stays.
func tomlSet(src string, path []string, fields []field, drop []string) (string, error) {
	blocks, err := tomlBlocks(src, path)
	if err != nil {
		return "", err
	}
	nl := newline(src)
	if len(blocks) == 0 {
		text := "[" + tomlKey(path) + "]" + nl
		for _, f := range fields {
			text += tomlField(f) + nl
		}
		switch {
		case strings.TrimPrefix(src, "\ufeff") == "":
			return src + text, nil
		case !strings.HasSuffix(src, "\n"):
			return src + nl + nl + text, nil
		}
		return src + nl + text, nil
	}
	table := blocks[0]
	var edits []edit
	for _, f := range fields {
		if i := slices.IndexFunc(table.body, func(l tomlLine) bool { return slices.Equal(l.path, []string{f.name}) }); i >= 0 {
			edits = append(edits, edit{table.body[i].value, table.body[i].valueEnd, tomlValue(f.value)})
			continue
		}
		text := tomlField(f) + nl
		if !strings.HasSuffix(src[:table.end()], "\n") {
			text = nl + strings.TrimSuffix(text, nl)
		}
		edits = append(edits, edit{table.end(), table.end(), text})
	}
	for _, line := range table.body {
		if slices.Contains(drop, line.path[0]) {
			edits = append(edits, edit{line.start, line.end, ""})
		}
	}
	return apply(src, edits), nil
}

// tomlCut returns src without the table at path and those in it, and without the
// blank line before them.
func tomlCut(src string, path []string) (string, error) {
	blocks, err := tomlBlocks(src, path)
	if err != nil {
		return "", err
	}
	var edits []edit
	for _, b := range blocks {
		start := b.head.start
		for _, blank := range []string{"\r\n", "\n"} {
			if before, is := strings.CutSuffix(src[:start], blank); is && (before == "" || strings.HasSuffix(before, "\n")) {
				start = len(before)
				break
			}
		}
		edits = append(edits, edit{start, b.end(), ""})
	}
	return apply(src, edits), nil
}

// edit puts text in the place of the text between start and end.
type edit struct {
	start, end int
	text       string
}

// apply makes edits that do not overlap; those at one place in their order.
func apply(src string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(src[at:max(e.start, at)] + e.text)
		at = max(e.end, at)
	}
	return b.String() + src[at:]
}

// tomlKey writes the words of a key with dots between.
func tomlKey(path []string) string {
	words := make([]string, len(path))
	for i, word := range path {
		words[i] = word
		if word == "" || strings.Trim(word, bareKey) != "" {
			words[i] = quoted(word)
		}
	}
	return strings.Join(words, ".")
}

const bareKey = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func tomlField(f field) string { return tomlKey([]string{f.name}) + " = " + tomlValue(f.value) }

func tomlValue(value any) string {
	switch v := value.(type) {
	case int:
		return strconv.Itoa(v)
	case []field:
		var inside []string
		for _, f := range v {
			inside = append(inside, tomlField(f))
		}
		return "{ " + strings.Join(inside, ", ") + " }"
	}
	return quoted(value.(string))
}
