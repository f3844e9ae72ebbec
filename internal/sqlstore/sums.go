package sqlstore

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/shoal-dev/shoal"
)

// A disk gives back other bytes than it was given, now and then, and a database in
// a file has nothing to see that by. So every message carries a sum over what its
// row says, and a row whose sum is another one is not shown to anybody: whoever asks
// for it is told that the database is damaged. Rows from before the sums and those
// of an import have none, and are shown as they are found.

// castagnoli is the sum that processors compute by themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// summed is what a sum is over, in the form of the columns; NULL is empty. Reactions are
// left out: they change without the message.
type summed struct {
	session, space, id, entity, run, status, mentions, dropped, part, text, parts string

	seq, created, updated int64

	// These came later: a message without any of them has the sum that it had before.
	behalf, replyTo string
	deleted, edited int64
}

// sum writes the fields one after the other into buffer, each text after its length, and
// returns the buffer and the sum over it.
func (s *summed) sum(buffer []byte) ([]byte, int64) {
	buffer = buffer[:0]
	for _, n := range [...]int64{s.seq, s.created, s.updated} {
		buffer = binary.LittleEndian.AppendUint64(buffer, uint64(n)) //nolint:gosec // as bits
	}
	for _, text := range [...]string{s.session, s.space, s.id, s.entity, s.run, s.status, s.mentions, s.dropped, s.part, s.text, s.parts} {
		buffer = binary.LittleEndian.AppendUint32(buffer, uint32(len(text))) //nolint:gosec // no column is as long
		buffer = append(buffer, text...)
	}
	if s.behalf != "" || s.replyTo != "" || s.deleted != 0 || s.edited != 0 {
		for _, n := range [...]int64{s.deleted, s.edited, int64(len(s.behalf)), int64(len(s.replyTo))} {
			buffer = binary.LittleEndian.AppendUint64(buffer, uint64(n)) //nolint:gosec // as bits
		}
		buffer = append(append(buffer, s.behalf...), s.replyTo...)
	}
	return buffer, int64(crc32.Checksum(buffer, castagnoli))
}

// sumOf returns the sum of a message that is about to be stored with these columns.
func (c *conn) sumOf(m *shoal.Message, mentions, behalf, part, text, parts any) (sum int64) {
	s := summed{
		session: string(m.SessionID), space: string(m.SpaceID), id: string(m.ID), entity: string(m.EntityID), status: string(m.Status),
		mentions: orEmpty(mentions), dropped: orEmpty(encodeIDs(m.DroppedMentions)), part: orEmpty(part), text: orEmpty(text), parts: orEmpty(parts),
		seq: m.Seq, created: m.CreatedAt.UnixMicro(), updated: m.UpdatedAt.UnixMicro(),
		behalf: orEmpty(behalf), deleted: microOrZero(m.DeletedAt), edited: microOrZero(m.EditedAt),
	}
	if m.ReplyTo != nil {
		s.replyTo = string(*m.ReplyTo)
	}
	if m.RunID != nil {
		s.run = string(*m.RunID)
	}
	c.summed, sum = s.sum(c.summed)
	return sum
}

// microOrZero returns a time in the form of its column; NULL is 0.
func microOrZero(at *shoal.Time) int64 {
	if at == nil {
		return 0
	}
	return at.UnixMicro()
}

// orEmpty is the text of a column, empty for NULL.
func orEmpty(column any) string {
	switch v := column.(type) {
	case string:
		return v
	case shoal.PartID:
		return string(v)
	}
	return ""
}

// verify holds a message that was read against its sum, which stands in column i.
func (r *rows) verify(i int, s *summed) {
	if r.null(i) {
		return
	}
	var sum int64
	if r.c.summed, sum = s.sum(r.c.summed); sum == r.int(i) || r.c.failed != nil {
		return
	}
	r.c.failed = &failure{faultWrong, &shoal.Error{
		Op: "sqlstore", Kind: shoal.Internal, Msg: "The server's database is damaged: a message in it is not what was stored. Whoever runs the server must restore a backup.",
		Err: fmt.Errorf("message %d of space %q in session %q has another sum than when it was stored, in: %s", s.seq, s.space, s.session, r.query),
	}}
}
