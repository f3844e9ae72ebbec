package pending

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/approval"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// isChosen reports whether a row is an alternative that was chosen.
func isChosen(row storage.Pending) bool {
	return row.Policy.Choose != nil && row.Answer != nil && choiceOf(row).Chosen(row.Answer.Result)
}

// isAlternative reports whether two rows of one run are alternatives: calls of the same
// tool, shown to the same readers, that wait at the same time. The calls of a step wait until
// the last of them has its answer, so they are of the same step.
func isAlternative(row, other storage.Pending) bool {
	return row.ID != other.ID && row.Kind == other.Kind && row.ToolName == other.ToolName && row.Target == other.Target && other.Policy.Choose != nil
}

// settleAlternatives settles the open alternatives of a chosen row as not chosen, by the
// caller who chose it.
func settleAlternatives(ch *core.Change, caller shoal.Principal, chosen storage.Pending) error {
	rows, err := ch.PendingOf(chosen.Session, chosen.RunID)
	if err != nil {
		return err
	}
	for _, other := range rows {
		if other.Status != shoal.PendingOpen || !isAlternative(chosen, other) {
			continue
		}
		// The same caller may still say explicitly that it did not choose the call.
		hash, err := core.Fingerprint(core.CallerName(caller), notChosen(other))
		if err != nil {
			return err
		}
		if err := settleNotChosen(ch, chosen, other, hash); err != nil {
			return err
		}
	}
	return nil
}

// SettleWithEarlierChoice settles a row that was opened after an alternative of its step was
// chosen.
func SettleWithEarlierChoice(ch *core.Change, row storage.Pending) error {
	if row.Policy.Choose == nil {
		return nil
	}
	rows, err := ch.PendingOf(row.Session, row.RunID)
	if err != nil {
		return err
	}
	for _, chosen := range rows {
		if chosen.Status == shoal.PendingAnswered && !chosen.Taken && isChosen(chosen) && isAlternative(row, chosen) {
			return settleNotChosen(ch, chosen, row, "")
		}
	}
	return nil
}

func choiceOf(row storage.Pending) approval.Choice {
	return approval.Choice{Field: row.Policy.Choose.Field}
}

func notChosen(row storage.Pending) shoal.PendingAnswer {
	return shoal.PendingAnswer{Result: choiceOf(row).NotChosen()}
}

func settleNotChosen(ch *core.Change, chosen, row storage.Pending, hash string) error {
	answer := notChosen(row)
	row.Answer, row.AnswerHash, row.AnsweredBy = &answer, hash, chosen.AnsweredBy
	return settleRow(ch, row, shoal.PendingAnswered)
}
