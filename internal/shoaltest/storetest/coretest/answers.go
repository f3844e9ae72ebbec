package coretest

import (
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

var answerTests = map[string]func(*storecase.Case){
	"an answer is read as it was stored, until it is replaced or dropped": func(c *storecase.Case) {
		key := storage.AnswerKey{Session: c.Session, Scope: "s", Route: "r", Key: "k"}
		first := storage.Answer{Hash: "h1", Body: []byte("\x00\xff{}"), At: storecase.Time(1)}
		second := storage.Answer{Hash: "h2", Body: []byte("{}"), At: storecase.Time(5)}
		get := func() storage.Answer {
			return storecase.Read(c, func(tx storage.Tx) (storage.Answer, error) { return tx.Answer(key) })
		}
		c.Update(func(tx storage.Tx) error { return tx.InsertAnswer(key, first) })
		storecase.Equal(c, "the first answer", get(), first)
		c.Update(func(tx storage.Tx) error { return tx.InsertAnswer(key, second) })
		storecase.Equal(c, "the second answer", get(), second)
		for _, change := range []func(*storage.AnswerKey){
			func(k *storage.AnswerKey) { k.Session = "x" },
			func(k *storage.AnswerKey) { k.Scope = "x" },
			func(k *storage.AnswerKey) { k.Route = "x" },
			func(k *storage.AnswerKey) { k.Key = "x" },
		} {
			other := key
			change(&other)
			c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Answer(other); return err })
		}
		c.Update(func(tx storage.Tx) error { return tx.DropAnswers(storecase.Time(5).Time) })
		get()
		c.Update(func(tx storage.Tx) error { return tx.DropAnswers(storecase.Time(5).Add(time.Microsecond)) })
		c.WantNotFound(func(tx storage.Tx) error { _, err := tx.Answer(key); return err })
		c.Update(func(tx storage.Tx) error {
			return tx.InsertAnswer(key, storage.Answer{Hash: "h3", At: storecase.Time(6)})
		})
		storecase.Equal(c, "the length of an empty one", len(get().Body), 0)
	},
}
