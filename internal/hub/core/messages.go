package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// FileNotFound returns the error for a file that does not exist or that the caller may not see.
func FileNotFound(id shoal.FileID) error {
	return shoal.E("", shoal.NotFound, fmt.Sprintf("File %q not found among your uploads and the files in your spaces.", id))
}

// MaySeeFile returns nil if reader may see a file. For a file that it may not see the error
// is NotFound, as for one that does not exist. An empty reader may see all files.
func MaySeeFile(tx Tx, session shoal.SessionID, id shoal.FileID, reader shoal.EntityID) error {
	missing := FileNotFound(id)
	if !ValidID(session) || !ValidID(id) {
		return missing
	}
	_, by, err := tx.FileHead(session, id)
	if errors.Is(err, shoal.NotFound) {
		return missing
	}
	if err != nil || reader == "" || by == reader {
		return err
	}
	shown, err := tx.FileShownTo(session, id, reader)
	if err == nil && len(shown) == 0 {
		err = missing
	}
	return err
}

// ShowFiles records that the space of a message shows the files of this server that the
// message contains. It rejects files that the sender itself may not see.
func ShowFiles(ch *Change, m shoal.Message) error {
	for i, p := range m.Parts {
		session, file, here := p.File()
		if !here {
			continue
		}
		missing := session != m.SessionID
		if !missing {
			err := MaySeeFile(ch, session, file, m.EntityID)
			if missing = errors.Is(err, shoal.NotFound); err != nil && !missing {
				return err
			}
		}
		if missing {
			return shoal.Invalid(fmt.Sprintf("parts[%d].url", i), "names no file of this session that the sender may see; upload it first")
		}
		if err := ch.ShowFile(session, file, m.SpaceID); err != nil {
			return err
		}
	}
	return nil
}

// TrimEvery is the number of messages after which the events of a space are trimmed.
const TrimEvery = 256

// PostSystemMessage posts a system message to an open, locked space. It starts no runs.
func PostSystemMessage(ch *Change, s shoal.Space, text string, mentions []shoal.EntityID, key storage.PostKey) (shoal.Message, error) {
	m, _, err := InsertMessage(ch, s, shoal.System, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: mentions}, key)
	return m, err
}

// InsertMessage stores a message in an open, locked space, records that the space shows its
// files, and delivers it. It returns the message and the members that it mentions. The
// caller must have checked that the sender may post there.
func InsertMessage(ch *Change, s shoal.Space, sender shoal.EntityID, d shoal.Draft, key storage.PostKey) (out shoal.Message, mentioned []storage.MemberKind, err error) {
	out = shoal.Message{
		ID: shoal.NewID[shoal.MessageID](shoal.PrefixMessage), SessionID: s.SessionID, SpaceID: s.ID, Seq: s.LastSeq + 1,
		EntityID: sender, Status: shoal.MessageCompleted, CreatedAt: ch.At, UpdatedAt: ch.At,
		Mentions: []shoal.EntityID{}, DroppedMentions: []shoal.EntityID{}, OnBehalfOf: []shoal.EntityID{}, Reactions: []shoal.Reaction{}, Parts: NumberParts(d.Parts),
	}
	if err := setReplyTo(ch, &out, d.ReplyTo); err != nil {
		return out, nil, err
	}
	if mentioned, err = ResolveMentions(ch, &out, d.Mentions); err != nil {
		return out, nil, err
	}
	if err := ch.PostMessage(out, key); err != nil {
		return out, nil, err
	}
	ch.NotifyFollowers(s.SessionID, s.ID)
	if err := ShowFiles(ch, out); err != nil {
		return out, nil, err
	}
	return out, mentioned, ch.DeliverMessage(out)
}

// setReplyTo makes m a reply to the message with the id to in the same space, unless to is
// empty.
func setReplyTo(tx Tx, m *shoal.Message, to shoal.MessageID) error {
	if to == "" {
		return nil
	}
	var err error = shoal.NotFound
	if ValidID(to) {
		_, err = tx.Message(m.SessionID, m.SpaceID, to)
	}
	if errors.Is(err, shoal.NotFound) {
		return shoal.Invalid("replyTo", fmt.Sprintf("names no message of the space %q: reply to one that you read there", m.SpaceID))
	}
	m.ReplyTo = &to
	return err
}

// NumberParts returns a copy of the parts of a posted message with their ids and statuses.
func NumberParts(parts []shoal.Part) []shoal.Part {
	out := slices.Clone(parts)
	for i := range out {
		out[i].ID = shoal.PartID(fmt.Sprintf("%s%d", shoal.PrefixPart, i+1))
		out[i].Target, out[i].Private = "", false // only tool calls set them; posted parts are for all members
		if out[i].Type == shoal.TextPart {
			out[i].Status = shoal.PartDone
		}
	}
	return out
}

// CheckMentions rejects mentions that are not valid ids. It accepts entities that are not
// members; [ResolveMentions] drops and lists them.
func CheckMentions(ids []shoal.EntityID) error {
	for i, id := range ids {
		if id != shoal.System && !ValidID(id) {
			return shoal.CheckID(fmt.Sprintf("mentions[%d]", i), string(id))
		}
	}
	return nil
}

// ResolveMentions sets the mentions and the dropped mentions of m, each entity once, and
// returns the mentioned members.
func ResolveMentions(tx Tx, m *shoal.Message, mentions []shoal.EntityID) ([]storage.MemberKind, error) {
	if len(mentions) == 0 {
		return nil, nil
	}
	members, err := tx.MembersAmong(m.SessionID, m.SpaceID, mentions)
	if err != nil {
		return nil, err
	}
	for _, id := range mentions {
		list := &m.DroppedMentions
		if slices.ContainsFunc(members, func(k storage.MemberKind) bool { return k.ID == id }) {
			list = &m.Mentions
		}
		if !slices.Contains(*list, id) {
			*list = append(*list, id)
		}
	}
	return members, nil
}

// EraseMessage replaces a complete message by its tombstone, which its followers receive as
// message.updated. Copies of it stay. A message of a space that is being deleted stays, too.
func EraseMessage(ch *Change, m shoal.Message) error {
	if _, err := ch.LockSpace(m.SessionID, m.SpaceID); err != nil {
		if errors.Is(err, shoal.NotFound) {
			return nil
		}
		return err
	}
	if err := ch.EraseMessage(m.SessionID, m.ID, ch.At); err != nil {
		return err
	}
	return AnnounceMessage(ch, m.SessionID, m.ID)
}

// AnnounceMessage sends the present content of a message to its followers, as message.updated.
func AnnounceMessage(ch *Change, session shoal.SessionID, id shoal.MessageID) error {
	m, err := ch.MessageByID(session, id)
	if err != nil {
		return err
	}
	ev := storage.Event{Session: session, Space: m.SpaceID, Type: shoal.EventMessageUpdated}
	if m.RunID != nil {
		ev.Run = *m.RunID
	}
	_, err = Emit(ch, ev, func(h shoal.EventHead) any { return shoal.MessageData{EventHead: h, Message: m} })
	return err
}
