package sqlstore

import (
	"encoding/json"
	"errors"

	"github.com/shoal-dev/shoal"
)

// encode writes JSON as columns hold it.
func encode(v any) (string, error) {
	text, err := shoal.EncodeJSON(v)
	return string(text), err
}

// encodeOrNil is encode for a pointer, NULL for nil.
func encodeOrNil[T any](v *T) (any, error) {
	if v == nil {
		return nil, nil
	}
	return encode(v)
}

// orNull is raw JSON byte for byte, or NULL where there is none.
func orNull(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return string(raw)
}

// idOrNull is an id, or NULL for an empty one.
func idOrNull[T ~string](id T) any {
	if id == "" {
		return nil
	}
	return string(id)
}

// rawOrNil reads what orNull wrote.
func (r *rows) rawOrNil(i int) json.RawMessage {
	if r.null(i) {
		return nil
	}
	return r.json(i)
}

// idsOrNull is a list of ids as JSON, or NULL for an empty one. Unlike encodeIDs it
// takes names of services, which may hold spaces.
func idsOrNull(ids []shoal.EntityID) (any, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return encode(ids)
}

// idsOf reads what idsOrNull wrote.
func (r *rows) idsOf(i int) []shoal.EntityID {
	ids := []shoal.EntityID{}
	if !r.null(i) {
		r.decode(r.text(i), &ids)
	}
	return ids
}

// decode reads JSON that this package wrote.
func (r *rows) decode(text string, v any) {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		_ = r.c.fail(r.query, errors.Join(errors.New("a value is not the JSON that was stored"), err))
	}
}

// encode writes what was read as the JSON that clients see.
func (r *rows) encode(v any) []byte {
	text, err := shoal.EncodeJSON(v)
	if err != nil {
		_ = r.c.fail(r.query, err)
	}
	return text
}

// decodeOrNil is decode for a column that may be NULL.
func (r *rows) decodeOrNil(i int, v any) {
	if !r.null(i) {
		r.decode(r.text(i), v)
	}
}

// storedPart is a part as parts holds it, every field as it was given. [shoal.Part]
// reads it, but writes what clients see: {} for arguments that are not there yet, and
// next to nothing of a private part.
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
	Target     shoal.EntityID   `json:"targetEntityId,omitempty"`
	Private    bool             `json:"private,omitempty"`
	Name       string           `json:"name,omitempty"`
	MediaType  string           `json:"mediaType,omitempty"`
	Size       int64            `json:"size,omitempty"`
	URL        string           `json:"url,omitempty"`
	Data       json.RawMessage  `json:"data,omitempty"`
}

// encodeJSONParts writes parts as the column parts holds them.
func encodeJSONParts(all []shoal.Part) (string, error) {
	stored := make([]storedPart, len(all))
	for i, p := range all {
		stored[i] = storedPart{
			p.ID, p.Type, p.Text, p.Status, p.ToolName, p.ToolCallID, p.Args, p.Result, p.Error, p.Display, p.AnsweredBy, p.EditedArgs, p.Target, p.Private,
			p.Name, p.MediaType, p.Size, p.URL, p.Data,
		}
	}
	return encode(stored)
}
