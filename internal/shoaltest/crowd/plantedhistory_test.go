package crowd

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

// denMessage returns the message with a seq in the space "den": the post with the key
// kSEQ, which mentions bea.
func denMessage(seq int64) Seen {
	return See(shoal.Message{
		ID: shoal.MessageID(fmt.Sprintf("msg_%d", seq)), SpaceID: "den", Seq: seq, EntityID: "ann", Status: shoal.MessageCompleted,
		Mentions: []shoal.EntityID{"bea"}, DroppedMentions: []shoal.EntityID{},
		Parts: []shoal.Part{shoal.Text(fmt.Sprintf("k%d hello", seq))},
	})
}

func batch(life, ack int, sent time.Duration, number int, seqs ...int64) wait {
	w := wait{life: life, ack: ack, sent: sent, answered: true}
	for _, seq := range seqs {
		w.batch = append(w.batch, delivered{denMessage(seq), number})
	}
	return w
}

func lostWait(life, ack int, sent time.Duration) wait {
	return wait{life: life, ack: ack, sent: sent}
}

// soundHistory returns a history without a fault: four posts, of which k3 got no response
// at first, over two lives of the server.
func soundHistory() *history {
	h := &history{timeline: map[shoal.SpaceID][]Seen{}, final: true}
	for seq := int64(1); seq <= 4; seq++ {
		m, sent := denMessage(seq), time.Duration(seq)*10
		h.timeline["den"] = append(h.timeline["den"], m)
		h.posts = append(h.posts, &Post{
			Key: fmt.Sprintf("k%d", seq), sender: "ann", Space: "den", Text: m.Text(), Mentions: m.Mentions,
			Sent: sent, Acked: sent + 5, answers: []Seen{m},
		})
	}
	h.posts[2].Acked = 100
	h.posts = append(h.posts, &Post{Key: "k9", sender: "ann", Space: "den", Text: "k9 never stored", Sent: 60, abandoned: true})
	h.inboxes = []*Inbox{
		{owner: "bea", kind: shoal.WaitMentions, spaces: []shoal.SpaceID{"den"}, waits: []wait{
			batch(1, -1, 11, 1, 1, 2),
			lostWait(1, 0, 30),
			batch(2, -1, 40, 1, 1, 2, 3), // the lost wait had acknowledged nothing, the delivery count of wait 0 was lost
			batch(2, 2, 50, 1, 4),
			batch(2, -1, 60, 2, 4),
			batch(2, 4, 110, 0),
		}},
		{owner: "bea", kind: shoal.WaitMessages, spaces: []shoal.SpaceID{"den"}, Implicit: true, waits: []wait{
			batch(1, -1, 11, 1, 1, 2),
			batch(1, -1, 20, 1, 3),
			batch(2, -1, 30, 2, 3),
			lostWait(2, -1, 35),
			batch(3, -1, 40, 2, 4), // the lost wait had acknowledged 3
			batch(3, -1, 110, 0),
		}},
	}
	h.streams = []*Stream{{Name: "reader", spaces: []shoal.SpaceID{"den"}, events: []event{
		{space: "den", snapshot: true, lastSeq: 1, messages: []Seen{denMessage(1)}},
		{space: "den", messages: []Seen{denMessage(2)}},
		{space: "den", messages: []Seen{denMessage(3)}},
		{space: "den", snapshot: true, lastSeq: 3, messages: []Seen{denMessage(1), denMessage(2), denMessage(3)}},
		{space: "den", messages: []Seen{denMessage(4)}},
	}}}
	return h
}

func TestCheckAcceptsASoundHistory(t *testing.T) {
	for _, fault := range check(*soundHistory()) {
		t.Error(fault)
	}
}

// A delivery may be counted late when the database was out of reach, once for each wait
// without a response.
func TestCheckAcceptsLateCounts(t *testing.T) {
	for number, legal := range map[int]bool{2: true, 3: true, 4: false} {
		h := soundHistory()
		h.uncounted = true
		h.inboxes[0].waits[4] = batch(2, -1, 60, number, 4) // delivered once before; one wait had no response
		if faults := check(*h); (len(faults) == 0) != legal {
			t.Errorf("delivery %d: got faults %q, want legal %v", number, faults, legal)
		}
	}
}

// Two servers that deliver a message before either has counted it give it one number; the next
// delivery has that of all three.
func TestCheckAcceptsCountsOfSeveralServers(t *testing.T) {
	for number, legal := range map[int]bool{1: true, 2: true, 3: true, 4: false} {
		h := soundHistory()
		h.uncounted = true
		h.inboxes[0].waits[4] = batch(2, -1, 60, 1, 4)
		h.inboxes[0].waits[5] = batch(2, -1, 70, number, 4)
		h.inboxes[0].waits = append(h.inboxes[0].waits, batch(2, 5, 110, 0))
		h.inboxes[0].waits = slices.Delete(h.inboxes[0].waits, 1, 2)
		h.inboxes[0].waits[0] = batch(2, -1, 11, 1, 1, 2)
		for i := 1; i < len(h.inboxes[0].waits); i++ {
			if w := &h.inboxes[0].waits[i]; w.ack > 0 {
				w.ack--
			}
		}
		if faults := check(*h); (len(faults) == 0) != legal {
			t.Errorf("delivery %d: got faults %q, want legal %v", number, faults, legal)
		}
	}
}

// The checker finds every kind of fault, planted into a correct history.
func TestCheckFindsPlantedFaults(t *testing.T) {
	den := func(h *history) []Seen { return h.timeline["den"] }
	explicit := func(h *history, i int) *wait { return &h.inboxes[0].waits[i] }
	implicit := func(h *history, i int) *wait { return &h.inboxes[1].waits[i] }
	events := func(h *history) *[]event { return &h.streams[0].events }
	for _, c := range []struct {
		planted string
		plant   func(h *history)
		want    string
	}{
		{"an acknowledged message is not stored", func(h *history) { h.timeline["den"] = den(h)[:3] }, "lost: k4"},
		{"a delivered message is not stored", func(h *history) {
			h.timeline["den"] = den(h)[:3]
			h.posts[3].answers, h.posts[3].Acked = nil, 0
		}, "lost: bea received msg_4"},
		{"a streamed message is not stored", func(h *history) {
			h.timeline["den"] = den(h)[:3]
			h.posts[3].answers, h.posts[3].Acked = nil, 0
		}, "lost: reader received msg_4"},
		{"a retry stored the message again", func(h *history) {
			again := denMessage(3)
			again.ID, again.Seq = "msg_5", 5
			h.timeline["den"] = append(den(h), See(again.Message))
		}, "doubled: k3"},
		{"two messages have one id", func(h *history) {
			again := denMessage(4)
			again.Seq = 5
			h.timeline["den"] = append(den(h), See(again.Message))
		}, "doubled: two messages have the id msg_4"},
		{"a retry returns another id", func(h *history) {
			other := denMessage(3)
			other.ID = "msg_7"
			h.posts[2].answers = append(h.posts[2].answers, See(other.Message))
		}, "two ids: k3"},
		{"a stored text differs from what was sent", func(h *history) { h.posts[0].Text += "!" }, "changed: k1"},
		{"a stored message differs from its response", func(h *history) {
			other := denMessage(1)
			other.UpdatedAt = shoal.At(time.Unix(1, 0))
			h.posts[0].answers[0] = See(other.Message)
		}, "changed: k1"},
		{"a mention was dropped", func(h *history) { h.posts[0].Mentions = []shoal.EntityID{"bea", "cid"} }, "changed: k1"},
		{"no client sent a message", func(h *history) { h.posts = slices.Delete(h.posts, 1, 2) }, "foreign: no client sent msg_2"},
		{"a seq is missing", func(h *history) { h.timeline["den"] = slices.Delete(den(h), 1, 2) }, "gap: den"},
		{"a seq is given twice", func(h *history) { den(h)[2].Seq = 2 }, "gap: den"},
		{"an earlier message comes after a later one", func(h *history) {
			h.posts[3].Sent, h.posts[3].Acked = 1, 2
		}, "reordered: in den k4 was acknowledged before k3 was sent"},
		{"a retry that never resolved", func(h *history) { h.posts[4].abandoned = false }, "unresolved: the outcome of k9"},

		{"a message is delivered again after its acknowledgement", func(h *history) {
			*explicit(h, 5) = batch(2, 4, 110, 3, 4)
		}, "redelivered after ack: bea got msg_4"},
		{"an acknowledgement is lost in the crash", func(h *history) {
			*explicit(h, 4) = batch(3, -1, 60, 2, 1, 2, 3, 4)
		}, "redelivered after ack: bea got msg_1"},
		{"an implicit acknowledgement is lost", func(h *history) {
			*implicit(h, 2) = batch(2, -1, 30, 2, 1, 2, 3)
		}, "redelivered after ack: bea got msg_1"},
		{"an unacknowledged message is not delivered again", func(h *history) {
			*explicit(h, 4) = batch(2, -1, 60, 0)
		}, "not redelivered: bea got msg_4"},
		{"a delivery counts as an acknowledgement", func(h *history) {
			*implicit(h, 2) = batch(2, -1, 30, 0)
		}, "not redelivered: bea got msg_3"},
		{"an acknowledgement is stored partially", func(h *history) {
			*explicit(h, 2) = batch(2, -1, 40, 2, 2, 3)
		}, "acknowledged in part"},
		{"a mention is never delivered", func(h *history) {
			h.inboxes[0].waits = h.inboxes[0].waits[:3]
		}, "not delivered: bea never got msg_4"},
		{"a wait sleeps although an earlier message is unread", func(h *history) {
			*explicit(h, 3) = batch(2, 2, 50, 0)
		}, "not delivered: wait 3 of bea returned nothing"},
		{"a wait sleeps although a message arrives", func(h *history) {
			w := explicit(h, 3)
			*w = batch(2, 2, 42, 0)
			w.ended = 45 + 2*WakeLimit
		}, "not delivered: wait 3 of bea returned nothing"},
		{"a message overtakes another in the inbox", func(h *history) {
			*explicit(h, 0) = batch(1, -1, 11, 1, 2, 1)
		}, "inbox moved back"},
		{"a delivery number falls", func(h *history) {
			*implicit(h, 2) = batch(2, -1, 30, 0, 3)
		}, "delivery number: bea got msg_3"},
		{"a delivery number does not rise within a life", func(h *history) {
			*explicit(h, 4) = batch(2, -1, 60, 1, 4)
		}, "delivery number: bea got msg_4"},
		{"a delivery number jumps", func(h *history) {
			*explicit(h, 4) = batch(2, -1, 60, 5, 4)
		}, "delivery number: bea got msg_4"},
		{"a first delivery has another number", func(h *history) {
			*explicit(h, 0) = batch(1, -1, 11, 2, 1, 2)
		}, "delivery number: bea got msg_1 for the first time"},
		{"a waiter gets a message that is not for it", func(h *history) { h.inboxes[0].owner = "cid" }, "foreign: cid got msg_1"},

		{"a stream omits a message", func(h *history) { *events(h) = slices.Delete(*events(h), 1, 2) }, "stream gap: reader got seq 3"},
		{"a stream repeats a message", func(h *history) {
			*events(h) = slices.Insert(*events(h), 2, (*events(h))[1])
		}, "stream twice: reader got seq 2"},
		{"a snapshot moves back", func(h *history) {
			(*events(h))[3] = event{space: "den", snapshot: true, lastSeq: 2, messages: []Seen{denMessage(1), denMessage(2)}}
		}, "stream moved back"},
		{"a snapshot has a hole", func(h *history) {
			(*events(h))[3].messages = []Seen{denMessage(1), denMessage(3), denMessage(3)}
		}, "stream gap: reader got a snapshot"},
		{"a snapshot is short", func(h *history) { (*events(h))[3].messages = nil }, "stream gap: reader got a snapshot"},
		{"a stream begins without a snapshot", func(h *history) { *events(h) = (*events(h))[1:] }, "stream: reader got seq 2"},
		{"a stream ends too early", func(h *history) { *events(h) = (*events(h))[:4] }, "stream gap: reader ended at seq 3"},
	} {
		t.Run(c.planted, func(t *testing.T) {
			h := soundHistory()
			c.plant(h)
			faults := check(*h)
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, c.want) }) {
				t.Errorf("got faults %q, want one that starts with %q", faults, c.want)
			}
		})
	}
}
