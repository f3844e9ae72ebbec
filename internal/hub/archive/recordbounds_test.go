package archive

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// sample returns a line of a type in which one field has the given value and all others are
// as small as allowed.
func sample(of *storage.RecordType, field string, value []byte) []byte {
	var b bytes.Buffer
	b.WriteString(`{"type":"` + of.Name + `"`)
	for _, f := range of.Fields {
		raw := []byte(`""`)
		switch {
		case f.Name == field:
			raw = value
		case f.Null:
			raw = []byte("null")
		case f.Of != nil:
			raw, _ = json.Marshal(f.Of[0])
		case f.Kind == storage.RecordID:
			raw = []byte(`"x"`)
		case f.Kind == storage.RecordInt || f.Kind == storage.RecordReal:
			raw = []byte("1")
		case f.Kind == storage.RecordBool:
			raw = []byte("false")
		case f.Kind == storage.RecordTime:
			raw = []byte(`"2026-11-20T10:00:00.000001Z"`)
		case f.Kind == storage.RecordIDs:
			raw = []byte("[]")
		case f.Kind == storage.RecordJSON:
			raw = []byte("{}")
			if f.Check != nil && f.Check(raw) != nil {
				raw = []byte("[]")
			}
		}
		fmt.Fprintf(&b, `,%q:%s`, f.Name, raw)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// boundaryValues returns pairs of values of a field: the largest that its bound allows, and one
// that exceeds it.
func boundaryValues(f storage.RecordField) (pairs [][2][]byte) {
	b := f.Bound
	quoted := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n) + `"`) }
	list := func(n int) []byte {
		entry := `"x"`
		if f.Check != nil && f.Check([]byte("["+entry+"]")) != nil {
			if entry = `{}`; f.Check([]byte("["+entry+"]")) != nil {
				entry = `[]`
			}
		}
		return []byte("[" + strings.TrimSuffix(strings.Repeat(entry+",", n), ",") + "]")
	}
	switch f.Kind {
	case storage.RecordID, storage.RecordText, storage.RecordLine:
		pairs = append(pairs, [2][]byte{quoted(b.Bytes), quoted(b.Bytes + 1)})
	case storage.RecordBytes:
		data := func(n int) []byte { return []byte(`"` + base64.StdEncoding.EncodeToString(make([]byte, n)) + `"`) }
		pairs = append(pairs, [2][]byte{data(b.Bytes), data(b.Bytes + 1)})
	case storage.RecordJSON:
		object := func(n int) []byte { return []byte(`{"` + strings.Repeat("x", n-len(`{"":[]}`)) + `":[]}`) }
		if f.Check == nil || f.Check([]byte(`{"x":[]}`)) == nil {
			pairs = append(pairs, [2][]byte{object(b.Bytes), object(b.Bytes + 1)})
		}
		if b.Entries > 0 {
			pairs = append(pairs, [2][]byte{list(b.Entries), list(b.Entries + 1)})
		}
	case storage.RecordIDs:
		pairs = append(pairs, [2][]byte{list(b.Entries), list(b.Entries + 1)})
	case storage.RecordInt, storage.RecordReal:
		pairs = append(pairs, [2][]byte{fmt.Append(nil, b.Max), fmt.Append(nil, b.Max+1)}, [2][]byte{fmt.Append(nil, b.Min), fmt.Append(nil, b.Min-1)})
	}
	return pairs
}

// Every field of an import has a bound. A value beyond it is rejected with an error that
// names the field, or, if only the length of the line bounds it, the line.
func TestImportFieldsAreBounded(t *testing.T) {
	walked := 0
	for _, of := range storage.RecordTypes {
		for _, f := range of.Fields {
			b := f.Bound
			switch f.Kind {
			case storage.RecordTime, storage.RecordBool:
				continue
			case storage.RecordText:
				if f.Of != nil {
					continue
				}
			}
			if b == (storage.RecordBound{}) {
				t.Errorf("%s.%s has no bound; add it to recordBounds", of.Name, f.Name)
				continue
			}
			for _, pair := range boundaryValues(f) {
				walked++
				if len(pair[1]) > storage.MaxRecordLine {
					continue // see TestImportBounds
				}
				if _, err := of.Parse(sample(of, f.Name, pair[0])); err != nil {
					t.Errorf("%s.%s with the largest allowed value: got %.200s, want no error", of.Name, f.Name, err)
				}
				_, err := of.Parse(sample(of, f.Name, pair[1]))
				if err == nil || !strings.Contains(err.Error(), `"`+f.Name+`"`) || !strings.Contains(err.Error(), "at most") && f.Kind != storage.RecordID {
					t.Errorf("%s.%s beyond its bound: got %v, want an error that names it", of.Name, f.Name, err)
				}
			}
		}
	}
	if walked < 150 {
		t.Errorf("only %d bounds were tested", walked)
	}
}

// An import has bounds for its first line, every other line, the number of records and of
// entities, and its total size.
func TestImportBounds(t *testing.T) {
	entity := func(n int) string {
		return strings.TrimSuffix(string(sample(storage.RecordTypes[1], "id", fmt.Appendf(nil, `"e%d"`, n))), "\n")
	}
	text := seed(sessionLine, entity(1), entity(2), entity(3))
	for name, c := range map[string]struct {
		text string
		set  func(*exportReader)
		says string
	}{
		"as it is":               {text, func(*exportReader) {}, ""},
		"as many records":        {text, func(r *exportReader) { r.maxRecords = 4 }, ""},
		"one record more":        {text, func(r *exportReader) { r.maxRecords = 3 }, "more than 3 records"},
		"as many entities":       {text, func(r *exportReader) { r.maxEntities = 3 }, ""},
		"one entity more":        {text, func(r *exportReader) { r.maxEntities = 2 }, "more than 2 entities"},
		"as many bytes":          {text, func(r *exportReader) { r.maxBytes = int64(len(text)) }, ""},
		"one byte more":          {text, func(r *exportReader) { r.maxBytes = int64(len(text)) - 1 }, "bytes, the most that is allowed"},
		"a long first line":      {`{"type":"export","x":"` + strings.Repeat("x", storage.MaxHeadLine) + "\n", func(*exportReader) {}, "more than 65536 bytes"},
		"a long line":            {strings.Replace(text, "\n", "\n"+strings.Repeat("x", storage.MaxRecordLine)+"\n", 1), func(*exportReader) {}, "more than 33554432 bytes"},
		"a line without its end": {text[:strings.Index(text, "\n")+1] + strings.Repeat("x", storage.MaxRecordLine+1), func(*exportReader) {}, "more than 33554432 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newExportReader(strings.NewReader(c.text))
			c.set(r)
			_, err := r.readHead()
			for of := storage.SessionRecord; err == nil && of != nil; {
				of, _, err = r.readRecord()
			}
			if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// The reader never holds more than one line in memory, however long the export is.
func TestEndlessLineIsRejected(t *testing.T) {
	r := newExportReader(io.MultiReader(strings.NewReader(seed(sessionLine)[:10]), endless{}))
	if _, err := r.readHead(); err == nil || cap(r.buf) > 4*storage.MaxHeadLine {
		t.Errorf("got %v and a buffer of %d bytes, want an error and a small buffer", err, cap(r.buf))
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// docs/export.md states the bounds.
func TestExportDocsStateBounds(t *testing.T) {
	page, err := os.ReadFile("../../../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range storage.RecordTypes {
		for _, f := range of.Fields {
			b := f.Bound
			if f.Of != nil || b.Bytes == storage.MaxRecordLine && b.Entries == 0 || f.Kind == storage.RecordID || f.Kind == storage.RecordInt && b == storage.AnyInteger || b == (storage.RecordBound{}) {
				continue
			}
			if row := "| `" + of.Name + "." + f.Name + "` | " + boundInWords(b) + " |\n"; !strings.Contains(string(page), row) {
				t.Errorf("docs/export.md does not contain this row:\n%s", row)
			}
		}
	}
}

// boundInWords returns a bound as docs/export.md states it.
func boundInWords(b storage.RecordBound) string {
	var words []string
	if b.Bytes > 0 && b.Bytes != storage.MaxRecordLine {
		words = append(words, fmt.Sprintf("%d bytes", b.Bytes))
	}
	if b.Entries > 0 {
		words = append(words, fmt.Sprintf("%d entries", b.Entries))
	}
	if b.Max > 0 {
		words = append(words, fmt.Sprintf("%d to %d", b.Min, b.Max))
	}
	return strings.Join(words, ", ")
}
