package messagerow

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/sqlstore/sqlconn"
)

// A disk sometimes returns other bytes than it was given, and a database in a file does not
// detect that. Therefore every message has a checksum over its row, and a row with a wrong
// checksum is not shown to anybody: the read fails because the database is damaged. Rows from
// before the checksums and rows of an import have none and are not verified.

// castagnoli is the CRC that processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksummed is the content of a row that its checksum covers; NULL is empty. Reactions are
// not covered: they change without the message.
type checksummed struct {
	session, space, id, entity, run, status, mentions, dropped, part, text, parts string

	seq, created, updated int64

	// These were added later: a message without any of them has its old checksum.
	behalf, replyTo string
	deleted, edited int64
}

// checksum writes the fields into buffer one after the other, each text after its length, and
// returns the buffer and the checksum over it.
func (s *checksummed) checksum(buffer []byte) ([]byte, int64) {
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

// Checksum returns the checksum of a message that is about to be stored with these columns.
func (c *Codec) Checksum(m *shoal.Message, mentions, behalf, part, text, parts any) (sum int64) {
	s := checksummed{
		session: string(m.SessionID), space: string(m.SpaceID), id: string(m.ID), entity: string(m.EntityID), status: string(m.Status),
		mentions: orEmpty(mentions), dropped: orEmpty(sqlconn.JoinIDs(m.DroppedMentions)), part: orEmpty(part), text: orEmpty(text), parts: orEmpty(parts),
		seq: m.Seq, created: m.CreatedAt.UnixMicro(), updated: m.UpdatedAt.UnixMicro(),
		behalf: orEmpty(behalf), deleted: microOrZero(m.DeletedAt), edited: microOrZero(m.EditedAt),
	}
	if m.ReplyTo != nil {
		s.replyTo = string(*m.ReplyTo)
	}
	if m.RunID != nil {
		s.run = string(*m.RunID)
	}
	c.buffer, sum = s.checksum(c.buffer)
	return sum
}

// microOrZero returns a time as its column contains it; 0 for NULL.
func microOrZero(at *shoal.Time) int64 {
	if at == nil {
		return 0
	}
	return at.UnixMicro()
}

// orEmpty returns the text of a column, empty for NULL.
func orEmpty(column any) string {
	switch v := column.(type) {
	case string:
		return v
	case shoal.PartID:
		return string(v)
	}
	return ""
}

// verify fails the transaction if the checksum in column i is not that of the row.
func (c *Codec) verify(r *sqlconn.Rows, i int, s *checksummed) {
	if r.Null(i) {
		return
	}
	var sum int64
	if c.buffer, sum = s.checksum(c.buffer); sum == r.Int(i) {
		return
	}
	r.FailDamaged("a message",
		fmt.Errorf("message %d of space %q in session %q has another checksum than when it was stored", s.seq, s.space, s.session))
}
