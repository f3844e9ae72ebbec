package coretest

import (
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/storetest/storecase"
)

// mention returns what became of the mention of bob in a message.
func mention(c *storecase.Case, m shoal.Message) storage.Mention {
	c.Helper()
	found := storecase.Do(c, func(tx storage.Tx) ([]storage.Mention, error) {
		return tx.Mentions(c.Session, m.SpaceID, m.Seq, []shoal.EntityID{"bob", "nobody"})
	})
	if len(found) != 1 || found[0].EntityID != "bob" {
		c.Fatalf("the mentions of bob in message %d are %+v, want one", m.Seq, found)
	}
	return found[0]
}

// answers posts m and returns the messages whose mentions it answers.
func answers(c *storecase.Case, m shoal.Message, delivered ...int64) (shoal.Message, []int64) {
	c.Helper()
	m = c.Post(m)
	return m, storecase.Do(c, func(tx storage.Tx) ([]int64, error) { return tx.AnswerMentions(m, delivered) })
}

func acknowledgeKnown(c *storecase.Case, entity shoal.EntityID, upTo int64, known ...storage.DeliveredEntry) storage.Acknowledged {
	c.Helper()
	return storecase.Do(c, func(tx storage.Tx) (storage.Acknowledged, error) {
		return tx.Acknowledge(c.Session, entity, storage.InboxFilter{Kind: shoal.WaitMentions}, upTo, known)
	})
}

var receiptTests = map[string]func(*storecase.Case){
	"a mention of an agent is delivered, resumed and answered, each once": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		m := c.Say("shop", "ann", "hi", "bob")
		storecase.Equal(c, "a new mention", mention(c, m), storage.Mention{EntityID: "bob"})

		first := storage.DeliveredEntry{Place: 1, At: storecase.Time(3), Via: shoal.ViaWait}
		later := storage.DeliveredEntry{Place: 1, At: storecase.Time(4), Via: "elsewhere"}
		for _, d := range []storage.DeliveredEntry{first, later} {
			c.Update(func(tx storage.Tx) error {
				return tx.MarkDelivered(c.Session, "bob", []storage.DeliveredEntry{d})
			})
		}
		storecase.Equal(c, "a delivered mention", mention(c, m), storage.Mention{EntityID: "bob", DeliveredAt: &first.At, Via: shoal.ViaWait})

		done := acknowledgeKnown(c, "bob", 1)
		storecase.Equal(c, "what was acknowledged", done.Mentions, []storage.MessagePosition{{Space: "shop", Seq: 1}})
		got := mention(c, m)
		if got.ResumedAt == nil || time.Since(got.ResumedAt.Time) > time.Minute || !got.DeliveredAt.Equal(first.At.Time) {
			c.Errorf("the acknowledged mention is %+v", got)
		}

		answer, answered := answers(c, c.NewMessage("shop", "bob", "hello", "ann"))
		storecase.Equal(c, "what is answered", answered, []int64{1})
		got = mention(c, m)
		if got.AnsweredBy != answer.ID || got.AnsweredAt == nil || !got.AnsweredAt.Equal(answer.CreatedAt.Time) {
			c.Errorf("the answered mention is %+v", got)
		}
		_, answered = answers(c, c.NewMessage("shop", "bob", "and", "ann"))
		storecase.Equal(c, "what a second message answers", answered, []int64(nil))
	},

	"an acknowledgment stores a delivery that is not stored yet": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		known, unknown := c.Say("shop", "ann", "1", "bob"), c.Say("shop", "ann", "2", "bob")
		acknowledgeKnown(c, "bob", 2, storage.DeliveredEntry{Place: 1, At: storecase.Time(3), Via: shoal.ViaWait})
		if got := mention(c, known); !got.DeliveredAt.Equal(storecase.Time(3).Time) || got.Via != shoal.ViaWait {
			c.Errorf("the mention with a known delivery is %+v", got)
		}
		if got := mention(c, unknown); got.DeliveredAt == nil || !got.DeliveredAt.Equal(got.ResumedAt.Time) {
			c.Errorf("the mention with an unknown delivery is %+v, want one that was delivered when it was resumed", got)
		}
	},

	"a message answers only what its sender has received": func(c *storecase.Case) {
		c.AddEntities("ann", "bob", "cid")
		c.AddSpace("shop", "ann", "bob", "cid")
		c.AddSpace("yard", "ann", "bob")
		received, missed := c.Say("shop", "ann", "1", "bob"), c.Say("shop", "ann", "2", "bob")
		other, elsewhere := c.Say("shop", "cid", "3", "bob"), c.Say("yard", "ann", "4", "bob")
		deliver(c, 1, 3, 4)
		answer, answered := answers(c, c.NewMessage("shop", "bob", "to ann", "ann"))
		storecase.Equal(c, "what is answered", answered, []int64{received.Seq})
		for _, m := range []shoal.Message{missed, other, elsewhere} {
			if got := mention(c, m); got.AnsweredBy != "" {
				c.Errorf("message %d of %s is answered by %s", m.Seq, m.SpaceID, got.AnsweredBy)
			}
		}
		storecase.Equal(c, "the answer", mention(c, received).AnsweredBy, answer.ID)

		_, answered = answers(c, c.NewMessage("shop", "bob", "to ann again", "ann"), missed.Seq)
		storecase.Equal(c, "what is answered although its delivery is not stored", answered, []int64{missed.Seq})
	},

	"a reply answers its message": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		m := c.Say("shop", "ann", "read in the timeline", "bob")
		reply := c.NewMessage("shop", "bob", "yes")
		reply.ReplyTo = &m.ID
		_, answered := answers(c, reply)
		storecase.Equal(c, "what is answered", answered, []int64{m.Seq})
	},

	"an answer on another server counts, when the delivery is stored or acknowledged": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		stored, acked := c.Say("shop", "ann", "1", "bob"), c.Say("shop", "ann", "2", "bob")
		answer, answered := answers(c, c.NewMessage("shop", "bob", "hello", "ann"))
		storecase.Equal(c, "what is answered at once", answered, []int64(nil))
		early := storage.DeliveredEntry{Place: 1, At: storecase.Time(0), Via: shoal.ViaWait}
		c.Update(func(tx storage.Tx) error {
			return tx.MarkDelivered(c.Session, "bob", []storage.DeliveredEntry{early})
		})
		storecase.Equal(c, "the answer after the delivery", mention(c, stored).AnsweredBy, answer.ID)
		acknowledgeKnown(c, "bob", 2)
		storecase.Equal(c, "the answer after the acknowledgment", mention(c, acked).AnsweredBy, answer.ID)

		late := c.Say("shop", "ann", "3", "bob")
		answers(c, c.NewMessage("shop", "bob", "before it was delivered", "ann"))
		c.Update(func(tx storage.Tx) error {
			return tx.MarkDelivered(c.Session, "bob", []storage.DeliveredEntry{{Place: 4, At: storecase.Time(9), Via: shoal.ViaWait}})
		})
		storecase.Equal(c, "the answer of a mention that was delivered after it", mention(c, late).AnsweredBy, "")
	},

	"withdrawn mentions and system messages are not tracked": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		system := c.Say("shop", shoal.System, "2", "bob")
		deleted := c.Say("shop", "ann", "3", "bob")
		c.Update(func(tx storage.Tx) error { return tx.EraseMessage(c.Session, deleted.ID, storecase.Time(5)) })
		for _, m := range []shoal.Message{system, deleted} {
			found := storecase.Do(c, func(tx storage.Tx) ([]storage.Mention, error) {
				return tx.Mentions(c.Session, "shop", m.Seq, []shoal.EntityID{"bob"})
			})
			storecase.Equal(c, "the mentions in "+m.Text(), len(found), 0)
		}
	},

	"a message answers the newest mentions, so that its transaction is bounded": func(c *storecase.Case) {
		c.AddEntities("ann", "bob")
		c.AddSpace("shop", "ann", "bob")
		for range storage.MaxAnswered + 3 {
			c.Say("shop", "ann", "again", "bob")
		}
		acknowledge(c, "bob", storage.MaxAnswered+3)
		_, answered := answers(c, c.NewMessage("shop", "bob", "yes", "ann"))
		if len(answered) != storage.MaxAnswered || answered[0] != storage.MaxAnswered+3 {
			c.Errorf("%d mentions are answered, the first %v", len(answered), answered[:1])
		}
	},
}
