package metrics

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// ContentType is the media type of the output of Write.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Write writes all metrics in a single call of w.Write, sorted by name and labels. The error
// is that of w.
func (s *Set) Write(w io.Writer) error {
	if s == nil {
		return nil
	}
	var out []byte
	for _, f := range s.sorted() {
		out = f.write(out)
	}
	_, err := w.Write(out)
	return err
}

func (f *family) write(out []byte) []byte {
	out = append(out, "# HELP "+f.name+" "+escape(f.help, false)+"\n# TYPE "+f.name+" "+f.kind+"\n"...)
	if f.read != nil {
		return line(out, f.name, "", f.read())
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	keys := make([]labels, 0, len(f.series))
	for key := range f.series {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b labels) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		var pairs []string
		for i, name := range f.names {
			pairs = append(pairs, name+`="`+escape(key[i], true)+`"`)
		}
		out = f.series[key].write(out, f.name, strings.Join(pairs, ","))
	}
	return out
}

func (n *Number) write(out []byte, name, labels string) []byte {
	return line(out, name, labels, n.Value())
}

// write writes the cumulative counts of the buckets. A concurrently observed value is in all
// lines that follow its bucket, or in none.
func (h *Histogram) write(out []byte, name, labels string) []byte {
	before := labels
	if labels != "" {
		before += ","
	}
	var sofar uint64
	for i := range h.counts {
		sofar += h.counts[i].Load()
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = number(h.bounds[i])
		}
		out = line(out, name+"_bucket", before+`le="`+bound+`"`, float64(sofar))
	}
	out = line(out, name+"_sum", labels, h.sum.Value())
	return line(out, name+"_count", labels, float64(sofar))
}

func line(out []byte, name, labels string, value float64) []byte {
	out = append(out, name...)
	if labels != "" {
		out = append(append(append(out, '{'), labels...), '}')
	}
	return append(append(append(out, ' '), number(value)...), '\n')
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// escape escapes a text for the format; a label value also needs escaped quotes.
func escape(s string, label bool) string {
	s = strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(s, "�"), `\`, `\\`), "\n", `\n`)
	if label {
		s = strings.ReplaceAll(s, `"`, `\"`)
	}
	return s
}
