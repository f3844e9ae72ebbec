package inboxtest

import (
	"encoding/json"
	"fmt"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// check compares an inbox with the model.
func (u *course) check(when string, id shoal.EntityID) {
	u.Helper()
	for _, f := range []storage.InboxFilter{{Kind: shoal.WaitMessages}, {Kind: shoal.WaitMentions}, u.filter()} {
		limit := 1 + u.rng.IntN(1000)
		got := readInbox(u.Case, id, f, limit)
		storecase.Equal(u.Case, fmt.Sprintf("%s: what is unread for %s with %+v", when, id, f), got, u.unread(id, f, limit))
	}
	counts := storecase.Read(u.Case, func(tx storage.Tx) (map[shoal.SpaceID]storage.Unread, error) {
		return tx.Counts(u.Session, id, u.names)
	})
	for _, space := range u.names {
		storecase.Equal(u.Case, fmt.Sprintf("%s: the counts of %s in %s", when, id, space), counts[space], u.counts(id, space))
	}
}

func readInbox(c *storecase.Case, id shoal.EntityID, f storage.InboxFilter, limit int) (all []shown) {
	c.Helper()
	for _, e := range storecase.Read(c, func(tx storage.Tx) ([]storage.InboxEntry, error) { return tx.Unread(c.Session, id, f, limit) }) {
		all = append(all, shown{e.Place, e.Reason, e.Delivery, e.Message.ID})
	}
	return all
}

// checkCopy exports the session, imports it as another one, in both editions of an export,
// and compares the inboxes of the copies with the model.
func (u *course) checkCopy() {
	for _, first := range []bool{false, true} {
		copied := &storecase.Case{T: u.T, Store: u.Store, Session: u.Session + "-new"}
		if first {
			copied.Session = u.Session + "-old"
		}
		u.Update(func(tx storage.Tx) error { return u.copyTo(tx, copied.Session, first) })
		for _, id := range u.entities {
			f := storage.InboxFilter{Kind: shoal.WaitMessages}
			got, want := readInbox(copied, id, f, 1000), u.unread(id, f, 1000)
			if first { // places are new, and those of messages
				inAnyOrder(got)
				inAnyOrder(want)
			}
			storecase.Equal(u.Case, fmt.Sprintf("what is unread for %s in the copy, first edition %v", id, first), got, want)
			counts := storecase.Read(copied, func(tx storage.Tx) (map[shoal.SpaceID]storage.Unread, error) {
				return tx.Counts(copied.Session, id, u.names)
			})
			for _, space := range u.names {
				storecase.Equal(u.Case, fmt.Sprintf("the counts of %s in %s in the copy, first edition %v", id, space, first), counts[space], u.counts(id, space))
			}
		}
	}
}

// inAnyOrder removes the places and sorts by message.
func inAnyOrder(all []shown) {
	for i := range all {
		all[i].Place = 0
	}
	sortByMessage(all)
}

// copyTo imports the records of the session into another one. Records of the first edition
// have no positions; they list what is unread.
func (u *course) copyTo(tx storage.Tx, to shoal.SessionID, first bool) error {
	if err := tx.BeginImport(to, "token", storecase.Time(1)); err != nil {
		return err
	}
	for _, of := range storage.RecordTypes[1:] {
		var lines [][]byte
		if err := tx.EachRecord(u.Session, of, func(values []any) error {
			line, err := of.Append(nil, values)
			lines = append(lines, line)
			return err
		}); err != nil {
			return err
		}
		if first {
			lines = u.firstEdition(of, lines)
		}
		for _, line := range lines {
			values, err := of.Parse(line)
			if err != nil {
				return err
			}
			if err := tx.InsertRecord(to, of, values); err != nil {
				return err
			}
		}
	}
	return tx.EndImport(to, "token", shoal.Session{ID: to, Name: "copy", Status: shoal.SessionStatusOpen, CreatedAt: storecase.Time(1)})
}

// firstEdition returns the lines of a type as the first edition exported them.
func (u *course) firstEdition(of *storage.RecordType, lines [][]byte) (out [][]byte) {
	since := map[string][]string{"message": {"arrival", "place"}, "member": {"readUpto", "pausedAt"}}
	switch of.Name {
	case "readRange":
		return nil
	case "inbox":
		for _, id := range u.entities {
			out = append(out, fmt.Appendf(nil, `{"type":"inbox","entityId":%q,"lastPlace":%d}`, id, u.place))
		}
		return out
	case "inboxEntry":
		for _, id := range u.entities {
			for _, e := range u.inboxes[id] {
				out = append(out, fmt.Appendf(nil, `{"type":"inboxEntry","entityId":%q,"place":%d,"spaceId":%q,"seq":%d,"reason":%q,"delivery":%d}`,
					id, e.place, e.message.SpaceID, e.message.Seq, e.reason, e.delivery))
			}
		}
		return out
	}
	for _, line := range lines {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			u.Fatal(err)
		}
		for _, name := range since[of.Name] {
			delete(fields, name)
		}
		delete(fields, "type") // which is the first one
		rest, err := json.Marshal(fields)
		if err != nil {
			u.Fatal(err)
		}
		out = append(out, fmt.Appendf(nil, `{"type":%q,%s`, of.Name, rest[1:]))
	}
	return out
}
