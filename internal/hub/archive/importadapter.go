package archive

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// adaptRecord changes what must differ in the imported session: links to its files, and the
// status of plans if they are imported as paused.
func (im *importer) adaptRecord(t *storage.RecordType, values []any) {
	if im.from != im.id {
		from, to := filesPath(im.from), filesPath(im.id)
		for i, f := range t.Fields {
			if !f.Links {
				continue
			}
			switch v := values[i].(type) {
			case string:
				values[i] = strings.ReplaceAll(v, from, to)
			case json.RawMessage:
				values[i] = json.RawMessage(bytes.ReplaceAll(v, []byte(from), []byte(to)))
			}
		}
	}
	if at := t.Name == "plan" && im.options.PausePlans; at {
		if status := t.FieldIndex("status"); values[status] == string(shoal.PlanPending) {
			values[status] = string(shoal.PlanPaused)
			values[t.FieldIndex("nextRunAt")] = nil
		}
	}
}

// filesPath returns the path of the files of a session.
func filesPath(id shoal.SessionID) string { return shoal.FilePath(id, "") }
