// Package messagerow is how a message is stored in its row: the columns, the parts, and the
// checksum over them.
package messagerow

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// Columns are the columns of messages AS m that [Codec.Read] reads.
const Columns = `m.seq, m.id, m.entity_id, m.run_id, m.status, m.mentions, m.dropped_mentions,
	m.created_at, m.updated_at, m.part_id, m.text, m.parts, m.sum, m.on_behalf_of, m.deleted_at, m.edited_at, m.reply_to, m.reactions`

// Codec reads messages from rows and computes their checksums. It reuses a buffer, so it must
// not be used concurrently. The zero value is ready.
type Codec struct{ buffer []byte }

// Read reads a message from column i on and verifies its checksum. Its session and space are
// not among the columns, because every caller knows them.
func (c *Codec) Read(r *sqlconn.Rows, i int, session shoal.SessionID, space shoal.SpaceID) shoal.Message {
	s := checksummed{
		session: string(session), space: string(space), seq: r.Int(i), id: r.Text(i + 1), entity: r.Text(i + 2), run: r.Text(i + 3), status: r.Text(i + 4),
		mentions: r.Text(i + 5), dropped: r.Text(i + 6), created: r.Int(i + 7), updated: r.Int(i + 8), part: r.Text(i + 9), text: r.Text(i + 10), parts: r.Text(i + 11),
		behalf: r.Text(i + 13), deleted: r.Int(i + 14), edited: r.Int(i + 15), replyTo: r.Text(i + 16),
	}
	c.verify(r, i+12, &s)
	m := shoal.Message{
		SessionID: session, SpaceID: space, Seq: s.seq, ID: shoal.MessageID(s.id), EntityID: shoal.EntityID(s.entity), Status: shoal.MessageStatus(s.status),
		Mentions: sqlconn.SplitIDs(s.mentions), DroppedMentions: sqlconn.SplitIDs(s.dropped), CreatedAt: sqlconn.MicroTime(s.created), UpdatedAt: sqlconn.MicroTime(s.updated), Parts: DecodeParts(r, s.part, s.text, s.parts),
		OnBehalfOf: r.IDs(i + 13), DeletedAt: r.TimeOrNil(i + 14), EditedAt: r.TimeOrNil(i + 15), ReplyTo: sqlconn.TextOrNil[shoal.MessageID](r, i+16), Reactions: readReactions(r, i+17),
	}
	if s.run != "" {
		id := shoal.RunID(s.run)
		m.RunID = &id
	}
	return m
}

func readReactions(r *sqlconn.Rows, i int) []shoal.Reaction {
	all := []shoal.Reaction{}
	r.DecodeOrNil(i, &all)
	return all
}

// ReadSpaceRef reads the id, the name and the status of a space from column i on.
func ReadSpaceRef(r *sqlconn.Rows, i int) shoal.SpaceRef {
	return shoal.SpaceRef{ID: shoal.SpaceID(r.Text(i)), Name: r.Text(i + 1), Status: shoal.SpaceStatus(r.Text(i + 2))}
}
