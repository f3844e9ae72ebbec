package sqlstore

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
)

// messageColumns are what messageOf reads.
const messageColumns = `m.seq, m.id, m.entity_id, m.run_id, m.status, m.mentions, m.dropped_mentions,
	m.created_at, m.updated_at, m.part_id, m.text, m.parts, m.sum, m.on_behalf_of, m.deleted_at, m.edited_at, m.reply_to, m.reactions`

// messageOf reads a message from column i on, and holds it against its sum. The
// columns leave out what every reader knows: where it is from.
func messageOf(r *rows, i int, session shoal.SessionID, space shoal.SpaceID) shoal.Message {
	s := summed{
		session: string(session), space: string(space), seq: r.int(i), id: r.text(i + 1), entity: r.text(i + 2), run: r.text(i + 3), status: r.text(i + 4),
		mentions: r.text(i + 5), dropped: r.text(i + 6), created: r.int(i + 7), updated: r.int(i + 8), part: r.text(i + 9), text: r.text(i + 10), parts: r.text(i + 11),
		behalf: r.text(i + 13), deleted: r.int(i + 14), edited: r.int(i + 15), replyTo: r.text(i + 16),
	}
	r.verify(i+12, &s)
	m := shoal.Message{
		SessionID: session, SpaceID: space, Seq: s.seq, ID: shoal.MessageID(s.id), EntityID: shoal.EntityID(s.entity), Status: shoal.MessageStatus(s.status),
		Mentions: decodeIDs(s.mentions), DroppedMentions: decodeIDs(s.dropped), CreatedAt: microTime(s.created), UpdatedAt: microTime(s.updated), Parts: r.partsOf(s.part, s.text, s.parts),
		OnBehalfOf: r.idsOf(i + 13), DeletedAt: r.timeOrNil(i + 14), EditedAt: r.timeOrNil(i + 15), ReplyTo: textOrNil[shoal.MessageID](r, i+16), Reactions: r.reactionsOf(i + 17),
	}
	if s.run != "" {
		id := shoal.RunID(s.run)
		m.RunID = &id
	}
	return m
}

// InsertMessage implements [hub.MessageTx]. It is AlreadyExists for a post key
// that is used and for a place that is taken.
func (t tx) InsertMessage(m shoal.Message, post hub.PostKey) error {
	return t.insertMessage("InsertMessage", m, post, nil)
}

// PostMessage implements [hub.MessageTx]. Its errors are those of InsertMessage.
func (t tx) PostMessage(m shoal.Message, post hub.PostKey) error {
	end, err := t.EventEnd(m.SessionID)
	if err != nil {
		return err
	}
	if err := t.insertMessage("PostMessage", m, post, end+1); err != nil {
		return err
	}
	t.c.known.noteEventEnd(m.SessionID, end+1)
	if err := t.noteBoot(m.SessionID, end+1); err != nil {
		return err
	}
	return nil
}

// insertMessage stores a message with the place of the event that it is, or nil.
func (t tx) insertMessage(op string, m shoal.Message, post hub.PostKey, eventPlace any) error {
	last, err := t.lastSeq(m.SessionID, m.SpaceID)
	switch {
	case err != nil:
		return err
	case m.Seq <= last:
		return taken(op, "The space %q has a message at place %d.", m.SpaceID, m.Seq)
	case m.Seq != last+1:
		// No caller may make it, so none may overlook it.
		return t.c.fail(op, fmt.Errorf("message %d of space %q does not follow message %d", m.Seq, m.SpaceID, last))
	}
	partID, text, parts, err := encodeParts(m.Parts)
	if err != nil {
		return err
	}
	var scope, key, hash any
	if post.Key != "" {
		scope, key, hash = post.Scope, post.Key, post.Hash
	}
	mentions := encodeIDs(m.Mentions)
	behalf, err := idsOrNull(m.OnBehalfOf)
	if err != nil {
		return err
	}
	n, err := t.c.exec(
		`INSERT INTO messages (session_id, space_id, seq, id, entity_id, run_id, status, mentions, dropped_mentions,
		   created_at, updated_at, part_id, text, parts, post_scope, post_key, post_hash, sum, event_place, on_behalf_of, reply_to)
		 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) ON CONFLICT DO NOTHING`,
		m.SessionID, m.SpaceID, m.Seq, m.ID, m.EntityID, m.RunID, m.Status, mentions, encodeIDs(m.DroppedMentions),
		m.CreatedAt, m.UpdatedAt, partID, text, parts, scope, key, hash, t.c.sumOf(&m, mentions, behalf, partID, text, parts), eventPlace, behalf, m.ReplyTo)
	if err != nil {
		return err
	}
	if n == 0 {
		return taken(op, "A message of the session %q was posted under this idempotency key.", m.SessionID)
	}
	if known := t.c.known.space(m.SessionID, m.SpaceID); known != nil {
		known.space.LastSeq = m.Seq
	}
	t.c.posted = true
	if m.RunID == nil {
		return nil
	}
	return t.inSpace(m.SessionID, *m.RunID, m.SpaceID)
}

// lastSeq is the place of the last message of a space, 0 when there is none.
func (t tx) lastSeq(session shoal.SessionID, space shoal.SpaceID) (int64, error) {
	if known := t.c.known.space(session, space); known != nil {
		return known.space.LastSeq, nil
	}
	return number(t.c, `SELECT MAX(seq) FROM messages WHERE session_id = $1 AND space_id = $2`, session, space)
}

// MessageByKey implements [hub.MessageTx].
func (t tx) MessageByKey(session shoal.SessionID, scope, key string) (shoal.Message, string, error) {
	type keyed struct {
		hash    string
		message shoal.Message
	}
	k, ok, err := one(t.c, func(r *rows) keyed {
		return keyed{r.text(0), messageOf(r, 2, session, shoal.SpaceID(r.text(1)))}
	}, `SELECT m.post_hash, m.space_id, `+messageColumns+` FROM messages AS m
		WHERE m.session_id = $1 AND m.post_scope = $2 AND m.post_key = $3`, session, scope, key)
	k, err = present(k, ok, err, "MessageByKey", "No message was posted under this key.")
	return k.message, k.hash, err
}

// Messages implements [hub.MessageTx].
func (t tx) Messages(session shoal.SessionID, space shoal.SpaceID, page hub.Page) ([]shoal.Message, error) {
	const from = `SELECT ` + messageColumns + ` FROM messages AS m WHERE m.session_id = $1 AND m.space_id = $2`
	read := func(r *rows) shoal.Message { return messageOf(r, 0, session, space) }
	end := upTo(page.Limit)
	if page.After > 0 {
		return listFirst(t.c, page.Limit, read, from+` AND m.seq > $3 ORDER BY m.seq`+end, session, space, page.After)
	}
	before := page.Before
	if before == 0 {
		before = math.MaxInt64
	}
	newest, err := listFirst(t.c, page.Limit, read, from+` AND m.seq < $3 ORDER BY m.seq DESC`+end, session, space, before)
	slices.Reverse(newest)
	return newest, err
}

// encodeIDs writes ids with spaces between, which no id holds; none are NULL.
func encodeIDs(ids []shoal.EntityID) any {
	switch len(ids) {
	case 0:
		return nil
	case 1:
		return string(ids[0])
	}
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(id))
	}
	return b.String()
}

// decodeIDs reads what encodeIDs wrote; it is never nil.
func decodeIDs(text string) []shoal.EntityID {
	ids := []shoal.EntityID{}
	for id := range strings.FieldsSeq(text) {
		ids = append(ids, shoal.EntityID(id))
	}
	return ids
}

// encodeParts returns the columns part_id, text and parts of a message: nearly
// every message is one finished text, which needs no JSON, neither here nor
// whenever it is read. A NUL, which a model may write, fits into JSON alone.
func encodeParts(all []shoal.Part) (id, text, parts any, err error) {
	if len(all) == 1 && all[0].Type == shoal.TextPart && all[0].Status == shoal.PartDone && strings.IndexByte(all[0].Text, 0) < 0 {
		return all[0].ID, all[0].Text, nil, nil
	}
	if len(all) == 0 {
		return nil, nil, "[]", nil
	}
	encoded, err := encodeJSONParts(all)
	return nil, nil, encoded, err
}

// partsOf reads what encodeParts wrote.
func (r *rows) partsOf(id, text, encoded string) []shoal.Part {
	if encoded == "" {
		return []shoal.Part{{ID: shoal.PartID(id), Type: shoal.TextPart, Text: text, Status: shoal.PartDone}}
	}
	parts := []shoal.Part{}
	r.decode(encoded, &parts)
	return parts
}
