package archive

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// seed is a small export.
func seed(records ...string) string {
	sum := newExportSum()
	text := `{"type":"export","version":1,"server":"test","session":"lab","exportedAt":"2026-11-20T10:00:00.000Z"}` + "\n"
	for _, line := range records {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		if t, _ := storage.FindRecordType(name); t != nil {
			sum.add(t, []byte(line+"\n"))
		}
		text += line + "\n"
	}
	return text + string(sum.endLine())
}

const (
	sessionLine = `{"type":"session","name":"Lab","status":"open","createdAt":"2026-11-20T10:00:00.000001Z","closedAt":null,"maxCostPerRequest":2.5,"maxTokensPerRequest":7,"spaceRights":"members","messagesForMs":0,"runsForMs":3600000,"promptsForMs":0}`
	memberLine  = `{"type":"member","spaceId":"shop","entityId":"ann","place":1,"joinedAt":"2026-11-20T10:00:00.000001Z","addedBy":null,"muted":false,"readUpto":-1,"pausedAt":null}`
	usageLine   = `{"type":"usage","runId":"r1","step":0,"agentId":"bot","model":"m","at":"2026-11-20T10:00:00.000001Z","day":"2026-11-20",` +
		`"inputTokens":1,"cachedInputTokens":0,"outputTokens":2,"reasoningTokens":0,"cost":0.30000000000000004}`
	memoryLine = `{"type":"memory","agentId":"bot","id":"m1","place":1,"topic":"t","content":"\u003c\ud834\udd1e","metadata":{ "a" :1.50e+3,"a":[ ]},` +
		`"createdAt":"2026-11-20T10:00:00.000001Z","updatedAt":"0001-01-01T00:00:00.000000Z"}`
)

// For any input, the reader ends with an error that names a line or with the last line.
// Every record that it accepts can be written and read back unchanged.
func FuzzReadExport(f *testing.F) {
	f.Add([]byte(seed(sessionLine)))
	f.Add([]byte(seed(sessionLine, memberLine, memoryLine, usageLine)))
	f.Add([]byte(seed(sessionLine, usageLine, memberLine)))
	f.Add([]byte(seed(sessionLine, `{"type":"file","id":"f","name":"","mediaType":"","size":0,"url":"","uploadedBy":"","createdAt":"2026-11-20T10:00:00.000001Z","data":""}`)))
	f.Add([]byte(seed()))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newExportReader(bytes.NewReader(data))
		_, err := r.readHead()
		for err == nil {
			var of *storage.RecordType
			var values []any
			if of, values, err = r.readRecord(); of == nil {
				break
			}
			line, failed := of.Append(nil, values)
			if failed != nil {
				t.Fatalf("write a %s that was read: %v", of.Name, failed)
			}
			again, failed := of.Parse(line)
			if failed != nil {
				t.Fatalf("read a %s that was written: %v\n%s", of.Name, failed, line)
			}
			if twice, _ := of.Append(nil, again); !bytes.Equal(twice, line) {
				t.Fatalf("%s differs when it is written again:\n%s%s", of.Name, line, twice)
			}
		}
		var e *shoal.Error
		if err != nil && (!errors.As(err, &e) || e.Kind != shoal.InvalidArgument || len(e.Fields) != 1) {
			t.Fatalf("got the error %v, want one that names a line", err)
		}
	})
}

// Each line is parsed completely and written back byte for byte.
func TestRecordLineRoundTrip(t *testing.T) {
	for _, want := range []string{sessionLine, memberLine, usageLine} {
		r := newExportReader(strings.NewReader(seed(sessionLine, want)))
		if _, err := r.readHead(); err != nil {
			t.Fatal(err)
		}
		for {
			of, values, err := r.readRecord()
			if err != nil && want != sessionLine { // a second session is an error
				t.Fatal(err)
			}
			if of == nil {
				break
			}
			if line, err := of.Append(nil, values); err != nil || string(line) != string(r.buf) {
				t.Errorf("%v\ngot  %swant %s", err, line, r.buf)
			}
		}
	}
}

// docs/export.md lists every field with its type.
func TestExportDocsAreCurrent(t *testing.T) {
	page, err := os.ReadFile("../../../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[storage.RecordKind]string{
		storage.RecordID: "id", storage.RecordText: "text", storage.RecordLine: "text", storage.RecordInt: "integer", storage.RecordReal: "number", storage.RecordBool: "boolean",
		storage.RecordTime: "time", storage.RecordIDs: "ids", storage.RecordJSON: "JSON", storage.RecordBytes: "base64",
	}
	for _, of := range storage.RecordTypes {
		var fields []string
		for _, f := range of.Fields {
			kind := kinds[f.Kind]
			if f.Null {
				kind += "?"
			}
			fields = append(fields, "`"+f.Name+"` "+kind)
		}
		if row := "| `" + of.Name + "` | " + strings.Join(fields, ", ") + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("docs/export.md does not contain this row:\n%s", row)
		}
	}
}
