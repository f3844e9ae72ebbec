package pending

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// triggerText is the text of the message that started a run, as the run's model read it and
// as far as a caller may see it.
type triggerText struct {
	text     *string
	editedAt *shoal.Time
}

// viewFor returns a row as one caller sees it, with the text of its run's trigger.
func (j *Judge) viewFor(caller shoal.Principal, row storage.Pending) (shoal.PendingAction, error) {
	out, err := j.publicView(row)
	if err != nil {
		return out, err
	}
	t, err := j.triggerOf(caller, row.RunID)
	out.TriggerText, out.TriggerEditedAt = t.text, t.editedAt
	return out, err
}

func (j *Judge) triggerOf(caller shoal.Principal, id shoal.RunID) (triggerText, error) {
	t, known := j.triggers[id]
	if known || id == "" {
		return t, nil
	}
	t, err := j.readTrigger(caller, id)
	if err == nil {
		j.triggers[id] = t
	}
	return t, err
}

func (j *Judge) readTrigger(caller shoal.Principal, id shoal.RunID) (t triggerText, err error) {
	run, err := j.tx.Run(j.session, id)
	if err != nil || run.Trigger.Type != shoal.SpaceMessageTrigger {
		return t, err
	}
	if own := core.ReaderEntity(caller); own != "" {
		in, err := j.tx.IsMember(j.session, run.Trigger.SpaceID, own)
		if err != nil || !in {
			return t, err
		}
	}
	m, err := j.tx.Message(j.session, run.Trigger.SpaceID, run.Trigger.MessageID)
	if errors.Is(err, shoal.NotFound) || err == nil && m.DeletedAt != nil {
		return t, nil
	}
	text := truncateText(run.Trigger.MessageContent, shoal.MaxTriggerText)
	t.text = &text
	// The times reveal a change of parts that are not text. The time of an edit may be a
	// millisecond ahead.
	if m.EditedAt != nil && run.StartedAt != nil && (m.Text() != run.Trigger.MessageContent || m.EditedAt.Sub(run.StartedAt.Time) > time.Millisecond) {
		t.editedAt = m.EditedAt
	}
	return t, err
}

// truncateText shortens a text to at most maxBytes bytes, with an ellipsis at its end.
func truncateText(text string, maxBytes int) string {
	const ellipsis = "…"
	if len(text) <= maxBytes {
		return text
	}
	text = text[:maxBytes-len(ellipsis)]
	for r, size := utf8.DecodeLastRuneInString(text); r == utf8.RuneError && size == 1; r, size = utf8.DecodeLastRuneInString(text) {
		text = text[:len(text)-1]
	}
	return strings.TrimRight(text, " ") + ellipsis
}
