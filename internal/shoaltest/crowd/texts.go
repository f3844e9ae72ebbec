package crowd

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
)

// Texts are the texts of parts as a stream has reported them.
type Texts map[shoal.PartID]string

// See applies an event of a stream, and returns the run that has ended with it, if one has.
// It fails if a delta does not continue its text, or if a text ends as another one than its
// deltas add up to.
func (t Texts) See(ev shoal.Event) (ended shoal.RunID, err error) {
	var d struct {
		Messages []shoal.Message
		Run      shoal.Run
		PartID   shoal.PartID
		Offset   int
		Delta    string
		Text     string
	}
	if err := json.Unmarshal(ev.Data, &d); err != nil {
		return "", err
	}
	switch ev.Type {
	case shoal.EventSnapshot:
		for _, m := range d.Messages {
			for _, p := range m.Parts {
				t[p.ID] = p.Text
			}
		}
	case shoal.EventTextStart:
		t[d.PartID] = ""
	case shoal.EventTextDelta:
		if had := len(t[d.PartID]); d.Offset != had {
			return "", fmt.Errorf("stream gap: a delta at offset %d after %d bytes: %s", d.Offset, had, ev.Data)
		}
		t[d.PartID] += d.Delta
	case shoal.EventTextEnd:
		if had := t[d.PartID]; had != d.Text {
			return "", fmt.Errorf("stream gap: %q ends as %q", had, d.Text)
		}
	case shoal.EventPartReset:
		t[d.PartID] = t[d.PartID][:min(d.Offset, len(t[d.PartID]))]
	case shoal.EventPartRemoved:
		delete(t, d.PartID)
	case shoal.EventRunCompleted, shoal.EventRunFailed, shoal.EventRunCanceled:
		return d.Run.ID, nil
	}
	return "", nil
}
