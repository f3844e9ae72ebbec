package shoal

// ExportType is the media type of the export of a session: JSON lines, see
// docs/export.md.
const ExportType = "application/jsonl"

// Imported is what an import has made: the session, and how many records of each
// type of the export it took.
type Imported struct {
	Session Session          `json:"session"`
	Records map[string]int64 `json:"records"`
}
