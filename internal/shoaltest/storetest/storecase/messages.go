package storecase

import (
	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Edit returns m with another text and mentions, edited at a time.
func Edit(m shoal.Message, text string, at int, mentions ...shoal.EntityID) shoal.Message {
	part := shoal.Text(text)
	part.ID, part.Status = "prt_1", shoal.PartDone
	m.Parts, m.Mentions = []shoal.Part{part}, append([]shoal.EntityID{}, mentions...)
	m.UpdatedAt, m.EditedAt = Time(at), Ptr(Time(at))
	return m
}

// InboxPlaces lists the positions of the unread entries.
func InboxPlaces(c *Case, entity shoal.EntityID, filter storage.InboxFilter) (all []int64) {
	c.Helper()
	for _, e := range Read(c, func(tx storage.Tx) ([]storage.InboxEntry, error) { return tx.Unread(c.Session, entity, filter, 1000) }) {
		all = append(all, e.Place)
	}
	return all
}

// EventFloor returns the position of the newest event that was removed.
func EventFloor(c *Case, filter storage.EventFilter) int64 {
	c.Helper()
	return Read(c, func(tx storage.Tx) (int64, error) { return tx.EventFloor(c.Session, filter) })
}
