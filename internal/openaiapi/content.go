package openaiapi

import (
	"encoding/json"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/exchange"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// partsOf returns a content as text or as parts, of which each protocol has a type. ok is false if it is
// neither.
func partsOf[P any](content json.RawMessage) (parts []P, text string, ok bool) {
	if len(content) == 0 || string(content) == "null" || json.Unmarshal(content, &text) == nil {
		return nil, text, true
	}
	return parts, "", json.Unmarshal(content, &parts) == nil
}

// notParts says what a content must be.
const notParts = "must be a text or a list of parts"

// plainText returns the texts of a content.
func plainText[P interface{ plain() string }](content json.RawMessage, at string) (string, error) {
	parts, text, ok := partsOf[P](content)
	if !ok {
		return "", shoal.Invalid(at, notParts)
	}
	for _, p := range parts {
		text += p.plain()
	}
	return text, nil
}

// answerOf returns the result of a call at a place of the request as an answer. The fields are those with the
// id of the call and with the result.
func answerOf[P interface{ plain() string }](at, idField, id, resultField string, result json.RawMessage) (a answer, err error) {
	a.at = at
	var ok bool
	if a.run, a.call, ok = exchange.ParseCallID(id); !ok {
		return a, shoal.Invalid(at+"."+idField, "must be the id of a call that Shoal has sent")
	}
	a.text, err = plainText[P](result, at+"."+resultField)
	return a, err
}

// instructions returns texts as context of the runs. Empty ones are left out.
func instructions(texts []string) (out []storage.ClientContext) {
	for _, text := range texts {
		if text != "" {
			out = append(out, storage.ClientContext{Description: "instructions of the client", Value: text})
		}
	}
	return out
}
