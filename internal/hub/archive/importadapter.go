package archive

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// adapt changes what a record must say differently where it is imported.
func (im *importer) adapt(t *storage.RecordType, values []any) {
	if im.from != im.id {
		before, behind := filesOf(im.from), filesOf(im.id)
		for i, f := range t.Fields {
			if !f.Links {
				continue
			}
			switch v := values[i].(type) {
			case string:
				values[i] = strings.ReplaceAll(v, before, behind)
			case json.RawMessage:
				values[i] = json.RawMessage(bytes.ReplaceAll(v, []byte(before), []byte(behind)))
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

// filesOf is the path of the files of a session.
func filesOf(id shoal.SessionID) string { return shoal.FilePath(id, "") }
