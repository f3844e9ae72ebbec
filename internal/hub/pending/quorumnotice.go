package pending

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// quorumNoticeScope is the scope of the keys of the messages that say that too few members
// may answer an action. Stored keys depend on it.
const quorumNoticeScope = "too few"

// AnnounceTooFew posts a message in the space that shows an open action, once per action,
// if fewer members may answer it than the action needs (contract 7.1). It skips actions
// that a service may answer and actions that one member sees alone.
func AnnounceTooFew(ch *core.Change, row storage.Pending) error {
	if row.SpaceID == nil || row.RunID == "" || row.Status != shoal.PendingOpen || IsServerWait(row.Kind) || row.Target != "" ||
		row.Policy.ByService || slices.Contains(row.Policy.By, shoal.AnswerServices) {
		return nil
	}
	j := NewJudge(ch, row.Session)
	a, all, err := j.possibleVoters(row)
	able := Rules.CountVoters(a, all)
	if err != nil || able >= max(a.Quorum, 1) {
		return err
	}
	key := storage.PostKey{Scope: quorumNoticeScope, Key: string(row.ID)}
	if _, _, err := ch.MessageByKey(row.Session, key.Scope, key.Key); !errors.Is(err, shoal.NotFound) {
		return err
	}
	s, err := ch.LockSpace(row.Session, *row.SpaceID)
	if errors.Is(err, shoal.NotFound) || err == nil && s.Status == shoal.SpaceStatusClosed {
		return nil
	}
	if err != nil {
		return err
	}
	var concerned []shoal.EntityID
	for _, id := range append(requestersFor(row), a.Owner) {
		in, err := ch.IsMember(row.Session, s.ID, id)
		if err != nil {
			return err
		}
		if in && core.ValidID(id) && !slices.Contains(concerned, id) {
			concerned = append(concerned, id)
		}
	}
	names, err := ch.EntityNames(row.Session, []shoal.EntityID{row.AgentID})
	if err != nil {
		return err
	}
	text := quorumNoticeText(cmp.Or(names[row.AgentID], string(row.AgentID)), row, max(a.Quorum, 1), able)
	_, err = core.PostSystemMessage(ch, s, text, concerned, key)
	return err
}

// quorumNoticeText says which agent waits for what, how many members may answer, and what
// to do.
func quorumNoticeText(agent string, row storage.Pending, needed, able int) string {
	answers, who := "an answer", "nobody in this space may give it"
	if needed > 1 {
		answers = fmt.Sprintf("%d equal answers", needed)
		who = fmt.Sprintf("only %d of this space may answer", able)
	}
	if needed > 1 && able == 0 {
		who = "nobody in this space may answer"
	}
	return fmt.Sprintf("%s waits for %s to %s, and %s. Add somebody who may, or cancel the run %s.", agent, answers, row.ToolName, who, row.RunID)
}

// AnnounceTooFewInSpace is AnnounceTooFew for all open actions of a space that a member has
// left.
func AnnounceTooFewInSpace(ch *core.Change, session shoal.SessionID, space shoal.SpaceID) error {
	rows, err := ch.PendingActions(session, storage.PendingFilter{Space: space, Status: []shoal.PendingStatus{shoal.PendingOpen}, Limit: shoal.MaxPage})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := AnnounceTooFew(ch, row); err != nil {
			return err
		}
	}
	return nil
}

// AnnounceTooFewAfterChange is AnnounceTooFew for all open actions in the spaces of an
// entity whose kind, session role or owner has changed, because these determine which
// entities may answer.
func AnnounceTooFewAfterChange(ch *core.Change, before, after shoal.Entity) error {
	if before.Kind == after.Kind && before.SessionRole == after.SessionRole && OwnerOf(before) == OwnerOf(after) {
		return nil
	}
	spaces, err := ch.Spaces(after.SessionID, storage.SpaceFilter{Member: after.ID})
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if err := AnnounceTooFewInSpace(ch, after.SessionID, s.ID); err != nil {
			return err
		}
	}
	return nil
}
