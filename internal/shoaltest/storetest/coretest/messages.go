package coretest

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// timeline returns the texts of a page.
func timeline(c *storecase.Case, space shoal.SpaceID, page storage.Page) []string {
	c.Helper()
	texts := []string{}
	for _, m := range storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) { return tx.Messages(c.Session, space, page) }) {
		texts = append(texts, m.Text())
	}
	return texts
}

// everyCharacter is all of Unicode except the NUL character, which texts cannot contain.
func everyCharacter() string {
	var b strings.Builder
	for r := rune(1); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

var messageTests = map[string]func(*storecase.Case){
	"every field is read as it was stored": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		full := shoal.Message{
			ID: "msg_1", SessionID: c.Session, SpaceID: "shop", Seq: 1, EntityID: "ann", RunID: storecase.Ptr(shoal.RunID("run_1")),
			Status: shoal.MessageStreaming, Mentions: []shoal.EntityID{"bob", "ann"}, DroppedMentions: []shoal.EntityID{"cid"}, OnBehalfOf: []shoal.EntityID{"ann", storecase.Hostile}, Reactions: []shoal.Reaction{},
			ReplyTo:   storecase.Ptr(shoal.MessageID("msg_0")),
			CreatedAt: storecase.Time(11), UpdatedAt: storecase.Time(12),
			Parts: []shoal.Part{
				{ID: "p1", Type: shoal.TextPart, Text: "<b>\"\\\u2028", Status: shoal.PartInterrupted},
				{ID: "p2", Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", Size: 1 << 40, URL: "https://x.example/a?b&c"},
				{ID: "p3", Type: shoal.DataPart, Name: "chart", Data: []byte(`{"a":[1,2.50,1e9,null,"<ü>"]}`)},
			},
		}
		plain := full
		plain.ID, plain.Seq, plain.RunID, plain.Status = "msg_2", 2, nil, shoal.MessageCompleted
		plain.Mentions, plain.DroppedMentions = []shoal.EntityID{}, []shoal.EntityID{}
		plain.Parts = []shoal.Part{{ID: "p1", Type: shoal.TextPart, Text: "plain", Status: shoal.PartDone}}
		bare := plain
		bare.ID, bare.Seq, bare.Parts = "msg_3", 3, []shoal.Part{}
		c.Update(func(tx storage.Tx) error {
			return errors.Join(tx.InsertMessage(full, storage.PostKey{}), tx.InsertMessage(plain, storage.PostKey{}), tx.InsertMessage(bare, storage.PostKey{}))
		})
		storecase.Equal(c, "the timeline", storecase.Read(c, func(tx storage.Tx) ([]shoal.Message, error) {
			return tx.Messages(c.Session, "shop", storage.Page{Limit: 10})
		}), []shoal.Message{full, plain, bare})
	},

	"texts are read byte for byte": func(c *storecase.Case) {
		c.AddSpace("shop")
		texts := []string{
			"line\r\nline\rline\nline\t\x01\x1f\x7f", "é is not e\u0301", "👩‍👩‍👧‍👦 🏳️‍🌈", "\U0010FFFF\uFFFE\uFDD0", " \u00a0 ", "'; DROP TABLE messages; --",
			`\x00 \u0000 $1 ? %s`, strings.Repeat("x", 256<<10), strings.Repeat("\U0001F41F", 64<<10), everyCharacter(),
		}
		for _, text := range texts {
			c.Say("shop", "ann", text)
		}
		for i, got := range timeline(c, "shop", storage.Page{Limit: 100}) {
			if got != texts[i] {
				c.Errorf("text %d of %d bytes came back with %d: %.60q instead of %.60q", i, len(texts[i]), len(got), got, texts[i])
			}
		}
	},

	"a page is the newest, the last before or the first after a seq, always ascending": func(c *storecase.Case) {
		c.AddSpace("shop")
		c.AddSpace("yard")
		for i := range 10 {
			c.Say("shop", "ann", fmt.Sprint(i+1))
			c.Say("yard", "ann", "elsewhere")
		}
		for _, p := range []struct {
			page storage.Page
			want []string
		}{
			{storage.Page{Limit: 3}, []string{"8", "9", "10"}},
			{storage.Page{Limit: 99}, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}},
			{storage.Page{Before: 8, Limit: 3}, []string{"5", "6", "7"}},
			{storage.Page{Before: 2, Limit: 3}, []string{"1"}},
			{storage.Page{Before: 1, Limit: 3}, []string{}},
			{storage.Page{After: 3, Limit: 3}, []string{"4", "5", "6"}},
			{storage.Page{After: 9, Limit: 3}, []string{"10"}},
			{storage.Page{After: 10, Limit: 3}, []string{}},
		} {
			storecase.Equal(c, fmt.Sprintf("the page %+v", p.page), timeline(c, "shop", p.page), p.want)
		}
		storecase.Equal(c, "the timeline of no space", timeline(c, "nowhere", storage.Page{Limit: 3}), []string{})
	},

	"the seq of a message must follow the last one of its space and becomes the last": func(c *storecase.Case) {
		c.AddSpace("shop")
		c.Say("shop", "ann", "one")
		s := storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, "shop") })
		storecase.Equal(c, "the last place", s.LastSeq, 1)
		m := c.NewMessage("shop", "ann", "two")
		for _, seq := range []int64{0, 1, 3} {
			m.Seq = seq
			err := c.Store.Update(c.Context(), storage.Global, func(tx storage.Tx) error { return tx.InsertMessage(m, storage.PostKey{}) })
			if err == nil {
				c.Errorf("a message at seq %d after 1 was stored", seq)
			}
		}
		c.WantError(shoal.AlreadyExists, func(tx storage.Tx) error { m.Seq = 1; return tx.InsertMessage(m, storage.PostKey{}) })
		storecase.Equal(c, "the timeline", timeline(c, "shop", storage.Page{Limit: 9}), []string{"one"})
		storecase.Equal(c, "the last place", storecase.Read(c, func(tx storage.Tx) (shoal.Space, error) { return tx.Space(c.Session, "shop") }).LastSeq, 1)
	},

	"a message is found by its idempotency key": func(c *storecase.Case) {
		c.AddSpace("shop")
		m := c.NewMessage("shop", "ann", "one")
		m.Seq = 1
		key := storage.PostKey{Scope: "entity:ann", Key: "k1", Hash: "h1"}
		c.Update(func(tx storage.Tx) error { return tx.InsertMessage(m, key) })
		var hash string
		got := storecase.Read(c, func(tx storage.Tx) (found shoal.Message, err error) {
			found, hash, err = tx.MessageByKey(c.Session, "entity:ann", "k1")
			return found, err
		})
		storecase.Equal(c, "the message", got, m)
		storecase.Equal(c, "the hash", hash, "h1")
		for _, other := range []struct {
			session    shoal.SessionID
			scope, key string
		}{{c.Session, "entity:ann", "k2"}, {c.Session, "entity:bob", "k1"}, {"nowhere", "entity:ann", "k1"}} {
			c.WantNotFound(func(tx storage.Tx) error {
				_, _, err := tx.MessageByKey(other.session, other.scope, other.key)
				return err
			})
		}
		again := m
		again.Seq = 2
		c.Update(func(tx storage.Tx) error {
			if err := tx.InsertMessage(again, key); !errors.Is(err, shoal.AlreadyExists) {
				return fmt.Errorf("the same key again: %w", err)
			}
			return tx.InsertMessage(again, storage.PostKey{Scope: "entity:bob", Key: "k1", Hash: "h1"})
		})
		storecase.Equal(c, "the timeline", timeline(c, "shop", storage.Page{Limit: 9}), []string{"one", "one"})
	},
}
