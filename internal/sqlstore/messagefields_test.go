package sqlstore_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// messageFields is the operation that stores each field of a message. A new field is added
// here, to the columns and the checksum of a message (package messagerow), to the statements
// of package coresql, and to the record "message" of exports (archivesql/tables.go,
// internal/hub/storage/records.go).
var messageFields = map[string]string{
	"ID": "insert", "SessionID": "insert", "SpaceID": "insert", "Seq": "insert", "EntityID": "insert", "RunID": "insert", "Status": "insert",
	"Mentions": "insert", "DroppedMentions": "insert", "CreatedAt": "insert", "UpdatedAt": "insert", "Parts": "insert", "OnBehalfOf": "insert", "ReplyTo": "insert",
	"Reactions": "react", "EditedAt": "edit", "DeletedAt": "erase",
	// They are in the result of a post and not stored.
	"SkippedAgents": "", "Reach": "", "Runs": "",
}

// A message is read with every field that it was stored with, and exported with every field
// that is stored.
func TestEveryFieldOfAMessageIsStored(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[shoal.Message]())
	for _, f := range fields {
		if _, ok := messageFields[f.Name]; !ok {
			t.Errorf("Message.%s is new: add it to messageFields and to the places that its comment names", f.Name)
		}
	}
	for _, of := range storage.RecordTypes {
		if of.Name != "message" {
			continue
		}
		for _, f := range fields {
			name := f.Tag.Get("json")
			exported := slices.ContainsFunc(of.Fields, func(r storage.RecordField) bool { return r.Name == name })
			if stored := messageFields[f.Name] != "" && f.Name != "SessionID"; stored && !exported {
				t.Errorf("Message.%s is stored but not exported: add it to the record %q", f.Name, of.Name)
			}
		}
	}
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		settle(t, s)
		now, run, target := shoal.Now(), shoal.RunID("run_1"), shoal.MessageID("msg_0")
		whole := shoal.Message{
			ID: "msg_1", SessionID: "default", SpaceID: "shop", Seq: 1, EntityID: "ann", RunID: &run, Status: shoal.MessageFailed,
			Mentions: []shoal.EntityID{"bob"}, DroppedMentions: []shoal.EntityID{"cid"}, CreatedAt: now, UpdatedAt: now,
			Parts:      []shoal.Part{{ID: "prt_1", Type: shoal.TextPart, Text: "tea", Status: shoal.PartDone}},
			OnBehalfOf: []shoal.EntityID{"ann"}, ReplyTo: &target,
		}
		posted := whole
		posted.ID, posted.Seq, posted.RunID, posted.Status = "msg_2", 2, nil, shoal.MessageCompleted
		update(t, s, func(tx storage.Tx) error { return tx.InsertMessage(whole, storage.PostKey{}) })
		update(t, s, func(tx storage.Tx) error { return tx.InsertMessage(posted, storage.PostKey{}) })
		read := func(id shoal.MessageID) (m shoal.Message) {
			t.Helper()
			if err := s.View(t.Context(), func(tx storage.Tx) (err error) { m, err = tx.MessageByID("default", id); return err }); err != nil {
				t.Fatal(err)
			}
			return m
		}
		check := func(m shoal.Message, by string) {
			t.Helper()
			for name, stored := range messageFields {
				if stored == by && reflect.ValueOf(m).FieldByName(name).IsZero() {
					t.Errorf("after %s, Message.%s is empty", by, name)
				}
			}
		}
		check(read("msg_1"), "insert")
		update(t, s, func(tx storage.Tx) error {
			return tx.SetReactions("default", "msg_2", []shoal.Reaction{{Emoji: "👍", EntityIDs: []shoal.EntityID{"bob"}}})
		})
		check(read("msg_2"), "react")
		posted.EditedAt = &now
		update(t, s, func(tx storage.Tx) error { return tx.EditMessage(posted) })
		check(read("msg_2"), "edit")
		update(t, s, func(tx storage.Tx) error { return tx.EraseMessage("default", "msg_2", now) })
		check(read("msg_2"), "erase")
	})
}
