package shoal_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/shoal-dev/shoal"
)

// A text part is written as encoding/json would, whatever its text is: the short
// way for plain ones makes the same bytes.
func TestATextPartIsWrittenLikeAnyOther(t *testing.T) {
	texts := []string{
		"", "plain text", " ~!#[]^`{|}", `"quoted"`, `back\slash`, "line\nbreak", "tab\t", "nul\x00", "del\x7f", "<b>&amp;</b>", "ü", "\u2028", "👩‍👩‍👧", "\xff broken",
	}
	for c := range 256 {
		texts = append(texts, "before "+string([]byte{byte(c)})+" after")
	}
	for _, text := range texts {
		for _, id := range []shoal.PartID{"prt_1", "ü", `"`} {
			got, err := shoal.EncodeJSON(shoal.Part{ID: id, Type: shoal.TextPart, Text: text, Status: shoal.PartDone})
			if err != nil {
				t.Fatal(err)
			}
			want, err := shoal.EncodeJSON(struct {
				ID     shoal.PartID     `json:"id"`
				Type   shoal.PartType   `json:"type"`
				Text   string           `json:"text"`
				Status shoal.PartStatus `json:"status"`
			}{id, shoal.TextPart, text, shoal.PartDone})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) || !json.Valid(got) {
				t.Errorf("%q is written as %s, want %s", text, got, want)
			}
		}
	}
}
