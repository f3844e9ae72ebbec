package messagerow

import (
	"encoding/json"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// storedPart is a part in the column parts, with all its fields. [shoal.Part] reads it, but
// its own JSON is what clients see: {} for arguments that are missing so far, and next to
// nothing of a private part.
type storedPart struct {
	ID         shoal.PartID     `json:"id"`
	Type       shoal.PartType   `json:"type"`
	Text       string           `json:"text,omitempty"`
	Status     shoal.PartStatus `json:"status,omitempty"`
	ToolName   string           `json:"toolName,omitempty"`
	ToolCallID string           `json:"toolCallId,omitempty"`
	Args       json.RawMessage  `json:"args,omitempty"`
	Result     json.RawMessage  `json:"result,omitempty"`
	Error      string           `json:"error,omitempty"`
	Display    json.RawMessage  `json:"display,omitempty"`
	AnsweredBy shoal.EntityID   `json:"answeredBy,omitempty"`
	EditedArgs json.RawMessage  `json:"editedArgs,omitempty"`
	Decision   *shoal.Decision  `json:"decision,omitempty"`
	Target     shoal.EntityID   `json:"targetEntityId,omitempty"`
	Private    bool             `json:"private,omitempty"`
	Name       string           `json:"name,omitempty"`
	MediaType  string           `json:"mediaType,omitempty"`
	Size       int64            `json:"size,omitempty"`
	URL        string           `json:"url,omitempty"`
	Data       json.RawMessage  `json:"data,omitempty"`
}

// EncodePartsJSON returns parts as JSON with all their fields.
func EncodePartsJSON(all []shoal.Part) (string, error) {
	stored := make([]storedPart, len(all))
	for i, p := range all {
		stored[i] = storedPart{
			p.ID, p.Type, p.Text, p.Status, p.ToolName, p.ToolCallID, p.Args, p.Result, p.Error, p.Display, p.AnsweredBy, p.EditedArgs, p.Decision, p.Target, p.Private,
			p.Name, p.MediaType, p.Size, p.URL, p.Data,
		}
	}
	return sqlconn.Encode(stored)
}

// EncodeParts returns the columns part_id, text and parts of a message. Nearly every message
// is one complete text, which is stored without JSON. A text with NUL, which a model may
// write, needs JSON.
func EncodeParts(all []shoal.Part) (id, text, parts any, err error) {
	if len(all) == 1 && all[0].Type == shoal.TextPart && all[0].Status == shoal.PartDone && strings.IndexByte(all[0].Text, 0) < 0 {
		return all[0].ID, all[0].Text, nil, nil
	}
	if len(all) == 0 {
		return nil, nil, "[]", nil
	}
	encoded, err := EncodePartsJSON(all)
	return nil, nil, encoded, err
}

// DecodeParts returns the parts for the columns that [EncodeParts] returned.
func DecodeParts(r *sqlconn.Rows, id, text, encoded string) []shoal.Part {
	if encoded == "" {
		return []shoal.Part{{ID: shoal.PartID(id), Type: shoal.TextPart, Text: text, Status: shoal.PartDone}}
	}
	parts := []shoal.Part{}
	r.Decode(encoded, &parts)
	return parts
}
